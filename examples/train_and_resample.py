"""Trains a small network on simulated event recordings, then changes its bin size.

    KERAS_BACKEND=jax python examples/train_and_resample.py

Bars drift over a 32 x 32 sensor in one of four directions, slowly or fast; the network says which
of the eight it is, for every frame. It is trained at 10 ms bins only. Then the same recordings are
binned at 5, 10 and 20 ms, and the network is resampled to each, without fine-tuning.
"""

import time

import keras
import numpy as np

import keras_pleiades as kp

SIZE, SECONDS, BLUR = 32, 0.6, 1.5
SPEEDS = (20.0, 60.0)  # pixels a second
CLASSES = [f"{way} {pace}" for way in ("right", "down", "left", "up") for pace in ("slow", "fast")]


def record(label: int, rng: np.random.Generator) -> np.ndarray:
    """Return events (t, y, x, p) of a bar that drifts, as Poisson counts of its moving edges."""
    steps = np.arange(0, SECONDS, 1e-3)
    angle = (label // 2) * np.pi / 2 + rng.normal(0, 0.1)
    speed = SPEEDS[label % 2] * rng.uniform(0.85, 1.15)
    y, x = np.mgrid[:SIZE, :SIZE] - SIZE / 2
    along = x * np.cos(angle) + y * np.sin(angle)
    phase = along[None] - (steps * speed + rng.uniform(0, 16))[:, None, None]
    phase = (phase + 8) % 16 - 8  # bars are 16 pixels apart
    # The leading edge brightens and the trailing edge darkens, at a rate that grows with speed.
    edges = [np.exp(-((phase - side) ** 2) / BLUR) for side in (2.0, -2.0)]
    rate = np.stack(edges, -1) * 0.01 * speed / SPEEDS[0] + 2e-4  # events a pixel a millisecond
    t, y, x, p = np.nonzero(rng.random(rate.shape) < rate)
    return np.stack([t * 1000 + rng.integers(0, 1000, t.size), y, x, p], -1)


def count(events: np.ndarray, dt: int) -> np.ndarray:
    """Count events per bin of `dt` microseconds, pixel and polarity."""
    frames = np.zeros((int(SECONDS * 1e6) // dt, SIZE, SIZE, 2), "float32")
    t, y, x, p = events.T
    np.add.at(frames, (t // dt, y, x, p), 1.0)
    return frames


def main() -> None:
    """Print the demonstration."""
    rng = np.random.default_rng(0)
    keras.utils.set_random_seed(0)
    print(f"keras_pleiades {kp.__version__} on {keras.backend.backend()}\n")
    for name in kp.zoo.list_models():
        model = getattr(kp.zoo, name)()
        size = sum(np.prod(v.shape) for v in model.trainable_variables)
        print(f"{name:<14}{size:>9,} parameters, {model.dt // 1000:>2} ms bins, ", end="")
        print(f"looks back {model.context_frames} frames, {model.input_shape[2:4]} pixels")

    labels = np.arange(240) % len(CLASSES)
    recordings = [record(label, rng) for label in labels]
    events = sum(map(len, recordings))
    print(f"\nSimulated {len(recordings)} recordings of {SECONDS} s, {events:,} events.")

    model = kp.models.PleiadesClassifier(
        num_classes=len(CLASSES),
        blocks=[(8, 16, False), (24, 32, True), (32, 48, True)],
        features=64,
        input_shape=(None, SIZE, SIZE, 2),
        dt=10_000,
    )
    frames = np.stack([count(recording, model.dt) for recording in recordings])
    targets = np.repeat(labels[:, None], frames.shape[1] - model.context_frames, axis=1)
    model.compile(
        optimizer=keras.optimizers.AdamW(3e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    train, test = slice(0, 160), slice(160, None)
    print("Training at 10 ms on 160 of them (the first epoch compiles):")
    start = time.time()
    model.fit(frames[train], targets[train], batch_size=8, epochs=6, verbose=2)
    print(f"{time.time() - start:.0f} s\n")

    print("The other 80 recordings, at three bin sizes, without fine-tuning:\n")
    print(f"{'dt':>6}{'taps':>6}{'context':>9}{'accuracy':>10}{'the network as it was':>24}")
    for dt in (5_000, 10_000, 20_000):
        clips = np.stack([count(recording, dt) for recording in recordings[test]])
        row = []
        for network in (model.resample(dt), model):
            logits = network.predict(clips, batch_size=8, verbose=0)
            row.append((logits.argmax(-1) == labels[test, None]).mean())
            if network is not model:
                taps = network.get_layer("block_1").temporal_conv.bins
                print(f"{dt // 1000:>3} ms{taps:>6}{network.context_frames:>9}", end="")
        print(f"{row[0]:>10.1%}{row[1]:>24.1%}")


if __name__ == "__main__":
    main()

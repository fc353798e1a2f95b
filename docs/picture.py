"""Draws the picture at the top of the README: what the bundled networks see.

KERAS_BACKEND=jax python docs/picture.py    # writes docs/picture.png
"""

import pathlib

import matplotlib.pyplot as plt
import numpy as np

import keras_pleiades as kp
from keras_pleiades.datasets.class_names import GESTURES

HERE = pathlib.Path(__file__).parent
SHOWN_US = 30_000  # of events in a picture


def answer(model, task: str, seed: int):
    """Return a recording's labels, its last frames added up, and the network's last answers."""
    events, labels, sensor = kp.datasets.synthetic.record(task, seed, "test")
    frames = model.to_frames(events, sensor)
    outputs = model.predict_clip(frames[None])[0]
    return labels, frames[-SHOWN_US // model.dt :].sum(axis=0), outputs


def gesture(axes, model):
    """Draw a gesture with the network's answer."""
    labels, shown, logits = answer(model, "gestures", seed=24)
    axes.imshow(kp.plots.render(shown[None])[0])
    probabilities = np.exp(logits[-1] - logits[-1].max())
    probabilities /= probabilities.sum()
    said = GESTURES[probabilities.argmax()]
    axes.set_xlabel(f"{said} {probabilities.max():.2f}\ntruth: {GESTURES[labels.class_id]}")


def eye(axes, model):
    """Draw an eye with the pupil's way."""
    labels, shown, outputs = answer(model, "eyes", seed=2)
    points, _ = kp.decode.points(outputs, kp.decode.output_strides(model))
    height, width = model.input_shape[2:4]
    axes.imshow(kp.plots.render(shown[None])[0])
    axes.plot(*points[-60:].T, color="tab:green", lw=1, label="pupil, last 300 ms")
    axes.plot(*points[-1], "o", mfc="none", mec="tab:green", ms=12, mew=2, label="pupil")
    truth = labels.points[-1] * [width / 640, height / 480]
    axes.plot(*truth, "k+", ms=10, label="truth")
    axes.legend(fontsize=7, loc="lower right")


def kernel(axes, model):
    """Draw a kernel of the first layer in bins of three sizes."""
    layer = next(layer for layer in model.temporal_layers())
    best = np.unravel_index(np.abs(layer.kernel).sum(axis=0).argmax(), layer.kernel.shape[1:])
    for ratio, colour in ((2, "tab:orange"), (1, "tab:blue"), (0.5, "tab:green")):
        bins = layer.resample(ratio)
        taps = bins.kernel[(slice(None), *best)]
        dt = model.dt * ratio / 1000
        edges = dt * np.arange(-len(taps), 1)
        axes.stairs(
            taps / np.abs(taps).max(), edges, baseline=None, color=colour, label=f"{dt:g} ms bins"
        )
    axes.set(xlabel="time before now, ms", title="one learned kernel, resampled", yticks=[])
    axes.legend(fontsize=7)


def main() -> None:
    """Draw and write the picture."""
    networks = ("gesture", "eye_tracking")
    models = {name: getattr(kp.zoo, name)(pretrained=True) for name in networks}
    figure, axes = plt.subplots(
        1, 3, figsize=(11, 3.2), width_ratios=[1, 1.33, 1.5], layout="constrained"
    )
    for one, draw, name in zip(axes, (gesture, eye), networks, strict=False):
        draw(one, models[name])
        one.set(xticks=[], yticks=[], title=f"zoo.{name}")
    kernel(axes[-1], models["gesture"])
    figure.savefig(HERE / "picture.png", dpi=110)


if __name__ == "__main__":
    main()

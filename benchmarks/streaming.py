"""Times a network online, one frame a step, on one backend, beside the authors' way.

KERAS_BACKEND=jax python -m benchmarks.streaming [--network gesture] [--reference FOLDER]

The authors' code has no online form: for a new frame it runs its whole window of 46 frames.
"""

import argparse
import time

import keras
import numpy as np

import keras_pleiades as kp
from benchmarks import machine
from benchmarks.__main__ import worker
from benchmarks.measure import peak_megabytes, reset_peak
from keras_pleiades.cost import multiply_adds
from keras_pleiades.decode import MajorityFilter


def recording(model, frames: int) -> tuple[np.ndarray, tuple[int, int]]:
    """Return events of so many bins, 1000 a bin, on a sensor of the network's frame size."""
    rng = np.random.default_rng(0)
    height, width = model.input_shape[2:4]
    t = np.arange(frames * 1000) * model.dt // 1000
    x, y = rng.integers(0, width, len(t)), rng.integers(0, height, len(t))
    return kp.events.make_events(t, x, y, rng.integers(0, 2, len(t))), (height, width)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--network", default="gesture", choices=kp.zoo.list_models())
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--reference", help="a clone of Brainchip-Inc/TENNs-Pleiades")
    arguments = parser.parse_args()
    model = getattr(kp.zoo, arguments.network)()
    events, sensor = recording(model, arguments.frames + 60)
    pieces = np.split(events, np.arange(1000, len(events), 1000))  # a bin at a time
    window = MajorityFilter(150_000, model.dt)
    binning, answering, decoding = [], [], []
    for number, answer in enumerate(kp.streaming.run(model, pieces, sensor)):
        start = time.perf_counter()
        if answer.output.ndim == 1:
            window.update(answer.output)
        else:
            kp.decode.points(answer.output[..., :3], 1)
        if number >= 60:  # the first ones compile
            binning.append(answer.binning_s)
            answering.append(answer.model_s)
            decoding.append(time.perf_counter() - start)
    stream = model.stream()
    frames = model.to_frames(events[:10_000], sensor)
    for i in range(5):
        stream(frames[None, i : i + 1])
    reset_peak()
    before = peak_megabytes()
    for i in range(10):
        stream(frames[None, i : i + 1])
    used = peak_megabytes() - before
    sgemm = multiply_adds(model) / machine.limits()["multiply_adds"]
    print(f"{arguments.network} on {keras.backend.backend()}, {machine.describe()}")
    for name, times in (("binning", binning), ("model", answering), ("decoding", decoding)):
        p50, p95, best = (1e3 * q for q in np.quantile(times, [0.5, 0.95, 0]))
        print(f"  {name:<10} p50 {p50:7.3f} ms   p95 {p95:7.3f} ms   best {best:7.3f} ms")
    best, p50 = min(answering), float(np.median(answering))
    times = f"best is {best / sgemm:.1f} times, p50 {p50 / sgemm:.1f} times that"
    print(f"  sgemm time of a frame {1e3 * sgemm:.3f} ms: {times}")
    print(f"  state {stream.state_bytes:,} bytes; a step adds {used:.1f} MB")
    if arguments.reference and arguments.network == "gesture":
        rows = worker("authors", arguments.reference, "forward", "--frames", "46")
        if not rows:
            raise SystemExit("The authors' code did not run: it needs what its README asks for.")
        took = rows[0]["best"]
        times = f"{took / p50:.1f} times our p50, {took / best:.1f} times our best"
        print(f"  the authors' network on its 46-frame window {1e3 * took:.1f} ms: {times}")


if __name__ == "__main__":
    main()

"""Sizes of exported streams, and the time of a frame in their runtimes.

python -m benchmarks.export [--networks gesture detector] [--frames 200] [--out results.csv]

KERAS_BACKEND says whose stream stands beside them. "error" is the largest difference to it over the
largest answer. Every runtime has all cores.
"""

import argparse
import csv
import pathlib
import tempfile
import time

import keras
import numpy as np

import keras_pleiades as kp
from benchmarks import machine
from tests.export.runtimes import SUFFIX, facts_of, load

WARM_UP = 20


def size_of(path: pathlib.Path) -> int:
    """Return the bytes of an export, but for its facts."""
    beside = path.parent.glob(f"{path.stem}.*") if path.is_file() else path.rglob("*")
    return sum(p.stat().st_size for p in beside if p.is_file() and p.suffix != ".json")


def exported_step(path: pathlib.Path):
    """Return a function of one frame that remembers."""
    advance, facts = load(path), facts_of(path)
    state = {s["input"]: np.zeros(s["shape"], "float32") for s in facts["state"]}

    def step(frame):
        found = advance(frame=frame, **state)
        for s in facts["state"]:
            state[s["input"]] = found[s["output"]]
        return found["outputs"]

    return step


def remembering_step(path: pathlib.Path):
    """Return the same of a SavedModel's own memory."""
    import tensorflow as tf

    module = tf.saved_model.load(str(path))
    return lambda frame: module.step(tf.constant(frame))["outputs"].numpy()


def measure(step, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the answers, and the seconds of each frame after the first ones."""
    answers, seconds = [], []
    for t in range(frames.shape[1]):
        start = time.perf_counter()
        answers.append(step(frames[:, t]))
        seconds.append(time.perf_counter() - start)
    return np.stack(answers, axis=1), np.array(seconds[WARM_UP:])


def rows_of(network: str, count: int, folder: pathlib.Path):
    """Yield a row for the stream itself and for each export."""
    model = getattr(kp.zoo, network)()
    shape = (1, count, *model.input_shape[2:])
    frames = np.random.default_rng(0).poisson(0.05, shape).astype("float32")
    stream = model.stream()
    expected, seconds = measure(lambda frame: stream(frame[:, None])[:, 0], frames)
    parameters = 4 * model.count_params()
    yield row(network, f"keras, {keras.backend.backend()}", parameters, 0.0, seconds)
    for format, suffix in SUFFIX.items():
        path = folder / f"{network}_{format}{suffix}"
        kp.export.export(model, path, format, streaming=True)
        steps = {format: exported_step}
        if format == "tf_saved_model":
            steps["tf_saved_model, step"] = remembering_step
        for name, load_step in steps.items():
            found, seconds = measure(load_step(path), frames)
            error = abs(found - expected).max() / abs(expected).max()
            yield row(network, name, size_of(path), error, seconds)


def row(network, subject, size, error, seconds) -> dict:
    p50, best = 1e3 * np.median(seconds), 1e3 * seconds.min()
    return {
        "network": network,
        "subject": subject,
        "megabytes": round(size / 1e6, 2),
        "p50_ms": round(p50, 2),
        "best_ms": round(best, 2),
        "error": f"{error:.1e}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--networks", nargs="+", default=["gesture"], choices=kp.zoo.list_models())
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    print(machine.describe())
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for network in arguments.networks:
            for found in rows_of(network, arguments.frames, pathlib.Path(folder)):
                rows.append(found)
                print("  ".join(f"{value!s:<22}" for value in found.values()), flush=True)
    if arguments.out:
        with arguments.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()

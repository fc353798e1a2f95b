"""Runs a million frames through a small stream: memory flat, and it ends as a fresh one.

KERAS_BACKEND=jax python -m benchmarks.soak [--frames 1000000]
"""

import argparse
import pathlib
import time

import numpy as np

import keras_pleiades as kp


def resident() -> float:
    """Return the process' resident memory now, in MB."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--frames", type=int, default=1_000_000)
    total = parser.parse_args().frames
    model = kp.models.PleiadesClassifier(
        3, [(4, 8, False), (8, 12, True)], features=8, input_shape=(None, 4, 4, 2)
    )
    rng = np.random.default_rng(0)
    frames = rng.poisson(0.3, (1, 997, 4, 4, 2)).astype("float32")
    stream, start = model.stream(), time.perf_counter()
    for i in range(total):
        at = i % frames.shape[1]
        answer = stream(frames[:, at : at + 1])
        if i == 10_000:
            before = resident()
        if i and i % (total // 10) == 0:
            print(
                f"{i:,} frames, {time.perf_counter() - start:.0f} s, {resident():.1f} MB",
                flush=True,
            )
    fresh = model.stream()
    for i in range(total - model.context_frames - 1, total):
        at = i % frames.shape[1]
        last = fresh(frames[:, at : at + 1])
    print(f"memory after 10,000 frames {before:.1f} MB, at the end {resident():.1f} MB")
    equal = np.array_equal(answer, last)
    print(
        f"the last answer equals a fresh stream's bit for bit: {equal}; difference "
        f"{abs(answer - last).max():.1e}"
    )


if __name__ == "__main__":
    main()

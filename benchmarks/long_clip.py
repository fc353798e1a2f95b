"""Runs `predict_clip` on 60 s of frames: peak memory, and equality where the whole clip fits.

KERAS_BACKEND=jax python -m benchmarks.long_clip [--frames 6000]
"""

import argparse
import time

import keras
import numpy as np

import keras_pleiades as kp
from benchmarks.measure import peak_megabytes, reset_peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--frames", type=int, default=6000)
    arguments = parser.parse_args()
    model = kp.zoo.gesture()
    rng = np.random.default_rng(0)
    frames = np.empty((1, arguments.frames, 128, 128, 2), "float32")
    for t in range(arguments.frames):
        frames[0, t] = rng.poisson(0.05, frames.shape[2:])
    reset_peak()
    start = time.perf_counter()
    answers = model.predict_clip(frames)
    took = time.perf_counter() - start
    peak = peak_megabytes()
    part = frames[:, :400]
    whole = model.predict(part, verbose=0)
    difference = abs(answers[:, : whole.shape[1]] - whole).max()
    print(f"{keras.backend.backend()}: {arguments.frames} frames, {frames.nbytes / 2**20:.0f} MB")
    print(f"  predict_clip {took:.1f} s, peak memory of the process {peak:.0f} MB, frames included")
    print(f"  the first 400 as a whole: difference {difference:.1e} of {abs(whole).max():.1f}")


if __name__ == "__main__":
    main()

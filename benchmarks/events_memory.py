"""Bins a recording of 2 GB in pieces and reports the memory it took.

python -m benchmarks.events_memory [--gigabytes 2] [--folder FOLDER]

The recording (Prophesee DAT, 640 x 480, 10 M events/s) is made in FOLDER, or in the folder for
temporary files, and removed afterwards.
"""

import argparse
import os
import resource
import sys
import tempfile
import time

import numpy as np

RATE, HEIGHT, WIDTH, DT, PIECE_US = 10_000_000, 480, 640, 10_000, 200_000
LIMIT = 1 << 30


def make(path, size):
    rng = np.random.default_rng(0)
    block = 1_000_000
    words = np.empty((block, 2), "<u4")
    x, y = rng.integers(0, WIDTH, block), rng.integers(0, HEIGHT, block)
    words[:, 1] = x | y << 14 | rng.integers(0, 2, block) << 28
    count = 0
    with open(path, "wb") as file:
        file.write(b"% Version 2\n% Width 640\n% Height 480\n" + bytes([0x0C, 8]))
        while file.tell() < size:
            words[:, 0] = (np.arange(count, count + block) * 1_000_000) // RATE
            file.write(words.tobytes())
            count += block
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    from keras_pleiades.events import iter_read, to_frames

    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        path = os.path.join(folder, "long.dat")
        count = make(path, int(arguments.gigabytes * 2**30))
        size = os.path.getsize(path)
        start = time.perf_counter()
        frames, mass = 0, 0.0
        for piece in iter_read(path, duration_us=PIECE_US, start_us=0):
            begin = int(piece["t"][0]) // PIECE_US * PIECE_US
            binned = to_frames(piece, DT, (HEIGHT, WIDTH), start_us=begin, frames=PIECE_US // DT)
            frames += len(binned)
            mass += float(binned.sum(dtype=np.float64))
        took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{size / 2**30:.2f} GB, {count:,} events, {frames:,} frames of {HEIGHT} x {WIDTH} x 2")
    print(f"{took:.0f} s, {count / took / 1e6:.1f} M events/s, peak memory {peak / 2**20:.0f} MB")
    assert mass == count, (mass, count)
    assert peak < LIMIT, f"{peak} bytes"


if __name__ == "__main__":
    sys.exit(main())

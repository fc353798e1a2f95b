"""Data sets: a clip out of an hour-long file, and an epoch with and without cache and workers.

python -m benchmarks.datasets [--shared ../shared/data]
"""

import argparse
import itertools
import pathlib
import tempfile
import time
import tracemalloc

import numpy as np

import keras_pleiades as kp

HOUR_US = 3_600_000_000


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def hour_of_dat(folder, events):
    """An hour of events at random pixels, written in pieces: 8 bytes each."""
    path = folder / "hour_td.dat"
    rng = np.random.default_rng(0)
    with open(path, "wb") as file:
        file.write(b"% Version 2\n% Width 1280\n% Height 720\n" + bytes([0x0C, 8]))
        edges = np.linspace(0, HOUR_US, 101).astype(np.int64)
        for begin, end in itertools.pairwise(edges):
            records = np.zeros(events // 100, "<u4,<u4")
            records["f0"] = np.sort(rng.integers(begin, end, len(records)))
            x, y = rng.integers(0, 1280, len(records)), rng.integers(0, 720, len(records))
            records["f1"] = x | (y << 14) | (rng.integers(0, 2, len(records)) << 28)
            records.tofile(file)
    return path


def slices(folder, events=100_000_000):
    path = hour_of_dat(folder, events)
    start = HOUR_US // 2
    print(
        f"a clip of 0.56 s out of an hour of DAT, {events:,} events, {path.stat().st_size:,} bytes"
    )
    tracemalloc.start()
    clip = seconds(lambda: kp.events.read_slice(path, start, start + 560_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"  read_slice  {clip * 1e3:9.1f} ms, {peak / 2**20:.1f} MB at most")
    whole = seconds(lambda: kp.events.read(path, start, start + 560_000))
    print(f"  read        {whole * 1e3:9.1f} ms")


def epochs(shared, folder):
    def eye(**kwargs):
        return kp.datasets.EyeTracking3ET(
            shared / "eye_3et",
            sessions=["5_1", "7_3", "12_2"],
            dt=5_000,
            shape=(96, 128),
            context_frames=54,
            clip_frames=100,
            batch_size=8,
            **kwargs,
        )

    def nmnist(**kwargs):
        return kp.datasets.NMNIST(
            shared / "nmnist_1000.zip", None, dt=10_000, batch_size=32, **kwargs
        )

    for name, make in (("3ET+, 3 sessions", eye), ("N-MNIST, 1000 digits", nmnist)):
        data = make()
        print(f"{name}: {len(data.clips)} clips of {data.x_shape[1:]}, an epoch of batches")
        print(f"  no cache           {seconds(lambda d=data: list(d)):6.2f} s")
        cached = make(cache=folder / name)
        print(f"  writing the cache  {seconds(lambda d=cached: list(d)):6.2f} s")
        size = sum(path.stat().st_size for path in (folder / name).rglob("*.npz"))
        dense = sum(np.prod(x.shape) * 4 for x, *_ in data)
        print(f"  from the cache     {seconds(lambda d=cached: list(d)):6.2f} s", end="")
        print(f", {size / 2**20:.1f} MB on disk for {dense / 2**20:.1f} MB of frames")
        augmented = make(cache=folder / f"{name} events", augment=kp.datasets.RandomAffine())
        list(augmented)
        print(f"  augmented, cached  {seconds(lambda d=augmented: list(d)):6.2f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=pathlib.Path, default="../shared/data")
    parser.add_argument("--events", type=int, default=100_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        slices(pathlib.Path(temporary), arguments.events)
        if arguments.shared.is_dir():
            epochs(arguments.shared, pathlib.Path(temporary))

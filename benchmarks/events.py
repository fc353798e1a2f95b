"""Speed of reading and binning events, against tonic where a Python that has tonic is named.

python -m benchmarks.events [--tonic PYTHON] [--repeats 7] [--out FILE.csv]

All files and events are made here. Each number is the best of the repeats; with --tonic, ours and
tonic's are measured in turn within one run, and their ratio is what counts.
"""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

# (name, events, frames, height, width, tonic transform, target ratio)
BINNING = (
    ("count", 400_000, 150, 128, 128, "ToFrame", 5.0),
    ("count", 1_000_000, 10, 720, 1280, "ToFrame", 4.0),
    ("volume", 1_000_000, 10, 720, 1280, "ToVoxelGrid", 3.0),
    ("volume", 1_000_000, 150, 128, 128, "ToVoxelGrid", 3.0),
)
# (format, target in millions of events a second)
READING = (("evt2", None), ("evt3", 8.0), ("dat", 8.0), ("aedat2", 10.0), ("aedat3", 10.0))
DT = 10_000

# Runs under the other Python: answers each line "index" with the seconds of one call.
TONIC = """
import json, sys, time
import numpy as np, tonic
files, cases = json.loads(sys.stdin.readline())
calls = []
for file, (_, count, frames, height, width, name, _) in zip(files, cases):
    transform = getattr(tonic.transforms, name)(sensor_size=(width, height, 2), n_time_bins=frames)
    calls.append((transform, np.load(file)))
print("ready", tonic.__version__, flush=True)
for line in sys.stdin:
    transform, events = calls[int(line)]
    events = events.copy()  # ToVoxelGrid writes into its caller's array
    start = time.perf_counter()
    transform(events)
    print(time.perf_counter() - start, flush=True)
"""


def make_events(count, frames, height, width, seed=0):
    from keras_pleiades.events import EVENT_DTYPE

    rng = np.random.default_rng(seed)
    events = np.empty(count, EVENT_DTYPE)
    events["t"] = np.sort(rng.integers(0, frames * DT, count))
    events["t"][[0, -1]] = 0, frames * DT - 1
    events["x"], events["y"] = rng.integers(0, width, count), rng.integers(0, height, count)
    events["p"] = rng.integers(0, 2, count)
    return events


def encode(name, events):
    """Writes a recording as bytes, vectorised; the tests hold the readers against slow writers."""
    t, x, y, p = (events[field].astype(np.int64) for field in "txyp")
    if name == "dat":
        words = np.stack([t, x | y << 14 | p << 28], axis=1).astype("<u4")
        return b"% Version 2\n% Width 1280\n% Height 720\n" + bytes([0x0C, 8]) + words.tobytes()
    if name == "aedat2":
        words = np.stack([y << 8 | x << 1 | p, t], axis=1).astype(">u4")
        return b"#!AER-DAT2.0\r\n# AEChip: DVS128\r\n" + words.tobytes()
    if name == "aedat3":  # packets of 500 events, about as many as DVS128 Gesture has
        words = np.stack([1 | p << 1 | y << 2 | x << 17, t], axis=1).astype("<u4")
        out = [b"#!AER-DAT3.1\r\n#Format: RAW\r\n#Source 1: DVS128\r\n#!END-HEADER\r\n"]
        for start in range(0, len(words), 500):
            part = words[start : start + 500]
            n = len(part)
            out += [np.array([1 | 1 << 16, 8, 4, 0, n, n, n], "<u4").tobytes(), part.tobytes()]
        return b"".join(out)
    high = t >> 6
    if name == "evt2":
        events_words = p << 28 | (t & 63) << 22 | x << 11 | y
        new = np.flatnonzero(np.diff(high, prepend=-1))
        words = np.insert(events_words, new, 8 << 28 | high[new]).astype("<u4")
        return b"% evt 2.0\n% geometry 1280x720\n" + words.tobytes()
    # EVT3: a row word for each event, a time word whenever the time changes.
    columns = 2 << 12 | p << 11 | x
    words = np.insert(columns, np.arange(len(t)), y)
    new = np.flatnonzero(np.diff(t, prepend=-1))
    words = np.insert(words, 2 * new, 6 << 12 | (t[new] & 4095))
    newer = np.flatnonzero(np.diff(t >> 12, prepend=-1))
    at = 2 * newer + np.searchsorted(new, newer)
    words = np.insert(words, at, 8 << 12 | (t[newer] >> 12)).astype("<u2")
    return b"% evt 3.0\n% geometry 1280x720\n" + words.tobytes()


def best(function, repeats):
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def measure_reading(repeats, folder):
    from keras_pleiades.events import read

    events = make_events(1_000_000, 100, 128, 128)
    for name, target in READING:
        path = folder / name
        path.write_bytes(encode(name, events))
        assert len(read(path)) == len(events)
        rate = len(events) / best(lambda path=path: read(path), repeats) / 1e6
        yield f"read {name}, 1 M events", f"{rate:.1f} M events/s", target, rate


def measure_binning(repeats, folder, tonic):
    from keras_pleiades.events import to_frames

    process, files, recordings = None, [], []
    for number, (_, count, frames, height, width, _, _) in enumerate(BINNING):
        events = make_events(count, frames, height, width)
        recordings.append(events)
        # int8 polarity: with bool, tonic's voxel grid turns every event into ON.
        plain = np.empty(count, [("x", "<i2"), ("y", "<i2"), ("t", "<i8"), ("p", "i1")])
        for field in "txyp":
            plain[field] = events[field]
        files.append(str(folder / f"{number}.npy"))
        np.save(files[-1], plain)
    if tonic:
        process = subprocess.Popen(
            [tonic, "-c", TONIC], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        print(json.dumps([files, BINNING]), file=process.stdin, flush=True)
        print("tonic", process.stdout.readline().split()[-1])
    for number, (method, count, frames, height, width, name, target) in enumerate(BINNING):
        ours, theirs = [], []
        for _ in range(repeats):
            start = time.perf_counter()
            to_frames(recordings[number], DT, (height, width), method=method)
            ours.append(time.perf_counter() - start)
            if process:
                print(number, file=process.stdin, flush=True)
                theirs.append(float(process.stdout.readline()))
        what = f"{method} {count:,} events to {frames} x {height} x {width}"
        text = f"{min(ours) * 1e3:.1f} ms"
        ratio = None
        if process:
            ratio = min(theirs) / min(ours)
            text += f", tonic {name} {min(theirs) * 1e3:.1f} ms: {ratio:.1f} times"
        yield what, text, target if process else None, ratio
    if process:
        process.stdin.close()
        process.wait()
    resized = recordings[2]
    for method in ("count", "volume"):
        took = best(lambda m=method: to_frames(resized, DT, (720, 1280), (160, 320), m), repeats)
        what = f"{method} 1,000,000 events to 10 x 160 x 320 from 720 x 1280"
        yield what, f"{took * 1e3:.1f} ms", None, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tonic", metavar="PYTHON", help="an interpreter that can import tonic")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out", type=pathlib.Path, help="write the results here as CSV")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for what, text, target, value in (
            *measure_reading(arguments.repeats, folder),
            *measure_binning(arguments.repeats, folder, arguments.tonic),
        ):
            verdict = (
                ""
                if target is None
                else f"  (target {target:g}: " + ("reached)" if value >= target else "MISSED)")
            )
            print(f"{what:55} {text}{verdict}")
            rows.append((what, text, target, value))
    if arguments.out:
        with open(arguments.out, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("what", "measured", "target", "value"))
            writer.writerows(rows)
        print("written to", os.fspath(arguments.out))


if __name__ == "__main__":
    sys.exit(main())

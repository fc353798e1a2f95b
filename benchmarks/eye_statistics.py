"""Event statistics of simulated eyes beside those of real 3ET+ sessions.

python -m benchmarks.eye_statistics FOLDER [--clips 60] [--moving]

FOLDER has SESSION/SESSION.h5 and SESSION/label.txt. For each number: the real sessions', then the
5 %, 50 % and 95 % quantiles over simulated clips of 2 s, and whether those cover the real range.
`--moving`: of eyes that rest less and look further, as much as those of the sessions.
"""

import argparse
import functools
import multiprocessing
import os
import pathlib
import sys

import numpy as np

from keras_pleiades.datasets.synthetic import eyes

RADII = (20, 40, 60, 80, 120, 160, 240)
QUANTILES = (1, 10, 25, 50, 75, 90, 99)
MOVING = {
    "rest_s": (0.03, 0.25),
    "small": (0.0, 0.3),
    "reach_x": (60, 170),
    "reach_y": (15, 90),
    "pursuit_speed": (30.0, 130.0),
}


def statistics(events, rows, seconds):
    """Returns {name: number} of events and 3ET+ label rows (one for 10 ms)."""
    found = {"k events/s": len(events) / seconds / 1e3, "ON part": events["p"].mean()}
    at = np.minimum(events["t"] // 10_000, len(rows) - 1).astype(int)
    counts = np.bincount(at, minlength=len(rows))
    for q, value in zip(QUANTILES, np.percentile(counts, QUANTILES), strict=True):
        found[f"events in 10 ms, {q} %"] = value
    away = np.hypot(events["x"] - rows[at, 0], events["y"] - rows[at, 1])
    for radius in RADII:
        found[f"within {radius} px of the pupil"] = (away < radius).mean()
    speed = np.hypot(*np.diff(rows[:, :2], axis=0).T)
    for q in (50, 75, 90, 99):
        found[f"pupil px in 10 ms, {q} %"] = np.percentile(speed, q)
    found["pupil still, under 1 px in 10 ms"] = (speed < 1).mean()
    for k, axis in enumerate("xy"):
        found[f"pupil {axis}, mean"] = rows[:, k].mean()
        found[f"pupil {axis}, range"] = np.ptp(rows[:, k])
    found["closed part"] = rows[:, 2].mean()
    return found


def simulated(seed, changes):
    events, labels = eyes.clip(seed, "validation", duration_us=2_000_000, **changes)
    return statistics(events, eyes.rows(labels), 2)


def real(folder):
    import h5py

    for path in sorted(pathlib.Path(folder).glob("*/*.h5")):
        with h5py.File(path) as file:
            table = file["events"][:]
        events = {name: table[name].astype(np.int64) for name in "txy"} | {"p": table["p"] > 0}
        events = np.rec.fromarrays(list(events.values()), names=list(events))
        lines = (path.parent / "label.txt").read_text().split("\n")
        rows = [[float(v) for v in line.strip(" ()").split(",")] for line in lines if line.strip()]
        yield path.stem, statistics(events, np.array(rows), np.ptp(events["t"]) * 1e-6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", help="of real sessions")
    parser.add_argument("--clips", type=int, default=60)
    parser.add_argument("--moving", action="store_true", help="eyes that rest less")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    sessions = dict(real(arguments.folder))
    with multiprocessing.get_context("spawn").Pool(arguments.workers) as pool:
        simulate = functools.partial(simulated, changes=MOVING if arguments.moving else {})
        clips = pool.map(simulate, range(arguments.clips))
    print(f"{'':34}" + "".join(f"{name:>9}" for name in sessions) + "   |   5 %     50 %     95 %")
    for name in clips[0]:
        truth = [found[name] for found in sessions.values()]
        low, middle, high = np.quantile([clip[name] for clip in clips], (0.05, 0.5, 0.95))
        verdict = "" if low <= min(truth) and max(truth) <= high else "   not covered"
        print(
            f"{name:34}" + "".join(f"{value:9.3g}" for value in truth),
            f" |{low:9.3g}{middle:9.3g}{high:9.3g}{verdict}",
        )


if __name__ == "__main__":
    sys.exit(main())

"""How real the simulated gestures look to the authors' network, which saw only real recordings.

python -m benchmarks.simulation --checkpoint dvs128_ckpt.pt [--clips 20] [--variations] [--out FILE]

A clip counts as right when the mode of the network's per-frame decisions is its class. Clips are
of the test split, made on the fly by as many processes as there are cores.
"""

import argparse
import csv
import functools
import json
import multiprocessing
import os
import pathlib
import sys
import time

import numpy as np

from keras_pleiades.datasets.synthetic import gestures

TARGET, CLASS_TARGET = 0.95, 0.85


def frames(seed, variation=None):
    """Returns (label, events a second, (150, 128, 128, 2) counts) of one clip."""
    from keras_pleiades.events import to_frames

    events, labels = gestures.clip(seed, "test", variation=variation)
    counts = to_frames(events, 10_000, gestures.SENSOR, start_us=0, frames=150)
    return labels.class_id, len(events) / 1.5, counts


def judge(model, clips, variation=None, first=0, workers=None):
    """Returns the confusion matrix (10, 10): rows are classes, and the mean event rate."""
    confusion, rates = np.zeros((10, 10), int), []
    seeds = range(first, first + 10 * clips)
    make = functools.partial(frames, variation=variation)
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        for label, rate, counts in pool.imap_unordered(make, seeds):
            answers = np.asarray(model.predict_on_batch(counts[None]))[0].argmax(-1)
            confusion[label, np.bincount(answers, minlength=10).argmax()] += 1
            rates.append(rate)
    return confusion, float(np.mean(rates))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--checkpoint", required=True, help="the authors' dvs128_ckpt.pt")
    parser.add_argument("--clips", type=int, default=20, help="clips a class")
    parser.add_argument("--first", type=int, default=0, help="first seed of the test split")
    parser.add_argument("--variations", nargs="*", metavar="NAME", help="all when none is named")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=pathlib.Path, help="write the results here as CSV")
    arguments = parser.parse_args()

    import keras_pleiades as kp

    model = kp.zoo.gesture(pretrained=arguments.checkpoint)
    wanted = [None]
    if arguments.variations is not None:
        wanted = arguments.variations or [None, *gestures.VARIATIONS]
    rows, good = [], True
    for variation in wanted:
        start = time.perf_counter()
        confusion, rate = judge(
            model, arguments.clips, variation, arguments.first, arguments.workers
        )
        right = confusion.diagonal() / confusion.sum(axis=1)
        rows.append((variation or "none", right.mean(), *right, rate))
        took = time.perf_counter() - start
        by_class = " ".join(f"{part:.2f}" for part in right)
        print(
            f"{variation or 'none':18} {right.mean():.3f} of {confusion.sum()} right; by class "
            f"{by_class}; {rate / 1e3:.0f} k events/s; {took:.0f} s",
            flush=True,
        )
        for label, answers in enumerate(confusion):
            wrong = {gestures.CLASSES[k]: int(n) for k, n in enumerate(answers) if n and k != label}
            if wrong:
                print(f"    {gestures.CLASSES[label]} taken for {json.dumps(wrong)}")
        if variation is None:
            good = right.mean() >= TARGET and right.min() >= CLASS_TARGET
            print(f"    targets {TARGET}, {CLASS_TARGET} a class:", "met" if good else "MISSED")
    if arguments.out:
        temporary = arguments.out.with_suffix(".tmp")
        with temporary.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("variation", "right", *gestures.CLASSES, "events a second"))
            writer.writerows(rows)
        temporary.replace(arguments.out)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

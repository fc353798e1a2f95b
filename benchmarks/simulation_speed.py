"""How fast simulated recordings are made.

python -m benchmarks.simulation_speed [--count 20] [--workers 2]

Seconds of CPU for one recording in one process, and recordings a second by `generate`, which
writes them to disk (without the workers' start, which imports Keras).
"""

import argparse
import os
import tempfile
import time

from keras_pleiades.datasets import synthetic

LENGTHS = {"gestures": 1_500_000, "eyes": 2_000_000, "roads": 1_000_000}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--tasks", nargs="+", default=list(LENGTHS), choices=list(LENGTHS))
    arguments = parser.parse_args()
    for task in arguments.tasks:
        length = LENGTHS[task]
        start, events = time.process_time(), 0
        for seed in range(arguments.count):
            events += len(synthetic.record(task, seed, duration_us=length).events)
        each = (time.process_time() - start) / arguments.count
        rate = events / arguments.count / length * 1e3
        took = []
        for count in (arguments.workers, arguments.workers + 2 * arguments.count):
            with tempfile.TemporaryDirectory() as folder:
                start = time.perf_counter()
                synthetic.generate(
                    task, range(count), "train", folder, arguments.workers, duration_us=length
                )
                took.append(time.perf_counter() - start)
        parallel = 2 * arguments.count / (took[1] - took[0])
        print(
            f"{task:9} {length / 1e6:g} s: {each:.2f} s of CPU each, {rate:.0f} k events/s; "
            f"{parallel:.1f} a second with {arguments.workers} processes",
            flush=True,
        )


if __name__ == "__main__":
    main()

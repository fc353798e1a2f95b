"""Times the online step on PyTorch on a quiet machine and beside busy processes.

KERAS_BACKEND=torch python -m benchmarks.busy [--busy 2]

Each setting of GNU's OpenMP in a process of its own: as it comes, and others.
"""

import argparse
import os
import subprocess
import sys
import time

import numpy as np

SETTINGS = {
    "as it comes": {},
    "GOMP_SPINCOUNT=1000": {"GOMP_SPINCOUNT": "1000"},
    "OMP_WAIT_POLICY=PASSIVE": {"OMP_WAIT_POLICY": "PASSIVE"},
    "OMP_NUM_THREADS=1": {"OMP_NUM_THREADS": "1"},
}
SECONDS = 15


def step_times() -> np.ndarray:
    """Return what steps of the gesture network took, in milliseconds."""
    import keras_pleiades as kp

    stream = kp.zoo.gesture().stream()
    frame = np.random.default_rng(0).poisson(0.06, (1, 1, 128, 128, 2)).astype("float32")
    for _ in range(3):
        stream(frame)
    times, end = [], time.perf_counter() + SECONDS
    while len(times) < 300 and time.perf_counter() < end:
        start = time.perf_counter()
        stream(frame)
        times.append(1e3 * (time.perf_counter() - start))
    return np.array(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--busy", type=int, default=2, help="processes that compute beside it")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print("p50 {:.2f} ms  p95 {:.2f} ms".format(*np.quantile(step_times(), (0.5, 0.95))))
        return
    for busy in (0, arguments.busy):
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
        try:
            for name, setting in SETTINGS.items():
                command = [sys.executable, "-m", "benchmarks.busy", "--child"]
                environment = {**os.environ, "KERAS_BACKEND": "torch", **setting}
                done = subprocess.run(command, env=environment, capture_output=True, text=True)
                print(f"{busy} busy  {name:<26}{done.stdout.strip() or done.stderr}", flush=True)
        finally:
            for other in others:
                other.kill()


if __name__ == "__main__":
    main()

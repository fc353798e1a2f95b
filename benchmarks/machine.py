"""What the machine can do at most: the speed of a matrix product and of a copy."""

import contextlib
import os
import platform

import numpy as np

from benchmarks.measure import seconds


def limits() -> dict[str, float]:
    """Return the machine's multiply-adds a second in float32, and bytes copied a second."""
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(2048, 2048)).astype("float32") for _ in range(2))
    source = np.zeros(2**25, "float32")  # 128 MiB: far beyond the caches
    target = np.empty_like(source)
    product = seconds(lambda: np.dot(a, b), repeats=9)["best"]
    copy = seconds(lambda: np.copyto(target, source), repeats=9)["best"]
    return {"multiply_adds": 2048**3 / product, "copied_bytes": source.nbytes / copy}


def describe() -> str:
    """Return the machine in a line."""
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError, StopIteration), open("/proc/cpuinfo") as info:
        model = next(line.split(":")[1].strip() for line in info if "model name" in line)
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    )

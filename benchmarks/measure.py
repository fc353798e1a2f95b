"""Times a function and the memory of a process."""

import contextlib
import pathlib
import statistics
import time


def seconds(function, repeats: int = 5, warm_up: int = 1) -> dict[str, float]:
    """Call `function` and return the best and the median time, and that of the first call."""
    start = time.perf_counter()
    function()
    first = time.perf_counter() - start
    for _ in range(warm_up - 1):
        function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return {"best": min(times), "median": statistics.median(times), "first": first}


def reset_peak() -> None:
    """Forget the process' peak memory so far, where the system lets one."""
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/clear_refs").write_text("5")


def peak_megabytes() -> float:
    """Return the process' peak resident memory since `reset_peak`."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise OSError("the system does not say what memory the process used")

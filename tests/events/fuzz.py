"""Reads mutated and truncated files of one format; run in a process of its own.

python tests/events/fuzz.py FORMAT [--count 2000] [--seed 0] [--hang-seconds 20] [--file RECORDING]

Exits with an error when a mutant is neither read nor refused properly, when memory goes beyond its
bounds, and (by the nature of things) when the process crashes. `--hang-seconds` ends a hanging run
with a traceback; without it there is no time limit.
"""

import argparse
import faulthandler
import gc
import importlib.util
import os
import resource
import shutil
import sys
import tempfile
import tracemalloc
import types

import numpy as np

# Only the room for events is imported, not the whole house with Keras and a backend: sixteen of
# these processes run in the test suite, and their memory is measured.
if __name__ == "__main__":
    house = types.ModuleType("keras_pleiades")
    house.__path__ = list(importlib.util.find_spec("keras_pleiades").submodule_search_locations)
    sys.modules["keras_pleiades"] = house

from makers import WRITERS, random_events

from keras_pleiades.events import (
    EVENT_DTYPE,
    EventFormatError,
    info,
    iter_read,
    read,
)

EVIL = (0, 1, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 40, 1 << 63)
# Memory: 32 times the file for its events (text and compressed files grow most), and a fixed part
# for blocks, buffers and Python itself.
FIXED, MULTIPLE = 8 << 20, 32
ADDRESS_SPACE = 1 << 30  # beyond what the process has: no allocation of gigabytes, touched or not


def mutate(data: bytes, rng) -> bytes:
    data = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        # Half of the mutations hit the first bytes, where headers are.
        limit = len(data) if rng.random() < 0.5 else min(len(data), 512)
        if limit == 0:
            break
        at = int(rng.integers(limit))
        kind = rng.integers(7)
        if kind == 0:
            del data[at:]
        elif kind == 1:
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 2:
            data[at] = int(rng.integers(256))
        elif kind == 3:
            del data[at : at + int(rng.integers(1, 40))]
        elif kind == 4:
            data[at:at] = rng.bytes(int(rng.integers(1, 40)))
        elif kind == 5:
            size = int(rng.choice((1, 2, 4, 8)))
            evil = int(EVIL[rng.integers(len(EVIL))]) & ((1 << 8 * size) - 1)
            data[at : at + size] = evil.to_bytes(size, "little")
        else:
            data[at:at] = data[at : at + int(rng.integers(1, 200))]
    return bytes(data)


def check(path, size, number):
    """Reads one mutant in one of three ways; returns whether it was readable."""
    gc.collect()  # the last refusal's traceback holds the arrays of its frames
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    try:
        if number % 3 == 0:
            events = read(path)
            assert events.dtype == EVENT_DTYPE
            assert events.ndim == 1
        elif number % 3 == 1:
            for piece in iter_read(path, duration_us=10_000):
                assert len(piece)
        else:
            str(info(path))
        refusal = None
    except EventFormatError as error:
        refusal = error
    if refusal is not None:
        assert str(refusal).startswith(f"{path}, {refusal.unit} {refusal.offset}: "), refusal
        assert refusal.offset >= 0, refusal
        assert refusal.reason, refusal
    peak = tracemalloc.get_traced_memory()[1] - before
    assert peak < FIXED + MULTIPLE * size, f"{peak} bytes for a file of {size}"
    return refusal is None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("format", choices=WRITERS)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hang-seconds", type=float, default=0)
    parser.add_argument("--file", help="mutate this recording in place of one made here")
    arguments = parser.parse_args()
    faulthandler.enable()
    rng = np.random.default_rng(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "mutant")
        if arguments.file:
            shutil.copyfile(arguments.file, path)
        else:
            WRITERS[arguments.format](path, random_events())
        with open(path, "rb") as file:
            data = file.read()
        tracemalloc.start()
        for number in range(3):
            assert check(path, len(data), number), "the intact file must be readable"
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESS_SPACE,) * 2)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        gc.freeze()  # what is imported stays: collecting then takes no time
        readable = 0
        for number in range(arguments.count):
            mutant = mutate(data, rng)
            with open(path, "wb") as file:
                file.write(mutant)
            if arguments.hang_seconds:
                faulthandler.dump_traceback_later(arguments.hang_seconds, exit=True)
            try:
                readable += check(path, len(mutant), number)
            except BaseException:
                kept = os.environ.get("KEEP_MUTANT")
                if kept:
                    with open(kept, "wb") as file:
                        file.write(mutant)
                print(f"mutant {number} of {arguments.format}", file=sys.stderr)
                raise
        faulthandler.cancel_dump_traceback_later()
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(
            f"{arguments.format}: {arguments.count} mutants of {len(data)} bytes, {readable} read, "
            f"{arguments.count - readable} refused, memory grew by {grown / 1024:.0f} MB"
        )
        assert grown < 96 << 10, f"memory grew by {grown} kB"


if __name__ == "__main__":
    main()

"""Large tensors without new pages: freed memory stays with the process and is used again."""

import ctypes
import functools
import os
import sys

SETTING = "KERAS_PLEIADES_KEEP_MEMORY"
# Names and numbers of glibc's malloc.h.
TRIM_THRESHOLD, TOP_PAD, MMAP_MAX, ARENA_MAX = -1, -2, -4, -8


@functools.cache
def keep_freed_memory(backend: str) -> bool:
    """Let glibc keep memory that was freed, once a process; return whether it does.

    By default it hands every large block back to the system at once, and each step of a network
    then gets hundreds of megabytes of new pages, which the system fills with zeros one by one. On
    the CPU that is a fifth of the time of all three backends. The price: a process that once
    needed much memory keeps it. `KERAS_PLEIADES_KEEP_MEMORY=0` in the environment leaves malloc
    alone; so do other systems and other C libraries.
    """
    if os.environ.get(SETTING, "1") == "0" or not sys.platform.startswith("linux"):
        return False
    try:
        library = ctypes.CDLL(None)
        _ = library.gnu_get_libc_version  # others have a mallopt with other meanings, or none
        mallopt = library.mallopt
    except (OSError, AttributeError):
        return False
    settings = {
        MMAP_MAX: 0,  # no block so large that it is mapped by itself
        TRIM_THRESHOLD: 2**31 - 1,
        TOP_PAD: 2**26,
    }
    if backend == "jax":
        # JAX allocates in threads of its own, and the heaps of their arenas are small. They then
        # wait for each other: an online step, which allocates little, becomes a tenth slower.
        settings[ARENA_MAX] = 1
    return all(mallopt(name, value) for name, value in settings.items())

"""Whether a network's state fits this machine."""

import os

from keras_pleiades_cli.errors import UserError

COPIES = 4  # a step holds the old state, the new one, and what it computes from them


def check_memory(state_bytes: int, dt: int, total_bytes: int | None = None) -> None:
    """Refuse a network that the machine could not hold: bins can be made as small as one likes.

    Args:
        state_bytes: What the network remembers between frames.
        dt: Its bin size, for the message.
        total_bytes: The machine's memory; looked up by default, and where it is not known all is
            let through.

    Raises:
        UserError: It does not fit.

    Example:
        >>> check_memory(6_303_752, dt=10_000, total_bytes=10**9)
        >>> check_memory(6_293_752_000, dt=10, total_bytes=10**10)
        Traceback (most recent call last):
        keras_pleiades_cli.errors.UserError: With bins of 10 us the network has to remember 6.3 ...
    """
    total_bytes = _memory() if total_bytes is None else total_bytes
    if total_bytes is not None and COPIES * state_bytes > total_bytes:
        raise UserError(
            f"With bins of {dt} us the network has to remember {state_bytes / 1e9:.1f} GB between "
            f"frames; this machine has {total_bytes / 1e9:.1f} GB in all. Give a larger --dt, or a "
            "smaller --size"
        )


def _memory():
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return None

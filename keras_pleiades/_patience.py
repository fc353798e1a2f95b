"""A word to who waits: the first call of a compiled function takes long."""

import functools
import logging
import threading

PATIENCE_S = 5.0


def says_why(function, what: str):
    """Return `function`, whose first call logs `what` it does if it takes more than 5 seconds.

    Example:
        >>> twice = says_why(lambda x: 2 * x, "doubling")
        >>> twice(3)
        6
    """
    called = False

    @functools.wraps(function)
    def run(*args, **kwargs):
        nonlocal called
        if called:
            return function(*args, **kwargs)
        called = True
        message = f"{what} for these shapes. Only the first call takes this long."
        timer = threading.Timer(
            PATIENCE_S, logging.getLogger("keras_pleiades").warning, args=(message,)
        )
        timer.daemon = True
        timer.start()
        try:
            return function(*args, **kwargs)
        finally:
            timer.cancel()

    return run

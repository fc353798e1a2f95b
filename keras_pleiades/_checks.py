"""Checks of arguments that several parts of the package share."""

import math
import numbers


def check_dt(dt, name: str = "dt") -> int:
    """Returns a duration in whole microseconds, or says what is wrong with it.

    Args:
        dt: An integer, a NumPy integer, or a float that is a whole number.
        name: The argument's name in the error message.

    Example:
        >>> check_dt(10_000.0)
        10000
        >>> check_dt(0.005)
        Traceback (most recent call last):
        ValueError: `dt` must be a positive whole number of MICROSECONDS ... Received: dt=0.005
    """
    whole = (
        isinstance(dt, numbers.Real)
        and not isinstance(dt, bool)
        and math.isfinite(dt)
        and dt == int(dt)
        and dt > 0
    )
    if not whole:
        raise ValueError(
            f"`{name}` must be a positive whole number of MICROSECONDS (10 ms is 10_000). "
            f"Received: {name}={dt!r}"
        )
    return int(dt)

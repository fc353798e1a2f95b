"""Checks of arguments that several rooms of the house share."""

import math
import numbers
from typing import TypeVar

Choice = TypeVar("Choice")


def check_dt(dt: int, name: str = "dt") -> int:
    """Return a duration as a plain `int` of microseconds, or say what is wrong with it.

    >>> check_dt(10_000)
    10000
    >>> check_dt(0.005)
    Traceback (most recent call last):
    ...
    ValueError: `dt` must be a whole, positive number of MICROSECONDS, the unit of event time
    stamps. Received: dt=0.005. If seconds were meant, write dt=5_000.
    """
    is_number = isinstance(dt, numbers.Real) and not isinstance(dt, bool)
    if is_number and math.isfinite(dt) and dt > 0 and dt == int(dt):
        return int(dt)
    hint = f" For 10 ms write {name}=10_000."
    if is_number and math.isfinite(dt) and 0 < dt < 1 and round(dt * 1e6) > 0:
        hint = f" If seconds were meant, write {name}={round(dt * 1e6):_}."
    raise ValueError(
        f"`{name}` must be a whole, positive number of MICROSECONDS, the unit of event time "
        f"stamps. Received: {name}={dt!r}.{hint}"
    )


def check_choice(value: Choice, choices: tuple[Choice, ...], name: str) -> Choice:
    """Return `value` if it is one of `choices`, or name them all in the error."""
    if value not in choices:
        raise ValueError(f"`{name}` must be one of {choices}. Received: {name}={value!r}")
    return value


def check_channels(input_shape: tuple) -> int:
    """Return the last size of a layer's input shape, or say that it must be known."""
    channels = input_shape[-1]
    if channels is None:
        raise ValueError(
            "The number of channels must be known: inputs are (batch, time, height, width, "
            f"channels). Received: input_shape={tuple(input_shape)}"
        )
    return channels

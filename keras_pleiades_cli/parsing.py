"""A parser whose errors are one line, and the types of options."""

import argparse

from keras_pleiades_cli.errors import UserError


class Parser(argparse.ArgumentParser):
    """Raises `UserError` where argparse would print its usage and leave; shows examples as typed.

    Args:
        examples: Commands shown at the end of `--help`.
        **kwargs: As in `argparse.ArgumentParser`.
    """

    def __init__(self, examples: tuple[str, ...] = (), **kwargs):
        if examples:
            kwargs["epilog"] = "\n".join(["examples:", *(f"  {line}" for line in examples)])
        super().__init__(
            formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **kwargs
        )

    def error(self, message: str):
        """Say what is wrong on one line, and where to read more."""
        command = self.prog.removeprefix("keras-pleiades").strip()
        raise UserError(f"{command}: {message}. See {self.prog} --help" if command else message)


def microseconds(text: str) -> int:
    """Read a duration.

    Example:
        >>> microseconds("10_000")
        10000
    """
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(
            f"expected whole MICROSECONDS, such as 10_000 for 10 ms; received {text!r}"
        )
    return value


def time(text: str) -> tuple[bool, int]:
    """Read a time: on the file's own clock, or with a plus sign from the recording's beginning.

    Returns:
        Whether it counts from the beginning, and the microseconds.

    Example:
        >>> time("1_500_000"), time("+500_000")
        ((False, 1500000), (True, 500000))
    """
    try:
        return text.startswith("+"), int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            "expected whole microseconds on the file's own clock, or +MICROSECONDS from the "
            f"recording's beginning; received {text!r}"
        ) from None


def size(text: str) -> tuple[int, int]:
    """Read a height and a width.

    Example:
        >>> size("480x640")
        (480, 640)
    """
    height, _, width = text.lower().partition("x")
    if not (height.isdigit() and width.isdigit() and int(height) and int(width)):
        raise argparse.ArgumentTypeError(
            f"expected HEIGHTxWIDTH in pixels, such as 480x640; received {text!r}"
        )
    return int(height), int(width)


def positive(text: str) -> float:
    """Read a positive number.

    Example:
        >>> positive("0.1")
        0.1
    """
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a positive number; received {text!r}")
    return value


def names(text: str) -> list[str]:
    """Read names between commas.

    Example:
        >>> names("up, down")
        ['up', 'down']
    """
    return [name.strip() for name in text.split(",")]


def count(text: str) -> int:
    """Read how many: a whole number from 1 on.

    Example:
        >>> count("5")
        5
    """
    if not (text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on; received {text!r}")
    return int(text)


def natural(text: str) -> int:
    """Read a seed: a whole number from 0 on.

    Example:
        >>> natural("0")
        0
    """
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 on; received {text!r}")
    return int(text)

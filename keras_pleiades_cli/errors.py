"""What goes wrong, as one line and an exit code."""

GOOD, FAILED, MISTAKE, INTERRUPTED = 0, 1, 2, 130

# What the package raises over arguments and files that it was given.
_MISTAKES = (
    ValueError,
    FileNotFoundError,
    FileExistsError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
)
# Nobody's mistake, and the message says all: no network, a full disk, a package that is missing.
_FAILURES = (OSError, ImportError, FloatingPointError)


class UserError(ValueError):
    """A mistake in what was typed."""


def exit_code(error: BaseException) -> int:
    """Return 2 for a user's mistake, 1 for anything else.

    Example:
        >>> exit_code(FileNotFoundError("no such file")), exit_code(KeyError("bug"))
        (2, 1)
    """
    return MISTAKE if isinstance(error, _MISTAKES) else FAILED


def one_line(error: BaseException) -> str:
    r"""Return an error's message on one line.

    Example:
        >>> one_line(ValueError("expected this.\n  Received: that"))
        'expected this. Received: that'
        >>> one_line(FileNotFoundError(2, "No such file or directory", "rec.raw"))
        'rec.raw: No such file or directory'
    """
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    text = " ".join(str(error).split())
    if isinstance(error, (*_MISTAKES, *_FAILURES)) and text:
        return text
    return f"unexpected {type(error).__name__}: {text} (--debug shows where)"

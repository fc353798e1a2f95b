"""Imports keras_pleiades, and keeps stderr for the user while native libraries start."""

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator

# Such as "I0000 00:00:1794856088.312719   29864 cudart_stub.cc:31] Could not find cuda drivers".
_NATIVE = re.compile(rb"WARNING: All log messages before absl::|[IW]\d{4} \d\d:\d\d:[\d.]+ +\d+ ")


def load_package():
    """Return the module `keras_pleiades`; only here is it imported, when a command needs it."""
    with quiet():
        import keras_pleiades
    return keras_pleiades


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Leave out what TensorFlow says of itself; all else is on stderr when this ends.

    Where it is installed TensorFlow is imported on other backends too, with the package or with
    the first network. It writes of drivers before it reads the variable that would silence it, and
    not through Python: so it is the file descriptor that is turned away.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)
            said.seek(0)
            for line in said:
                if not _NATIVE.match(line):
                    os.write(2, line)

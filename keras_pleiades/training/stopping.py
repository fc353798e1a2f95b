"""How a run is asked to stop, and says that it has."""

import contextlib
import signal
import threading


class Interrupted(Exception):
    """The run was asked to stop (ctrl-C), and has saved its state."""


@contextlib.contextmanager
def stop_requests():
    """Turn the first ctrl-C, or a termination, into a request; the second ctrl-C stops at once."""
    requested = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield requested
        return

    def request(number, frame):
        if requested.is_set():
            raise KeyboardInterrupt
        requested.set()
        print("\nStopping after this step. Press ctrl-C again to stop at once.", flush=True)

    before = {one: signal.signal(one, request) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield requested
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)

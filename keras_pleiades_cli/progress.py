"""A line on the terminal that says how far a command is and how long it will still take."""

import sys
import time


class Progress:
    """Shows nothing where stderr is no terminal, so that logs and pipes stay clean.

    Args:
        total: What `update` will reach.
    """

    def __init__(self, total: float):
        self.total = max(total, 1)
        self._terminal = sys.stderr.isatty()
        self._first: float | None = None
        self._started: float | None = None
        self._shown = 0.0

    def update(self, done: float) -> None:
        """Show that `done` of `total` are done."""
        if not self._terminal:
            return
        now = time.monotonic()
        if self._started is None:  # what compiles comes before the first: it is not counted
            self._first, self._started = done, now
        if now - self._shown < 0.1:
            return
        self._shown = now
        part = min(max(done / self.total, 0.0), 1.0)
        bar = ("=" * int(30 * part)).ljust(30, ".")
        left = "?"
        if done > self._first:
            seconds = (now - self._started) / (done - self._first) * max(self.total - done, 0)
            left = f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"
        sys.stderr.write(f"\r\033[K[{bar}] {part:4.0%}  left {left}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away, before another is printed and at the end."""
        if self._terminal and self._shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
            self._shown = 0.0

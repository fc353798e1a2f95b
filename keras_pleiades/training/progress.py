"""What a run says while it goes: a line that changes, and a table of epochs."""

import csv
import pathlib
import sys
import time

from keras_pleiades.training.checkpoint import write_atomically


class ProgressLine:
    """One line with the loss, the metrics and the time left; a terminal overwrites it.

    Elsewhere a line is printed every half minute, and one at the end of each epoch.

    Args:
        epochs: Of the whole run.
        steps: Of an epoch.
        done: Steps that were done before, in the run that is continued.
    """

    def __init__(self, epochs: int, steps: int, done: int = 0):
        self.epochs, self.steps, self.done, self.first = epochs, steps, done, done
        self._terminal = sys.stdout.isatty()
        self._last = time.monotonic()
        self._started: float | None = None

    def step(self, epoch: int, step: int, logs: dict) -> None:
        """Show that `step` of `steps` of an epoch are done."""
        now = time.monotonic()
        self.done = epoch * self.steps + step
        if self._started is None:  # the first step compiles: time is counted from its end
            self._started, self.first = now, self.done
        due = 0.1 if self._terminal else 30.0
        if now - self._last < due and step < self.steps:
            return
        self._last = now
        if self._terminal or step < self.steps:
            self._print(self._line(epoch, step, logs, now), end="" if self._terminal else "\n")

    def epoch(self, epoch: int, logs: dict) -> None:
        """Show an epoch's results on a line that stays."""
        now = time.monotonic()
        self._print(self._line(epoch, self.steps, logs, now), end="\n")

    def _line(self, epoch, step, logs, now):
        width = 20
        full = width * step // self.steps
        bar = "=" * full + "." * (width - full)
        numbers = "  ".join(f"{name} {value:.4g}" for name, value in logs.items())
        since = self.done - self.first
        left = "?"
        if since > 0:
            seconds = (now - self._started) / since * (self.epochs * self.steps - self.done)
            left = f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"
        count = f"{step:>{len(str(self.steps))}}/{self.steps}"
        return f"epoch {epoch + 1}/{self.epochs} [{bar}] {count}  {numbers}  left {left}"

    def _print(self, line, end):
        if self._terminal:
            line = f"\r\033[K{line}"
        print(line, end=end, flush=True)


def write_csv(rows: list[dict], path: pathlib.Path) -> None:
    """Write one row an epoch; all of them every time, so that no row is lost or doubled."""

    def write(temporary):
        with open(temporary, "w", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)

    write_atomically(path, write)


def tensorboard_writer(folder: pathlib.Path):
    """Return a function `(step, numbers)` that writes TensorBoard's files.

    TensorFlow writes them where it is installed, torch where its `tensorboard` is.
    """
    try:
        import tensorflow as tf
    except ImportError:
        pass
    else:
        writer = tf.summary.create_file_writer(str(folder))
        # What tf.summary.scalar does, but that needs the package tensorboard.
        kind = tf.compat.v1.SummaryMetadata()
        kind.plugin_data.plugin_name = "scalars"

        def write(step, numbers):
            with writer.as_default():
                for name, value in numbers.items():
                    tf.summary.write(name, tf.constant(value, tf.float32), step, metadata=kind)
            writer.flush()

        return write
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise ImportError(
            "training.tensorboard=true needs TensorFlow, or torch with the package tensorboard."
        ) from error
    summary = SummaryWriter(str(folder))

    def write_with_torch(step, numbers):
        for name, value in numbers.items():
            summary.add_scalar(name, value, step)
        summary.flush()

    return write_with_torch

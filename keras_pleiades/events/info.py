"""What a recording holds, found in one pass and bounded memory."""

import os
from dataclasses import dataclass

import numpy as np

from keras_pleiades.events.read import open_recording


@dataclass(frozen=True)
class Info:
    """What a recording holds.

    Attributes:
        path: The file.
        format: The format found by content.
        sensor: (height, width) where the file knows it, else None.
        extent: (height, width) that the events themselves reach: largest y and x plus 1.
        events: How many events.
        start_us: Earliest time; None without events.
        end_us: Latest time; None without events.
        on_fraction: Part of the events with polarity ON; None without events.
    """

    path: str
    format: str
    sensor: tuple[int, int] | None
    extent: tuple[int, int]
    events: int
    start_us: int | None
    end_us: int | None
    on_fraction: float | None

    @property
    def duration_us(self) -> int:
        """From the earliest event to the latest, both included; 0 without events."""
        return 0 if self.start_us is None else self.end_us - self.start_us + 1

    @property
    def rate_hz(self) -> float:
        """Events per second; 0 without events."""
        return self.events / (self.duration_us / 1e6) if self.events else 0.0

    def __str__(self) -> str:
        sensor = self.sensor or self.extent
        known = "" if self.sensor else " (reached by the events; the file does not say)"
        lines = [
            f"{self.path}: {self.format}",
            f"  sensor    {sensor[0]} rows x {sensor[1]} columns{known}",
            f"  events    {self.events:,}",
        ]
        if self.events:
            lines += [
                f"  duration  {self.duration_us / 1e6:.6f} s, from {self.start_us:,} us",
                f"  rate      {self.rate_hz:,.0f} events/s",
                f"  polarity  {self.on_fraction:.1%} ON",
            ]
        return "\n".join(lines)


def info(path: str | os.PathLike) -> Info:
    r"""Reads through a recording of any length and says what it holds.

    Args:
        path: The recording.

    Returns:
        An `Info`; printed, it is a short report.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "two.csv")
        >>> _ = path.write_text("t,x,y,p\n10,3,0,1\n25,4,1,0\n")
        >>> found = info(path)
        >>> found.format, found.events, found.duration_us, found.extent, found.on_fraction
        ('CSV', 2, 16, (2, 5), 0.5)
    """
    recording = open_recording(path)
    count = on = rows = columns = 0
    start = end = None
    for block in recording.blocks():
        if not len(block):
            continue
        first, last = int(block["t"].min()), int(block["t"].max())
        start = first if start is None else min(start, first)
        end = last if end is None else max(end, last)
        rows = max(rows, int(block["y"].max()) + 1)
        columns = max(columns, int(block["x"].max()) + 1)
        count += len(block)
        on += int(np.count_nonzero(block["p"]))
    return Info(
        path=os.fspath(path),
        format=recording.format,
        sensor=recording.sensor,
        extent=(rows, columns),
        events=count,
        start_us=start,
        end_us=end,
        on_fraction=on / count if count else None,
    )

"""Draws answers as `predict` does, with the truth beside them."""

from collections.abc import Iterable

import numpy as np

from keras_pleiades_cli.demo.drawing import animation
from keras_pleiades_cli.demo.recordings import Recording

FPS = 12.0
INK, RIGHT, WRONG = (20, 20, 20), (0, 130, 60), (190, 30, 30)
TRUE = (90, 90, 90)  # the truth is grey, as the network's colours are taken


class TruthBeside:
    """A reader of answers, see `keras_pleiades_cli.answers`, whose rows know the truth too.

    Args:
        reader: Draws the answer.
    """

    def __init__(self, reader):
        self._reader = reader

    def text(self, row: dict) -> str:
        """Return the answer in words."""
        return self._reader.text(row)

    def draw(self, canvas, row: dict) -> None:
        """Draw the truth, and the answer over it."""
        truth = row["truth"]
        if isinstance(truth, str):
            colour = RIGHT if row["label"] == truth else WRONG
            canvas.pen.text((8, 6), f"truth: {truth}", fill=colour, font=canvas.font)
        elif isinstance(truth, tuple):
            x, y = canvas.place(*truth)
            canvas.pen.ellipse((x - 14, y - 14, x + 14, y + 14), outline=INK, width=2)
        elif truth is not None:
            for left, top, right, bottom in truth:
                corners = *canvas.place(left, top), *canvas.place(right, bottom)
                canvas.pen.rectangle(corners, outline=TRUE, width=1)
        self._reader.draw(canvas, row)


def animate(
    recording: Recording, reader, rows: Iterable[dict], speed: float, longest: int = 400
) -> str:
    """Return a recording with answers and truth, as a `data:` address.

    Args:
        recording: The events.
        reader: What made the rows.
        rows: Answers, each with its `truth`: a name, a point, boxes by their corners, or None.
        speed: 0.5 is half as fast as it was.
        longest: About how many pixels the longer side gets.
    """
    from keras_pleiades.streaming import bin_online
    from keras_pleiades_cli.video import Canvas, pictures

    canvas = Canvas(recording.sensor, TruthBeside(reader), start_us=0, longest=longest)
    dt = round(speed * 1e6 / FPS)
    whole = recording.events[: np.searchsorted(recording.events["t"], recording.duration_us)]
    bins = bin_online([whole], dt, recording.sensor, canvas.shape, start_us=0)
    return animation(pictures(rows, bins, dt, canvas), FPS)

"""Draws events and what the network says of them, picture by picture."""

import collections
from collections.abc import Iterable, Iterator

import numpy as np

INK, PALE, CURVE = (20, 20, 20), (150, 150, 150), (0, 130, 60)
STRIP = 72  # pixels below the events: a line of text, and the confidence of the last seconds
LEAST_WIDTH = 400  # the longest label fits
HISTORY_US = 3_000_000


class Canvas:
    """Makes pictures of one size.

    Args:
        sensor: (height, width) of the sensor.
        reader: What draws answers, see `keras_pleiades_cli.answers`.
        start_us: Time that is shown as 0.
        longest: About how many pixels the longer side of the events gets.
    """

    def __init__(self, sensor: tuple[int, int], reader, start_us: int, longest: int = 640):
        try:
            from PIL import Image, ImageDraw, ImageFont
        except ImportError as error:
            raise ImportError(
                "Drawing answers needs Pillow: pip install 'keras-pleiades[images]'. Answers as "
                ".json or .csv do not."
            ) from error
        self._image, self._draw = Image, ImageDraw
        self.font, self.small = ImageFont.load_default(size=16), ImageFont.load_default(size=12)
        self.reader, self._start_us = reader, start_us
        side = max(sensor)
        # Events of a large sensor are counted in larger pixels; a small one's are enlarged.
        height, width = (max(1, round(n * min(1.0, longest / side))) for n in sensor)
        self.shape = height, width
        self.zoom = max(1, longest // side)
        self._scale = self.zoom * self.shape[1] / sensor[1], self.zoom * self.shape[0] / sensor[0]
        self._history = collections.deque()

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point of the sensor is in the picture."""
        return x * self._scale[0], y * self._scale[1]

    def remember(self, row: dict) -> None:
        """Take a row into the curve of confidences."""
        if self._history and self._history[-1]["segment"] != row["segment"]:
            self._history.clear()
        if "confidence" in row:
            self._history.append(row)
            while self._history[0]["t_us"] < row["t_us"] - HISTORY_US:
                self._history.popleft()

    def picture(self, frame: np.ndarray, t_us: int, row: dict | None) -> np.ndarray:
        """Return a picture, `(height, width, 3)` uint8, of one frame's events and an answer."""
        from keras_pleiades import plots

        events = plots.render(frame[None])[0].repeat(self.zoom, axis=0).repeat(self.zoom, axis=1)
        height, width = events.shape[:2]
        # Video codecs want even sides.
        size = max(width + width % 2, LEAST_WIDTH), height + height % 2 + STRIP
        image = self._image.new("RGB", size, "white")
        image.paste(self._image.fromarray(events), (0, 0))
        self.pen = self._draw.Draw(image)
        if row is not None:
            self.reader.draw(self, row)
        self.pen.rectangle((0, height, *size), fill="white")  # boxes may reach down here
        self.pen.line((0, height, size[0], height), fill=PALE)
        self._write(height, size[0], t_us, row)
        return np.asarray(image)

    def _write(self, top, width, t_us, row):
        time = f"{(t_us - self._start_us) / 1e6:.2f} s"
        said, colour = "", INK
        if row is not None:
            said = self.reader.text(row)
            colour = INK if row["ready"] else PALE
        self.pen.text((6, top + 6), f"{time:<10}", fill=INK, font=self.font)
        self.pen.text((84, top + 6), " ".join(said.split()), fill=colour, font=self.font)
        if not self._history:
            return
        base, span = top + STRIP - 6, STRIP - 36
        self.pen.line((6, base, width - 6, base), fill=PALE)
        curve = [
            (
                width - 6 - (t_us - one["t_us"]) / HISTORY_US * (width - 12),
                base - span * one["confidence"],
            )
            for one in self._history
        ]
        if len(curve) > 1:
            self.pen.line(curve, fill=CURVE, width=2)


def pictures(rows: Iterable[dict], bins: Iterable, dt: int, canvas: Canvas) -> Iterator:
    """Yield a picture for each bin, with the last answer that was known at its end.

    Args:
        rows: Answers in their order; all of them are taken.
        bins: `Bins` of the same events, in the canvas' shape; see `streaming.bin_online`.
        dt: Their length.
        canvas: Draws them.
    """
    rows = iter(rows)
    row, coming = None, next(rows, None)
    for part in bins:
        for i, frame in enumerate(part.frames):
            end = part.start_us + (i + 1) * dt
            while coming is not None and (coming["segment"], coming["t_us"]) <= (part.segment, end):
                row, coming = coming, next(rows, None)
                canvas.remember(row)
            known = row is not None and row["segment"] == part.segment
            yield canvas.picture(frame, end, row if known else None)
    for _ in rows:  # their bins end after the last picture
        pass

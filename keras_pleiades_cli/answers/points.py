"""A point a frame, in pixels of the sensor."""

from keras_pleiades_cli.answers.row import Reader, in_words, rounded, row_of

GREEN = (0, 130, 60)  # apart from the events' red and blue


class Points(Reader):
    """Reads a tracker's heatmaps.

    The point is held while too little happens to see it: see `keras_pleiades.decode.HoldFilter`.

    Args:
        model: The tracker.
        sensor: (height, width) of the sensor.
    """

    columns = ("t_us", "segment", "ready", "x", "y", "confidence")

    def __init__(self, model, sensor: tuple[int, int]):
        from keras_pleiades import decode

        super().__init__()
        self._decode, self._strides = decode.points, decode.output_strides(model)
        height, width = model.input_shape[2:4]
        self._held = decode.HoldFilter(model.dt)
        self._scale = sensor[1] / width, sensor[0] / height
        self.forget()

    def restart(self) -> None:
        """Forget where the point was."""
        self._held.reset()

    def answer(self, prediction) -> dict:
        """Return the point and its confidence."""
        point, score = self._decode(prediction.output, self._strides)
        x, y = self._held.update(point, score, prediction.events)
        x, y = round(float(x * self._scale[0]), 2), round(float(y * self._scale[1]), 2)
        return row_of(prediction, x=x, y=y, confidence=rounded(score))

    def text(self, row: dict) -> str:
        """Return a row in words."""
        return f"x {row['x']:7.1f}  y {row['y']:7.1f}  {row['confidence']:.2f}"

    def forget(self) -> None:
        """Forget what was counted."""
        self._count = 0
        self._sums = dict.fromkeys(("x", "y", "confidence"), 0.0)
        self._least, self._most = {}, {}

    def count(self, row: dict) -> None:
        """Count a row."""
        self._count += 1
        for name in self._sums:
            self._sums[name] += row[name]
            self._least[name] = min(self._least.get(name, row[name]), row[name])
            self._most[name] = max(self._most.get(name, row[name]), row[name])

    def summary(self) -> dict:
        """Return mean and range of the point, and the mean confidence."""
        mean = {name: round(total / self._count, 2) for name, total in self._sums.items()}
        return {
            "x": {"mean": mean["x"], "range": [self._least["x"], self._most["x"]]},
            "y": {"mean": mean["y"], "range": [self._least["y"], self._most["y"]]},
            "confidence": mean["confidence"],
        }

    def summary_text(self) -> str:
        """Return the summary in words."""
        found = self.summary()
        (left, right), (top, bottom) = found["x"]["range"], found["y"]["range"]
        return (
            f"{in_words(self.counted, 'frame')}: x from {left:.0f} to {right:.0f}, y from "
            f"{top:.0f} to {bottom:.0f} pixels, mean confidence {found['confidence']:.2f}"
        )

    def draw(self, canvas, row: dict) -> None:
        """Draw a ring with a cross in it."""
        x, y = canvas.place(row["x"], row["y"])
        for radius in (9, 10):
            canvas.pen.ellipse((x - radius, y - radius, x + radius, y + radius), outline=GREEN)
        canvas.pen.line((x - 15, y, x + 15, y), fill=GREEN, width=2)
        canvas.pen.line((x, y - 15, x, y + 15), fill=GREEN, width=2)

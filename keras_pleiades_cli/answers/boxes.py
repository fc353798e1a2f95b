"""Boxes, any number a frame, in pixels of the sensor."""

import collections

from keras_pleiades_cli.answers.row import Reader, in_words, rounded, row_of


class Boxes(Reader):
    """Reads a detector's heatmaps.

    Args:
        model: The detector.
        labels: A name for each class.
        sensor: (height, width) of the sensor.
        min_score: Boxes of a lower score are left out.
    """

    columns = (
        *("t_us", "segment", "ready", "label", "confidence"),
        *("left", "top", "width", "height"),
    )

    def __init__(self, model, labels: list[str], sensor: tuple[int, int], min_score: float):
        from keras_pleiades import decode

        super().__init__()
        self.labels, self._min_score = labels, min_score
        self._decode, self._strides = decode.boxes, decode.output_strides(model)
        height, width = model.input_shape[2:4]
        self._scale = sensor[1] / width, sensor[0] / height
        self.forget()

    def answer(self, prediction) -> dict:
        """Return the boxes, best first."""
        found = self._decode(
            prediction.output, len(self.labels), self._strides, min_score=self._min_score
        )
        return row_of(prediction, boxes=[self._box(*box) for box in found.tolist()])

    def _box(self, y, x, height, width, label, score):
        across, down = self._scale
        return {
            "label": self.labels[int(label)],
            "confidence": rounded(score),
            "left": round((x - width / 2) * across, 2),
            "top": round((y - height / 2) * down, 2),
            "width": round(width * across, 2),
            "height": round(height * down, 2),
        }

    def records(self, row: dict) -> list[dict]:
        """Return a line a box."""
        when = {name: row[name] for name in ("t_us", "segment", "ready")}
        return [{**when, **box} for box in row["boxes"]]

    def text(self, row: dict) -> str:
        """Return a row in words."""
        found = collections.Counter(box["label"] for box in row["boxes"])
        return ", ".join(f"{n} {label}" for label, n in found.most_common()) or "nothing"

    def forget(self) -> None:
        """Forget what was counted."""
        self._boxes = collections.Counter()

    def count(self, row: dict) -> None:
        """Count a row."""
        self._boxes.update(box["label"] for box in row["boxes"])

    def summary(self) -> dict:
        """Return how many boxes there were, by class."""
        return {
            "boxes": self._boxes.total(),
            "boxes_per_frame": rounded(self._boxes.total() / self.counted),
            "labels": dict(self._boxes.most_common()),
        }

    def summary_text(self) -> str:
        """Return the summary in words."""
        found = self.summary()
        labels = ", ".join(f"{n:,} {label}" for label, n in found["labels"].items())
        return (
            f"{in_words(found['boxes'], 'box', 'boxes')} in {in_words(self.counted, 'frame')}"
            f"{f' ({labels})' if labels else ''} with a score from {self._min_score:g}"
        )

    def draw(self, canvas, row: dict) -> None:
        """Draw the boxes, the best on top."""
        from keras_pleiades.plots import CLASS_COLOURS

        for box in reversed(row["boxes"]):
            colour = CLASS_COLOURS[self.labels.index(box["label"]) % len(CLASS_COLOURS)]
            left, top = canvas.place(box["left"], box["top"])
            right, bottom = canvas.place(box["left"] + box["width"], box["top"] + box["height"])
            canvas.pen.rectangle((left, top, right, bottom), outline=colour, width=2)
            text = f"{box['label']} {box['confidence']:.2f}"
            canvas.pen.text((left + 3, max(top - 14, 0)), text, fill=colour, font=canvas.small)

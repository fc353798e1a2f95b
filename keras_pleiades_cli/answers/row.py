"""What rows and readers of all families share."""

from typing import SupportsFloat


def row_of(prediction, **answer) -> dict:
    """Return a row: when, which stretch of the clock, whether the network has its context."""
    return {
        "t_us": int(prediction.t_us),
        "segment": int(prediction.segment),
        "ready": bool(prediction.ready),
        **answer,
    }


def rounded(value: SupportsFloat) -> float:
    """Return a plain number with as many digits as mean something."""
    return round(float(value), 4)


def in_words(number: int, one: str, many: str | None = None) -> str:
    """Return a number of things in words.

    Example:
        >>> in_words(1, "frame"), in_words(1169, "frame"), in_words(2, "box", "boxes")
        ('1 frame', '1,169 frames', '2 boxes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


class Reader:
    """Reads predictions in their order, and counts what it read.

    Frames at the beginning, in which the network still sees the zeros it starts with, are counted
    only where there are no others.
    """

    columns: tuple[str, ...]

    def __init__(self):
        self.frames = self.ready_frames = 0
        self._segment = None

    def read(self, prediction) -> dict:
        """Return the row of a prediction."""
        if prediction.segment != self._segment:
            self._segment = prediction.segment
            self.restart()
        row = self.answer(prediction)
        self.frames += 1
        if row["ready"] and not self.ready_frames:
            self.forget()
        if row["ready"] or not self.ready_frames:
            self.count(row)
        self.ready_frames += row["ready"]
        return row

    def answer(self, prediction) -> dict:
        """Return the row of a prediction, without counting it."""
        raise NotImplementedError

    def count(self, row: dict) -> None:
        """Add a row to the summary."""
        raise NotImplementedError

    def forget(self) -> None:
        """Forget the rows that were counted."""
        raise NotImplementedError

    def restart(self) -> None:
        """Begin anew after the clock did."""

    def changed(self, before: dict, row: dict) -> bool:
        """Return whether a row says something else than an earlier one."""
        return False

    def records(self, row: dict) -> list[dict]:
        """Return the lines of a table that a row makes."""
        return [row]

    @property
    def counted(self) -> int:
        """How many frames were counted."""
        return self.ready_frames or self.frames

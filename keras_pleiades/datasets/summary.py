"""What a data set says of itself."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Summary:
    """What a data set holds; printed, it is a short report.

    Attributes:
        name: Of the data set.
        files: How many recordings.
        clips: How many clips.
        batches: How many batches.
        clip_us: Length of a clip in microseconds, without its context.
        x_shape: Of a whole batch of frames.
        classes: How many clips of each class, by name; empty where clips have none.
        notes: What else there is to know.

    Example:
        >>> print(Summary("N-MNIST", 2, 2, 1, 300_000, (2, 30, 34, 34, 2), {"3": 2}))
        N-MNIST
          files     2
          clips     2 of 0.3 s, 0.6 s in all
          batches   1 of (2, 30, 34, 34, 2)
          3  2 clips
    """

    name: str
    files: int
    clips: int
    batches: int
    clip_us: int
    x_shape: tuple[int, ...]
    classes: dict[str, int]
    notes: tuple[str, ...] = ()

    @property
    def duration_us(self) -> int:
        """Length of all clips together, without their context."""
        return self.clips * self.clip_us

    def __str__(self) -> str:
        lines = [
            self.name,
            f"  files     {self.files:,}",
            f"  clips     {self.clips:,} of {self.clip_us / 1e6:g} s, {self.duration_us / 1e6:,.1f}"
            " s in all",
            f"  batches   {self.batches:,} of {self.x_shape}",
        ]
        width = max([len(name) for name in self.classes], default=0)
        lines += [f"  {name:<{width}}  {count:,} clips" for name, count in self.classes.items()]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

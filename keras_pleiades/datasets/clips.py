"""Clips: which part of which recording a sample is, and how recordings are cut and split."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

T = TypeVar("T")


@dataclass(frozen=True)
class Clip:
    """A number of frames out of one recording.

    Attributes:
        path: The recording.
        start_us: Where the first frame begins, on the recording's clock; the context lies before.
        frames: How many frames, without the context.
        end_us: Events at this time and later are left out, although frames go on; None for none.
        class_id: The clip's class, where it has one.
        counted_from: The first frame that counts; those before it belong to another clip too, and
            get the weight 0. See `cut`.
        member: Name of the file inside the archive `path`.

    Example:
        >>> Clip("user01.aedat", start_us=500_000, frames=150, class_id=3).frames
        150
    """

    path: str
    start_us: int
    frames: int
    end_us: int | None = None
    class_id: int | None = None
    counted_from: int = 0
    member: str = ""


def cut(total: int, frames: int, stride: int | None = None) -> list[tuple[int, int]]:
    """Cuts `total` frames into clips of `frames`: pairs of (first frame, first frame to count).

    Side by side (`stride == frames`) every frame is counted exactly once: where the clips do not
    fit, the last one begins earlier and counts only what is new. With overlap all frames count.
    A recording shorter than a clip gives one clip, which goes on after the recording's end.

    Args:
        total: Frames in the recording.
        frames: Frames in a clip.
        stride: Frames from one clip's beginning to the next; `frames` by default.

    Example:
        >>> cut(10, frames=4)  # the last clip has frames 6 to 9, of which 8 and 9 are new
        [(0, 0), (4, 0), (6, 2)]
        >>> cut(10, frames=4, stride=2)
        [(0, 0), (2, 0), (4, 0), (6, 0)]
    """
    stride = frames if stride is None else stride
    if min(frames, stride) < 1:
        raise ValueError(
            "`frames` and `stride` must be at least 1. "
            f"Received: frames={frames!r}, stride={stride!r}"
        )
    if total < 1:
        return []
    starts = range(0, max(total - frames, 0) + 1, stride)
    cuts = [(start, 0) for start in starts]
    covered = starts[-1] + frames
    if covered < total and stride <= frames:
        last = total - frames
        cuts.append((last, covered - last if stride == frames else 0))
    return cuts


def split(items: Sequence[T], fraction: float, seed: int = 0) -> tuple[list[T], list[T]]:
    """Splits items at random in two, always the same way for the same seed.

    Both parts keep the order of the items.

    Args:
        items: Whatever is to be split.
        fraction: How much of it goes to the first part.
        seed: Of the draw.

    Example:
        >>> split(range(10), 0.8)
        ([0, 2, 3, 4, 5, 6, 7, 9], [1, 8])
    """
    if not 0 <= fraction <= 1:
        raise ValueError(f"`fraction` must be from 0 to 1. Received: fraction={fraction!r}")
    first = np.zeros(len(items), bool)
    first[np.random.default_rng(seed).permutation(len(items))[: round(fraction * len(items))]] = 1
    parts = ([], [])
    for item, is_first in zip(items, first, strict=True):
        parts[0 if is_first else 1].append(item)
    return parts

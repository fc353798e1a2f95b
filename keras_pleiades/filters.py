"""Filters over a network's answers, frame by frame, looking back only. NumPy."""

import collections
from typing import SupportsFloat

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from keras_pleiades._checks import check_dt


class MajorityFilter:
    """The label that most frames of the last `window_us` voted for, frame by frame.

    Of labels with as many votes, the one voted for last wins. The paper's window is 0.15 s.

    Args:
        window_us: How far to look back, in microseconds; the newest frame included.
        dt: Bin size in microseconds.

    Example:
        >>> filtered = MajorityFilter(window_us=30_000, dt=10_000)
        >>> [filtered.update(one) for one in np.eye(3)[[0, 0, 1, 1, 2, 1]]]
        [0, 0, 0, 1, 1, 1]
    """

    def __init__(self, window_us: int, dt: int):
        self.window_us, self.dt = check_dt(window_us, "window_us"), check_dt(dt)
        self.frames = max(1, self.window_us // self.dt)
        self.reset()

    def reset(self) -> None:
        """Forget all frames."""
        self._votes = collections.deque(maxlen=self.frames)

    def update(self, frame_logits: np.ndarray) -> int:
        """Take one frame's logits `(num_classes,)` and return the label now."""
        self._votes.append(int(np.argmax(frame_logits)))
        count = collections.Counter(self._votes)
        most = max(count.values())
        return next(label for label in reversed(self._votes) if count[label] == most)


class ExponentialFilter:
    """Probabilities whose weight falls by e every `tau_us`, frame by frame.

    The average starts at the first frame, so that it sums to 1 from there on.

    Args:
        tau_us: Time constant in microseconds.
        dt: Bin size in microseconds.

    Example:
        >>> filtered = ExponentialFilter(tau_us=150_000, dt=10_000)
        >>> filtered.update(np.array([5.0, 0.0])).round(3).tolist()
        [0.993, 0.007]
        >>> filtered.update(np.array([0.0, 5.0])).round(3).tolist()  # one frame of 10 ms
        [0.93, 0.07]
    """

    def __init__(self, tau_us: int, dt: int):
        self.tau_us, self.dt = check_dt(tau_us, "tau_us"), check_dt(dt)
        self.keep = float(np.exp(-self.dt / self.tau_us))
        self.reset()

    def reset(self) -> None:
        """Forget all frames."""
        self._mean = None

    def update(self, frame_logits: np.ndarray) -> np.ndarray:
        """Take one frame's logits `(num_classes,)` and return the averaged probabilities."""
        new = softmax(np.asarray(frame_logits, np.float64))
        mean = new if self._mean is None else self.keep * self._mean + (1 - self.keep) * new
        self._mean = mean
        return mean.copy()


def filter_clip(logits: np.ndarray, by: MajorityFilter | ExponentialFilter) -> np.ndarray:
    """Filter a whole clip, frame by frame, and return labels.

    Args:
        logits: `(..., time, num_classes)`.
        by: A filter, which is reset before each clip and after the last.

    Returns:
        Labels `(..., time)`.

    Example:
        >>> logits = np.eye(2)[None, [0, 0, 1, 0]]
        >>> filter_clip(logits, MajorityFilter(150_000, 10_000)).tolist()
        [[0, 0, 0, 0]]
    """
    logits = np.asarray(logits)
    clips = logits.reshape(-1, *logits.shape[-2:])
    labels = np.empty(clips.shape[:2], np.int64)
    for clip, out in zip(clips, labels, strict=True):
        by.reset()
        for t, frame in enumerate(clip):
            answer = by.update(frame)
            out[t] = answer if np.ndim(answer) == 0 else np.argmax(answer)
    by.reset()
    return labels.reshape(logits.shape[:-1])


class HoldFilter:
    r"""A point that stays where it was while too little happens for the network to see it.

    An event camera sees an eye only while something moves. At rest a tracker soon knows no more
    than what eyes look like on average, and its point drifts; but an eye that causes no events has
    not moved either. So a point counts as much as there is to see now, beside what there was to
    see lately. With $n$ the frame's events, averaged over `look_us`, and $s$ the point's score,

    $$e = n s^2 \qquad h = \max(e, h' e^{-dt / hold\_us}) \qquad
    g = \min(1, 2 e / h)^2$$

    and the answer moves by the part $g$ of the way to the point in 10 ms, all of it where $g = 1$.
    Only ratios of events count, so that cameras and bin sizes need no settings of their own.

    Args:
        dt: Bin size in microseconds.
        look_us: Time constant of the average of events.
        hold_us: Time constant with which what was seen loses its weight.

    Example:
        >>> held = HoldFilter(dt=10_000)
        >>> held.update([40.0, 30.0], score=0.9, events=800).tolist()
        [40.0, 30.0]
        >>> for _ in range(50):  # half a second in which hardly anything happens
        ...     x, y = held.update([64.0, 48.0], score=0.5, events=8)
        >>> bool(x < 56)  # it stays nearer to where it was seen well
        True
        >>> for _ in range(5):
        ...     answer = held.update([70.0, 20.0], score=0.9, events=900)  # it moves again
        >>> answer.tolist()
        [70.0, 20.0]
    """

    def __init__(self, dt: int, look_us: int = 40_000, hold_us: int = 800_000):
        self.dt = check_dt(dt)
        self.look_us, self.hold_us = check_dt(look_us, "look_us"), check_dt(hold_us, "hold_us")
        self._look = float(-np.expm1(-self.dt / self.look_us))
        self._keep = float(np.exp(-self.dt / self.hold_us))
        self.reset()

    def reset(self) -> None:
        """Forget all frames."""
        self._events = self._most = 0.0
        self._point: np.ndarray | None = None

    def update(self, point: ArrayLike, score: SupportsFloat, events: SupportsFloat) -> np.ndarray:
        """Take a frame's point and score, as `points` gives them, and return where it is now.

        Args:
            point: x and y, in any unit.
            score: From 0 to 1.
            events: How many events the frame has.
        """
        point = np.asarray(point, np.float64)
        self._events += self._look * (float(events) - self._events)
        seen = self._events * float(score) ** 2
        self._most = max(seen, self._most * self._keep)
        part = min(1.0, 2 * seen / self._most) ** 2 if self._most else 0.0
        last = point if self._point is None else self._point
        now = last + (1 - (1 - part) ** (self.dt / 10_000)) * (point - last)
        self._point = now
        return now.copy()


def hold_clip(
    points: np.ndarray, scores: np.ndarray, events: np.ndarray, by: HoldFilter
) -> np.ndarray:
    """Filter the points of whole clips, frame by frame.

    Args:
        points: `(..., time, 2)`.
        scores: `(..., time)`.
        events: `(..., time)`, how many events each frame has.
        by: A filter, which is reset before each clip and after the last.

    Returns:
        Points `(..., time, 2)`.

    Example:
        >>> points = np.array([[[40.0, 30.0], [64.0, 48.0]]])
        >>> hold_clip(points, np.ones((1, 2)), np.array([[800, 0]]), HoldFilter(dt=10_000)).shape
        (1, 2, 2)
    """
    points = np.asarray(points)
    clips = points.reshape(-1, *points.shape[-2:])
    scores, events = (np.reshape(one, clips.shape[:2]) for one in (scores, events))
    held = np.empty(clips.shape, np.float64)
    for number, clip in enumerate(clips):
        by.reset()
        for t, point in enumerate(clip):
            held[number, t] = by.update(point, scores[number, t], events[number, t])
    by.reset()
    return held.reshape(points.shape)

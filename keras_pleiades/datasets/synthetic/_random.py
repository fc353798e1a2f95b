"""Where the simulated tasks' random numbers come from: a seed, a split and a purpose."""

import numpy as np

from keras_pleiades._checks import check_choice

SPLITS = ("train", "validation", "test")
TASKS = ("gestures", "eyes", "roads")


def generator(task: str, split: str, *numbers: int) -> np.random.Generator:
    """Returns the generator of one task, one split and whatever further numbers name.

    The three form a `SeedSequence` spawn key, so that no two splits share a stream whatever their
    seeds: what is drawn for the test set was never drawn for training.

    Example:
        >>> a, b = (generator("eyes", split, 7).random() for split in ("train", "test"))
        >>> a == b, a == generator("eyes", "train", 7).random()
        (False, True)
    """
    check_choice(split, SPLITS, "split")
    if any(number < 0 for number in numbers):
        raise ValueError(f"A seed must not be negative. Received: {numbers}")
    key = (TASKS.index(task), SPLITS.index(split), *(int(number) for number in numbers))
    return np.random.default_rng(np.random.SeedSequence(entropy=0x504C4549, spawn_key=key))


def draw(ranges: dict, rng: np.random.Generator) -> dict:
    """Returns one value for each entry of a dictionary, drawn in its order.

    Args:
        ranges: `(low, high)` is drawn uniformly, `(low, high, "log")` so that its logarithm is
            uniform; anything else is the value itself.
        rng: Gives one number for each range.

    Example:
        >>> draw({"side": 1, "scale": (2.0, 2.0), "rate": (1, 1, "log")}, np.random.default_rng(0))
        {'side': 1, 'scale': 2.0, 'rate': 1.0}
    """
    return {name: _draw_one(value, rng) for name, value in ranges.items()}


def _draw_one(value, rng):
    if not isinstance(value, tuple):
        return value
    if len(value) == 3:
        low, high, _ = value
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))
    return rng.uniform(*value)


def check_changes(changes: dict, *ranges: dict) -> None:
    """Raises an error over names that none of the dictionaries of ranges has."""
    for name in changes:
        if not any(name in known for known in ranges):
            known = ", ".join(name for known in ranges for name in known)
            raise ValueError(f"{name!r} is none of the values that can be changed: {known}")


def smooth_noise(rng: np.random.Generator, t: np.ndarray, rate: float, count: int = 1):
    """Returns `count` slow random signals (len(t), count) of about unit size, below `rate` Hz."""
    frequency = rng.uniform(0.15, 1, (6, count)) * rate
    phase, size = rng.uniform(0, 2 * np.pi, (6, count)), rng.normal(size=(6, count))
    waves = np.sin(2 * np.pi * frequency * t[:, None, None] + phase) * size
    return waves.sum(axis=1) / 1.7


def frame_times(t: np.ndarray, moved: np.ndarray, step: float, longest_us: float) -> np.ndarray:
    """Returns which of fine times to render: so that nothing moves far between two frames.

    Args:
        t: Fine times, microseconds, (N,).
        moved: Pixels that the fastest part moved since the time before, (N,).
        step: Largest motion between rendered frames, in pixels.
        longest_us: Longest time between rendered frames.

    Returns:
        Ascending indices into `t`, the first and the last among them.

    Example:
        >>> moved = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1.0])
        >>> frame_times(np.arange(9) * 1000, moved, step=1.5, longest_us=4000)
        array([0, 4, 6, 7, 8])
    """
    # A clock that runs with time and with motion; a frame at each of its whole strokes.
    clock = np.cumsum(np.maximum(np.diff(t, prepend=t[0]) / longest_us, moved / step))
    strokes = np.floor(clock + 1e-9)
    chosen = np.flatnonzero(np.diff(strokes, prepend=-1) > 0)
    return np.unique(np.r_[0, chosen, len(t) - 1])

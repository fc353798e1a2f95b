"""Binning: events to frames."""

import operator

import numpy as np

from keras_pleiades._checks import check_choice, check_dt
from keras_pleiades.events.dtype import check_events, check_sensor
from keras_pleiades.events.shares import Shares

try:
    # `out += column @ [1]` for a sparse column adds every entry of it to `out`, in compiled code
    # and 32-bit numbers: measured 1.1 to 1.2 times as fast as `np.add.at`. It is in a module of
    # SciPy that is not public; without it, the same result comes slower.
    from scipy.sparse._sparsetools import csc_matvec
except ImportError:
    csc_matvec = None

# Events are binned so many at a time: what is computed for each then stays in the cache (measured:
# twice the speed of a million at a time), and memory beside the frames stays small.
PIECE = 1 << 16
# float32 counts exactly up to here; no more events than this are added one by one to a cell.
EXACT = 1 << 24
MAX_BYTES = 1 << 35


def to_frames(
    events: np.ndarray,
    dt: int,
    sensor: tuple[int, int],
    shape: tuple[int, int] | None = None,
    method: str = "count",
    start_us: int | None = None,
    frames: int | None = None,
    keep_last: bool = True,
    causal: bool = False,
    outside: str = "raise",
) -> np.ndarray:
    """Bins events into frames of `dt` microseconds, polarities apart.

    Frame k covers `[start + k * dt, start + (k + 1) * dt)`. Each event adds 1 in all to the frames,
    however it is spread:

    - `"count"`: all to the frame it falls into. Where `shape` differs from `sensor`, a pixel's
      event is shared among the cells that the pixel's square covers, by area; with a whole factor
      (128 to 64, say) that is one cell.
    - `"volume"`: linearly between the two frames, two rows and two columns whose centres are
      nearest, `max(0, 1 - |distance|)` along each axis (Zhu et al. 2019). At the borders of the
      picture, in front of the first frame's centre and behind the last one's, the nearest cell
      takes the whole.
    - `"volume"` with `causal=True`: an event at the part f of its frame gives 1 - f to it and f to
      the next one, so that no event changes a frame that ended before it. In the last frame, where
      there is no next one, it stays whole.

    Args:
        events: Events in any order; not changed.
        dt: Length of a frame in whole microseconds.
        sensor: (height, width) of the sensor.
        shape: (height, width) of the frames; the sensor's by default.
        method: "count" or "volume".
        start_us: Where the first frame begins; by default at the earliest event. Events before it
            are left out.
        frames: How many frames; by default as many as the events reach. Events after the last frame
            are left out.
        keep_last: Whether to keep a last frame that the events do not fill: its end lies after the
            latest event. Only asked where `frames` is not given.
        causal: Whether "volume" may look back only.
        outside: What to do with events outside the sensor: "raise" or "drop".

    Returns:
        float32 array (frames, height, width, 2); the last axis is OFF, ON.

    Example:
        >>> from keras_pleiades.events import make_events
        >>> events = make_events(t=[0, 4, 5, 12], x=[0, 0, 1, 1], y=[0, 0, 0, 0], p=[1, 1, 0, 1])
        >>> frames = to_frames(events, dt=10, sensor=(1, 2))
        >>> frames.shape
        (2, 1, 2, 2)
        >>> frames[0, 0].tolist()  # pixel 0: two ON events; pixel 1: one OFF event
        [[0.0, 2.0], [1.0, 0.0]]
        >>> to_frames(events, dt=10, sensor=(1, 2), keep_last=False).shape  # 12 us fill one frame
        (1, 1, 2, 2)
        >>> volume = to_frames(events[:1], 10, (1, 2), method="volume", start_us=-10, frames=3)
        >>> volume[:, 0, 0, 1].tolist()  # 0 us lies between the centres at -5 and 5 us
        [0.5, 0.5, 0.0]
    """
    dt = check_dt(dt)
    events = check_events(events)
    sensor = check_sensor(sensor)
    shape = sensor if shape is None else check_sensor(shape, "shape")
    check_choice(method, ("count", "volume"), "method")
    check_choice(outside, ("raise", "drop"), "outside")
    if causal and method != "volume":
        raise ValueError(
            "`causal` belongs to method='volume'; 'count' is causal in any case. "
            f"Received: causal={causal!r}, method={method!r}"
        )
    if events["t"].dtype.kind not in "iu":
        raise ValueError(
            "`events['t']` must be whole microseconds, of an integer type. "
            f"Received: dtype={events['t'].dtype}"
        )
    start, count = _span(events["t"], dt, start_us, frames, keep_last)
    size = 8 * count * shape[0] * shape[1]
    if size > MAX_BYTES:
        raise ValueError(
            f"{count} frames of {shape[0]}x{shape[1]} take {size / 2**30:.0f} GB. Give `frames`, a "
            f"longer `dt` (received: dt={dt}) or pieces from `iter_read`; or a timestamp is wrong"
        )
    all_in_time = start_us is None and frames is None and keep_last
    shares = Shares(dt, sensor, shape, start, count, outside, method, causal, all_in_time)
    out = np.zeros((count, *shape, 2), np.float32)
    for first in range(0, len(events), EXACT):
        part = out if first == 0 else np.zeros_like(out)
        for at in range(first, min(first + EXACT, len(events)), PIECE):
            for index, share in shares.of(events[at : min(at + PIECE, first + EXACT)]):
                _add(part.reshape(-1), index, share)
        if first:
            out += part
    return out


def _span(t, dt, start_us, frames, keep_last):
    """Returns the time at which frames begin, and their number."""
    if start_us is None:
        start_us = t.min() if len(t) else 0
    start = operator.index(start_us)
    if frames is not None:
        frames = operator.index(frames)
        if frames < 0:
            raise ValueError(f"`frames` must not be negative. Received: frames={frames}")
        return start, frames
    reach = max(int(t.max()) + 1 - start, 0) if len(t) else 0
    return start, -(-reach // dt) if keep_last else reach // dt


def _add(out, index, share):
    """Adds `share[i]` to `out[index[i]]` for every i; an index may come more than once."""
    if csc_matvec is None:
        np.add.at(out, index, share)
    else:
        begin_end = np.array([0, len(index)], index.dtype)
        csc_matvec(len(out), 1, begin_end, index, share, np.ones(1, np.float32), out)

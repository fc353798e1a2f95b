"""From events as they arrive to answers as they are known."""

import dataclasses
import os
import time
from collections.abc import Iterable, Iterator

import numpy as np

from keras_pleiades.events import info, iter_read
from keras_pleiades.streaming.binning import bin_online

# A recording is read in pieces of this length; each may complete several frames.
_PIECE_FRAMES = 16


@dataclasses.dataclass
class Prediction:
    """What a network says when a frame is complete.

    Attributes:
        t_us: End of the frame, in the time of the events.
        output: The network's answer to the frame.
        ready: Whether every layer has seen only real frames since the (re)start.
        segment: 0, and one more after each restart of the clock.
        binning_s: Time it took to make the frame.
        model_s: Time it took to answer it.
        latency_s: Time from the arrival of the events that completed the frame to the answer.
        events: How many events the frame has (those binned; a volume holds parts of them).

    Example:
        See `run`, which yields them.
    """

    t_us: int
    output: np.ndarray
    ready: bool
    segment: int
    binning_s: float
    model_s: float
    latency_s: float
    events: float


def run(
    model, source: Iterable | str | os.PathLike, sensor: tuple[int, int] | None = None, **kwargs
) -> Iterator[Prediction]:
    """Yield an answer for each bin of a recording or of events that are still arriving.

    Args:
        model: A PLEIADES network; it gives bin size, frame size and how events are binned.
        source: A recording's path, or an iterable of event arrays; see
            `keras_pleiades.streaming.bin_online`.
        sensor: (height, width) of the sensor; may be left out for a file that knows it.
        **kwargs: Further arguments of `bin_online`, such as `gap_us`.

    After a restart of the clock the network's memory starts anew. In a long silence, when nothing
    in the network changes any more, the answer is repeated without being computed.

    Example:
        >>> import keras_pleiades as kp
        >>> model = kp.zoo.gesture(input_shape=(None, 16, 16, 2))
        >>> t = np.arange(0, 50_000, 100)
        >>> events = kp.events.make_events(t, x=t % 16, y=t % 15, p=t % 2)
        >>> filtered = kp.decode.MajorityFilter(window_us=150_000, dt=model.dt)
        >>> for answer in run(model, [events[:200], events[200:]], sensor=(16, 16)):
        ...     label = filtered.update(answer.output)
        >>> answer.t_us, answer.output.shape, answer.ready
        (50000, (10,), False)
    """
    if isinstance(source, str | os.PathLike):
        sensor = sensor or _sensor_of(source)
        source = iter_read(source, duration_us=_PIECE_FRAMES * model.dt)
    elif sensor is None:
        raise ValueError("`sensor=(height, width)` must be given where `source` is not a file.")
    shape = model.input_shape[2:4]
    shape = tuple(sensor) if None in shape else shape
    arrived = _Clock(source)
    bins = bin_online(
        arrived, model.dt, sensor, **{"shape": shape, "method": model.binning_method, **kwargs}
    )
    stream = model.stream(shape=shape)
    segment, fed, idle = 0, 0, 0
    last: np.ndarray | None = None
    started = time.perf_counter()
    for part in bins:
        binned = time.perf_counter()
        # Time spent waiting for events is not time spent binning them.
        binning = binned - max(started, arrived.time)
        if part.segment != segment:
            segment, fed, idle, last = part.segment, 0, 0, None
            stream.reset()
        counts = part.frames.sum(axis=(1, 2, 3))
        silent = not counts.any()
        if silent and idle > model.context_frames:
            answers = np.repeat(last[None], len(part.frames), axis=0)
        else:
            answers = stream(part.frames[None])[0]
        idle = idle + len(part.frames) if silent else 0
        last = answers[-1]
        started = time.perf_counter()
        for i, answer in enumerate(answers):
            yield Prediction(
                t_us=part.start_us + (i + 1) * model.dt,
                output=answer,
                ready=fed + i >= model.context_frames,
                segment=segment,
                binning_s=binning / len(answers),
                model_s=(started - binned) / len(answers),
                latency_s=started - arrived.time,
                events=float(counts[i]),
            )
        fed += len(answers)
        started = time.perf_counter()


class _Clock:
    """Passes arrays on and notes when each arrived."""

    def __init__(self, source):
        self._source = source
        self.time = time.perf_counter()

    def __iter__(self):
        for item in self._source:
            self.time = time.perf_counter()
            yield item


def _sensor_of(path) -> tuple[int, int]:
    sensor = info(path).sensor
    if sensor is None:
        raise ValueError(
            f"{os.fspath(path)} does not say the size of its sensor. Give `sensor=(height, width)`."
        )
    return sensor

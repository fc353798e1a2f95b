"""A network over a recording as a camera would deliver it: bin by bin."""

import dataclasses
from collections.abc import Iterator

import numpy as np

from keras_pleiades_cli.demo.recordings import Recording


@dataclasses.dataclass(frozen=True)
class Watched:
    """What a network said of a recording.

    Attributes:
        predictions: One a bin, see `keras_pleiades.streaming.Prediction`.
        dt: Length of a bin.
    """

    predictions: list
    dt: int

    @property
    def outputs(self) -> np.ndarray:
        """The network's answers, `(bins, ...)`."""
        return np.stack([one.output for one in self.predictions])

    @property
    def times_us(self) -> np.ndarray:
        """When each was given."""
        return np.array([one.t_us for one in self.predictions])

    @property
    def ready(self) -> np.ndarray:
        """Whether each was given after the network had its whole context."""
        return np.array([one.ready for one in self.predictions])

    def latency_ms(self) -> tuple[float, float]:
        """Return median and 95th percentile of the time from a bin's last event to its answer."""
        seconds = [one.latency_s for one in self.predictions]
        median, late = (float(1000 * one) for one in np.percentile(seconds, (50, 95)))
        return median, late


def watch(model, recording: Recording) -> Watched:
    """Run a network online over a recording."""
    from keras_pleiades import streaming

    # The first step compiles: it is made before the clock starts.
    frame = np.zeros((1, 1, *model.input_shape[2:]), "float32")
    model.stream()(frame)
    pieces = deliver(recording, model.dt)
    answers = list(streaming.run(model, pieces, recording.sensor, start_us=0))
    return Watched(answers, model.dt)


def deliver(recording: Recording, dt: int) -> Iterator[tuple[np.ndarray, int]]:
    """Yield the events of each bin when it is over, and the time it is then."""
    ends = np.arange(dt, recording.duration_us + 1, dt)
    start = 0
    for stop, now in zip(np.searchsorted(recording.events["t"], ends), ends, strict=True):
        yield recording.events[start:stop], int(now)
        start = stop

"""What all data sets of events share: clips to batches, always the same ones for a seed."""

import operator
import os
from collections import Counter
from collections.abc import Callable, Sequence

import keras
import numpy as np

from keras_pleiades.datasets.cache import ArrayCache, file_identity
from keras_pleiades.datasets.clips import Clip
from keras_pleiades.datasets.frame_spec import FrameSpec
from keras_pleiades.datasets.prefetch import Prefetcher
from keras_pleiades.datasets.summary import Summary
from keras_pleiades.events import read_slice, to_frames
from keras_pleiades.events.dtype import check_sensor
from keras_pleiades.events.labels import Labels


class EventDataset(keras.utils.PyDataset):
    """Clips of recordings as batches of frames and targets: the base of the data sets.

    Batch `index` of epoch `epoch` depends on nothing but the seed and these two numbers, not on
    workers, nor on what was asked for before: a run that is taken up again goes on as if it had
    never stopped. Two things to know of `fit`:

    - Give it `shuffle=False`. Its own shuffling changes the order of the batches, by Python's
      global random numbers; here `shuffle=True` mixes the clips.
    - `epoch` is raised when all batches of an epoch were taken. Where a data set is a single batch,
      a look that `fit` takes at it to build the network counts as an epoch too. To be sure, and to
      go on in a later epoch, tie the two together:
      `keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: data.set_epoch(epoch))`.

    The frames of a clip, and the `context_frames` in front of it, are those that the whole
    recording has there: also where `method="volume"` shares an event between two frames. Before
    the recording's beginning they are zero.

    A subclass makes the clips and says what the target of one is: `labels_of` and `target`.

    Args:
        clips: All of the same number of frames.
        sensor: (height, width) of the sensor.
        spec: How to bin.
        batch_size: Clips in a batch. The last batch may have fewer.
        shuffle: Whether to mix the clips, anew in every epoch.
        seed: Of order and augmentation.
        augment: One or more augmentations, see `keras_pleiades.datasets.augmentations`.
        cache: Folder in which the frames are kept, so that they are binned once only. Where
            `augment` changes events, the clips' events are kept instead. See `ArrayCache`.
        drop_last: Whether to leave out a last batch with fewer clips.
        workers: More than 1: so many threads make batches ahead.
        use_multiprocessing: Processes in place of threads. They are started afresh ("spawn"), so a
            script needs `if __name__ == "__main__":`.
        max_queue_size: Batches to make ahead. Batches of frames are large: 2, where Keras has 10.

    Example:
        >>> import tempfile
        >>> import keras_pleiades as kp
        >>> path = os.path.join(tempfile.mkdtemp(), "rec.npz")
        >>> events = kp.events.make_events(t=[5_000, 25_000], x=[1, 2], y=[0, 0], p=[1, 0])
        >>> kp.events.write(path, events)
        >>> spec = FrameSpec(dt=10_000, shape=(4, 4), context_frames=2)
        >>> clips = [Clip(path, start_us=20_000, frames=1, class_id=7)]
        >>> x, y = EventDataset(clips, sensor=(4, 4), spec=spec)[0]
        >>> x.shape, y
        ((1, 3, 4, 4, 2), array([[7]], dtype=int32))
        >>> x.sum(axis=(2, 3, 4))  # the context is what the recording has there
        array([[1., 0., 1.]], dtype=float32)
    """

    class_names: tuple[str, ...] = ()

    def __init__(
        self,
        clips: Sequence[Clip],
        sensor: tuple[int, int],
        spec: FrameSpec,
        *,
        batch_size: int = 1,
        shuffle: bool = False,
        seed: int = 0,
        augment: Callable | Sequence[Callable] = (),
        cache: str | os.PathLike | None = None,
        drop_last: bool = False,
        workers: int = 1,
        use_multiprocessing: bool = False,
        max_queue_size: int = 2,
    ):
        super().__init__()  # with one worker: see `prefetch` for why Keras' own are not used
        self.clips = list(clips)
        self.sensor = check_sensor(sensor)
        self.spec = spec
        self.batch_size = _at_least("batch_size", batch_size, 1)
        self.shuffle = bool(shuffle)
        self.seed = _at_least("seed", seed, 0)
        self.augment = (augment,) if callable(augment) else tuple(augment)
        self.cache = None if cache is None else ArrayCache(cache)
        self.drop_last = bool(drop_last)
        self.notes = []
        if not self.clips:
            raise ValueError(f"{type(self).__name__} has no clips: there is nothing to learn from.")
        lengths = {clip.frames for clip in self.clips}
        if len(lengths) > 1 or min(lengths) < 1:
            raise ValueError(
                "All clips must have the same number of frames, at least 1. "
                f"Received: {sorted(lengths)}"
            )
        self.clip_frames = lengths.pop()
        if not len(self):
            raise ValueError(
                f"{len(self.clips)} clips do not fill a batch and `drop_last` leaves it out. "
                f"Received: batch_size={batch_size}, drop_last={drop_last}"
            )
        self._epoch, self._taken, self._within_epoch = 0, set(), False
        self._order: tuple[int | None, np.ndarray | None] = None, None
        self._pool = _at_least("workers", workers, 0), bool(use_multiprocessing), max_queue_size
        self._prefetcher: Prefetcher | None = None

    @property
    def epoch(self) -> int:
        """The epoch whose batches are given; set it to go to another one."""
        return self._epoch

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self._epoch = _at_least("epoch", epoch, 0)
        self._taken = set()

    def set_epoch(self, epoch: int) -> None:
        """Sets `epoch`: for a callback."""
        self.epoch = epoch

    def on_epoch_begin(self) -> None:
        """Begins to count the batches that are taken: what Keras looks at before is no training."""
        self._within_epoch = True

    def on_epoch_end(self) -> None:
        """Goes on to the next epoch when all batches of this one were taken.

        Keras also calls this after a look at the first batch, and after every `steps_per_epoch`.
        """
        self._within_epoch = False
        if len(self._taken) == len(self):
            self.epoch += 1

    def __len__(self) -> int:
        """Returns the number of batches."""
        if self.drop_last:
            return len(self.clips) // self.batch_size
        return -(-len(self.clips) // self.batch_size)

    def __getitem__(self, index: int) -> tuple[np.ndarray, ...]:
        """Returns a batch of this epoch: `(x, y)`, or `(x, y, sample_weight)`.

        x is (clips, context_frames + clip_frames, height, width, channels), float32; y and the
        weights have clip_frames as their second size.
        """
        index = operator.index(index)
        if not 0 <= index < len(self):
            raise IndexError(f"There are {len(self)} batches. Received: index={index}")
        epoch = self._epoch
        if self._within_epoch:
            self._taken.add(index)
        workers, processes, ahead = self._pool
        if workers > 1 or (workers and processes):
            if self._prefetcher is None:
                self._prefetcher = Prefetcher(self, workers, processes, ahead)
            return self._prefetcher.get(epoch, index)
        return self.make_batch(epoch, index)

    def make_batch(self, epoch: int, index: int) -> tuple[np.ndarray, ...]:
        """Makes a batch of any epoch, here and now."""
        numbers = self.order(epoch)[index * self.batch_size : (index + 1) * self.batch_size]
        samples = [self.sample(int(number), epoch) for number in numbers]
        return tuple(np.stack(parts) for parts in zip(*samples, strict=True))

    def order(self, epoch: int) -> np.ndarray:
        """Returns the numbers of the clips in the order of an epoch."""
        if not self.shuffle:
            return np.arange(len(self.clips))
        known, order = self._order
        if known != epoch:
            order = self._rng(epoch).permutation(len(self.clips))
            self._order = epoch, order  # one assignment: other threads see both or neither
        return order

    def sample(self, number: int, epoch: int = 0) -> tuple[np.ndarray, ...]:
        """Returns one clip's frames, target and perhaps weights, augmented as in that epoch."""
        clip = self.clips[number]
        rng = self._rng(epoch, 1 + number)
        frames, labels = self.frames_of(clip, self.labels_of(clip), rng)
        for augmentation in self.augment:
            if getattr(augmentation, "on", "events") == "frames":
                frames = augmentation(frames, rng)
        return frames, *self.target(clip, labels)

    def frames_of(
        self, clip: Clip, labels: Labels, rng: np.random.Generator
    ) -> tuple[np.ndarray, Labels]:
        """Returns a clip's frames, context in front, and its labels, both augmented."""
        on_events = [one for one in self.augment if getattr(one, "on", "events") == "events"]
        if not on_events:
            frames = self._cached(clip, "frames", lambda: self._bin(clip, self._events(clip)))
            return frames, labels
        events = self._cached(clip, "events", lambda: self._events(clip))
        for augmentation in on_events:
            events, labels = augmentation(events, labels, self.sensor, rng)
        return self._bin(clip, events), labels

    def read_events(self, clip: Clip, start_us: int, end_us: int) -> np.ndarray:
        """Reads the events of a time on the clip's clock."""
        return read_slice(clip.path, start_us, end_us)

    def labels_of(self, clip: Clip) -> Labels:
        """Returns a clip's labels, in pixels of the sensor and on the recording's clock."""
        return Labels(class_id=clip.class_id)

    def target(self, clip: Clip, labels: Labels) -> tuple[np.ndarray, ...]:
        """Returns what to learn, `(y,)` or `(y, sample_weight)`: here the class of each frame."""
        return (np.full(clip.frames, labels.class_id, np.int32),)

    def summary(self, print_fn: Callable[[str], object] | None = print) -> Summary:
        """Prints what the data set holds, and returns it.

        Args:
            print_fn: Takes the report; None for no report.
        """
        counts = Counter(clip.class_id for clip in self.clips)
        names = dict(enumerate(self.class_names))
        summary = Summary(
            name=type(self).__name__,
            files=len({(clip.path, clip.member) for clip in self.clips}),
            clips=len(self.clips),
            batches=len(self),
            clip_us=self.clip_frames * self.spec.dt,
            x_shape=self.x_shape,
            classes={
                names.get(number, str(number)): counts[number]
                for number in sorted(number for number in counts if number is not None)
            },
            notes=tuple(self.notes),
        )
        if print_fn is not None:
            print_fn(str(summary))
        return summary

    @property
    def x_shape(self) -> tuple[int, ...]:
        """Shape of a whole batch of frames."""
        frames = self.spec.context_frames + self.clip_frames
        return (min(self.batch_size, len(self.clips)), frames, *self.spec.shape, 2)

    def close(self) -> None:
        """Ends the workers; the next batch starts new ones."""
        if self._prefetcher is not None:
            self._prefetcher.close()
            self._prefetcher = None

    def __getstate__(self):
        return {**self.__dict__, "_prefetcher": None}

    def _span(self, clip):
        """The first frame's beginning, the frames, and the frames to bin beyond on each side."""
        first = clip.start_us - self.spec.context_frames * self.spec.dt
        # "volume" gives part of an event to the next frame: the frames beside those wanted must
        # be there to give and to take.
        beside = 1 if self.spec.method == "volume" else 0
        return first, self.spec.context_frames + clip.frames, beside

    def _events(self, clip):
        first, frames, beside = self._span(clip)
        end = first + (frames + beside) * self.spec.dt
        if clip.end_us is not None:
            end = min(end, clip.end_us)
        return self.read_events(clip, first - beside * self.spec.dt, end)

    def _bin(self, clip, events):
        first, frames, beside = self._span(clip)
        volume = self.spec.method == "volume"
        binned = to_frames(
            events,
            self.spec.dt,
            self.sensor,
            self.spec.shape,
            self.spec.method,
            start_us=first - beside * self.spec.dt,
            frames=frames + 2 * beside,
            causal=volume,
        )
        return binned[beside : beside + frames]

    def _cached(self, clip, kind, make):
        if self.cache is None:
            return make()
        first, frames, beside = self._span(clip)
        identity = {
            "kind": kind,
            "file": file_identity(clip.path),
            "member": clip.member,
            "reader": f"{type(self).__module__}.{type(self).__qualname__}",
            "first_us": first,
            "frames": frames,
            "end_us": clip.end_us,
            "beside": beside,
            "dt": self.spec.dt,
        }
        if kind != "events":
            identity |= {
                "sensor": self.sensor,
                "shape": self.spec.shape,
                "method": self.spec.method,
            }
        return self.cache.get(identity, make)

    def _rng(self, epoch, number=0):
        return np.random.default_rng([self.seed, epoch, number])


def _at_least(name, value, smallest):
    number = operator.index(value)
    if number < smallest:
        raise ValueError(f"`{name}` must be at least {smallest}. Received: {name}={value!r}")
    return number

"""A small real task without files: bars that drift over a sensor, in one of four directions."""

import keras
import numpy as np

from keras_pleiades.events import make_events, to_frames

SIZE = 16


class Bars(keras.utils.PyDataset):
    """Recordings of drifting bars, simulated; the class is the direction. For trying things out.

    Args:
        folder: Not used: there are no files.
        split: "train" or "test": other recordings.
        model: The network it is for: it gives `dt` and `context_frames`.
        batch_size: Clips in a batch.
        shuffle: Whether to mix the clips, anew in every epoch.
        seed: Of the order.
        clips: How many recordings.
        clip_frames: Frames of a clip, without the context, which is zero.
        **kwargs: `workers` and so on, as in every PyDataset.

    Example:
        >>> import keras_pleiades as kp
        >>> model = kp.zoo.gesture(num_classes=4, input_shape=(None, 16, 16, 2))
        >>> x, y = Bars(model=model, batch_size=8, clip_frames=10)[0]
        >>> x.shape, y.shape
        ((8, 55, 16, 16, 2), (8,))
    """

    def __init__(
        self,
        folder=None,
        split: str = "train",
        model: keras.Model | None = None,
        batch_size: int = 8,
        shuffle: bool = False,
        seed: int = 0,
        clips: int = 32,
        clip_frames: int = 20,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.batch_size, self.shuffle, self.seed, self.epoch = batch_size, shuffle, seed, 0
        context = np.zeros((model.context_frames, SIZE, SIZE, 2), np.float32)
        rng = np.random.default_rng([split == "train", 0])
        self.labels = np.arange(clips) % 4
        self.frames = []
        for label in self.labels:
            events = _record(label, clip_frames * model.dt, rng)
            binned = to_frames(events, model.dt, (SIZE, SIZE), start_us=0, frames=clip_frames)
            self.frames.append(np.concatenate([context, binned]))

    def __len__(self) -> int:
        """Return the number of batches."""
        return -(-len(self.labels) // self.batch_size)

    def on_epoch_end(self) -> None:
        """Go on to the next epoch's order."""
        self.epoch += 1

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a batch of this epoch."""
        order = np.arange(len(self.labels))
        if self.shuffle:
            order = np.random.default_rng([self.seed, self.epoch]).permutation(order)
        chosen = order[index * self.batch_size : (index + 1) * self.batch_size]
        return np.stack([self.frames[i] for i in chosen]), self.labels[chosen]


def _record(label, duration_us, rng):
    """Return the events of bars 8 pixels apart that drift at about 60 pixels a second."""
    steps = np.arange(0, duration_us, 1000)
    angle = label * np.pi / 2 + rng.normal(0, 0.1)
    y, x = np.mgrid[:SIZE, :SIZE]
    along = x * np.cos(angle) + y * np.sin(angle)
    speed = 60e-6 * rng.uniform(0.85, 1.15)
    phase = along[None] - (steps * speed + rng.uniform(0, 8))[:, None, None]
    phase = (phase + 4) % 8 - 4
    # The leading edge brightens and the trailing edge darkens.
    rate = np.stack([np.exp(-((phase - side) ** 2)) for side in (1.5, -1.5)], -1) * 0.05
    t, y, x, p = np.nonzero(rng.random(rate.shape) < rate)
    return make_events(t * 1000 + rng.integers(0, 1000, t.size), x, y, p)

"""Augmentations for the data sets' `augment=`: `keras_pleiades.events.augment` with settings.

One on events is any callable `(events, labels, sensor, rng) -> (events, labels)`; one on frames has
the attribute `on = "frames"` and is `(frames, rng) -> frames`. These are plain data, so that they
can be sent to worker processes and written in a recipe.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from keras_pleiades.events import augment
from keras_pleiades.events.labels import Labels


@dataclass(frozen=True)
class RandomAffine:
    """Turns, moves and scales the picture; the defaults are the paper's for gestures and eyes.

    Attributes:
        degrees: See `keras_pleiades.events.augment.affine`, here and below.
        translate: Part of height and width.
        scale: From, to. The paper's detector has (0.9, 1.1) with `degrees=0, translate=0`.

    Example:
        >>> from keras_pleiades.events import make_events
        >>> events, rng = make_events(t=[0], x=[64], y=[32], p=[1]), np.random.default_rng(0)
        >>> nothing = RandomAffine(degrees=0, translate=0, scale=(1, 1))
        >>> nothing(events, None, (128, 128), rng)[0]["x"]
        array([64], dtype=uint16)
    """

    degrees: float = 10.0
    translate: float = 0.1
    scale: tuple[float, float] = (1.0, 1.1)

    def __call__(self, events, labels, sensor, rng) -> tuple[np.ndarray, Labels | None]:
        """Returns events and labels, moved together."""
        return augment.affine(
            events,
            sensor,
            rng,
            labels,
            self.degrees,
            self.translate,
            tuple(self.scale),  # type: ignore[arg-type]  # a recipe has a list of two
        )


@dataclass(frozen=True)
class RandomFlip:
    """Exchanges left and right now and then.

    Attributes:
        probability: How often.
        swap_classes: Classes that become others in the mirror; for gestures
            `DVS128Gesture.MIRRORED`.

    Example:
        >>> from keras_pleiades.events import make_events
        >>> events, rng = make_events(t=[0], x=[1], y=[32], p=[1]), np.random.default_rng(0)
        >>> RandomFlip(probability=1)(events, None, (128, 128), rng)[0]["x"]
        array([126], dtype=uint16)
    """

    probability: float = 0.5
    swap_classes: Mapping[int, int] | None = None

    def __call__(self, events, labels, sensor, rng) -> tuple[np.ndarray, Labels | None]:
        """Returns events and labels, both mirrored or both as they were."""
        if rng.random() >= self.probability:
            return events, labels
        return augment.flip_horizontal(events, sensor, labels, self.swap_classes)


@dataclass(frozen=True)
class MaskPrefix:
    """Sets the beginning of a clip to zero now and then, see `events.augment.mask_prefix`.

    Attributes:
        probability: How often.

    Example:
        >>> frames = MaskPrefix(probability=1)(np.ones((8, 2, 2, 2)), np.random.default_rng(0))
        >>> frames[0].sum(), frames[-1].sum()
        (np.float64(0.0), np.float64(8.0))
    """

    probability: float = 0.5
    on = "frames"

    def __call__(self, frames, rng) -> np.ndarray:
        """Returns the frames, the context among them, with the first ones zero."""
        return augment.mask_prefix(frames, rng, self.probability)

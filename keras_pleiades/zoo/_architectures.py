"""The three networks of the paper, as data."""

import dataclasses
from typing import Any

from keras_pleiades.models import (
    PleiadesClassifier,
    PleiadesDetector,
    PleiadesModel,
    PleiadesTracker,
)

# mid_filters, filters, separable
_BLOCKS = (
    (8, 16, False),
    (32, 48, False),
    (64, 80, True),
    (96, 112, True),
    (128, 256, True),
)


@dataclasses.dataclass(frozen=True)
class Architecture:
    """One network: its family, the family's arguments, and what the paper says of it.

    Attributes:
        family: The model class.
        arguments: Arguments of the class that are the same for every user.
        dt: Bin size in microseconds at which kernels span `kernel_size` frames.
        interval: The part of the polynomials' axis that kernels cover.
        published_interval: The same in the authors' published checkpoint. Their scale, one over
            the square root of fan-in times kernel size, is that of every layer here.
    """

    family: type[PleiadesModel]
    arguments: dict[str, Any]
    dt: int
    interval: tuple[float, float] = (-1.0, 1.0)
    published_interval: tuple[float, float] | None = None


ARCHITECTURES = {
    "gesture": Architecture(
        family=PleiadesClassifier,
        arguments={"blocks": _BLOCKS, "features": 256},
        dt=10_000,
        published_interval=(0.0, 1.0),
    ),
    "eye_tracking": Architecture(
        family=PleiadesTracker,
        arguments={"blocks": _BLOCKS, "head_filters": (256, 64)},
        dt=5_000,
    ),
    "detector": Architecture(
        family=PleiadesDetector,
        arguments={
            # mid_filters, filters, separable, bottleneck
            "encoder": (
                (16, 32, False, True),
                (48, 64, True, True),
                (80, 96, True, False),
            ),
            "spatial_filters": (128, 256),
            "decoder_filters": 256,
            "decoder_stages": 3,
            "head_filters": (256, 128),
        },
        dt=10_000,
    ),
}

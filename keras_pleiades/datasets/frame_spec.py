"""How a data set is to bin: said outright, or taken from the network that it is for."""

from dataclasses import dataclass
from typing import Any, Self

from keras_pleiades._checks import check_choice, check_dt
from keras_pleiades.events.dtype import check_sensor
from keras_pleiades.models import PleiadesModel


@dataclass(frozen=True)
class FrameSpec:
    """How events become the frames that a network takes.

    Attributes:
        dt: Length of a frame in microseconds.
        shape: (height, width) of the frames.
        method: "count" or "volume"; "volume" is causal, as in `PleiadesModel.to_frames`.
        context_frames: Frames in front of each clip.

    Example:
        >>> FrameSpec(dt=5_000, shape=(96, 128)).method
        'count'
    """

    dt: int
    shape: tuple[int, int]
    method: str = "count"
    context_frames: int = 0

    def __post_init__(self):
        object.__setattr__(self, "dt", check_dt(self.dt))
        object.__setattr__(self, "shape", check_sensor(self.shape, "shape"))
        check_choice(self.method, ("count", "volume"), "method")
        if not isinstance(self.context_frames, int) or self.context_frames < 0:
            raise ValueError(
                "`context_frames` must be a whole number of frames, 0 or more. "
                f"Received: context_frames={self.context_frames!r}"
            )

    @classmethod
    def of(
        cls,
        sensor: tuple[int, int],
        model: PleiadesModel | None = None,
        dt: int | None = None,
        shape: tuple[int, int] | None = None,
        method: str | None = None,
        context_frames: int | None = None,
    ) -> Self:
        """Returns the facts of `model`, or those given; what is given must not contradict it.

        Args:
            sensor: (height, width) of the sensor: the frames' size where nothing else is said.
            model: The network.
            dt: Needed without `model`.
            shape: Needed for a model of free size, unless it is the sensor's.
            method: "count" by default.
            context_frames: 0 by default.

        Example:
            >>> import keras_pleiades as kp
            >>> model = kp.zoo.gesture(input_shape=(None, 32, 32, 2))
            >>> FrameSpec.of((128, 128), model)
            FrameSpec(dt=10000, shape=(32, 32), method='count', context_frames=45)
        """
        if model is None and dt is None:
            raise ValueError(
                "Give `model=`, the network the data set is for, or `dt=`, the length of a frame "
                "in microseconds."
            )
        known: dict[str, Any] = {"dt": None, "shape": None, "method": None, "context_frames": None}
        if model is not None:
            size = tuple(model.input_shape[2:4])
            known = {
                "dt": model.dt,
                "shape": None if None in size else size,
                "method": model.binning_method,
                "context_frames": model.context_frames,
            }
        given: dict[str, Any] = {
            "dt": dt,
            "shape": shape,
            "method": method,
            "context_frames": context_frames,
        }
        for name, value in given.items():
            if value is None:
                continue
            value = tuple(value) if name == "shape" else value
            if known[name] not in (None, value):
                raise ValueError(
                    f"`{name}` must be that of `model`, {known[name]!r}. Received: "
                    f"{name}={value!r}. Leave it out, or leave out `model`."
                )
            known[name] = value
        return cls(
            dt=known["dt"],
            shape=known["shape"] or sensor,
            method=known["method"] or "count",
            context_frames=known["context_frames"] or 0,
        )

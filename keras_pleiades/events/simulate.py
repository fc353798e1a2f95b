"""Luminance frames to events: whole videos, and streams of any length."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from keras_pleiades.events.dtype import EVENT_DTYPE
from keras_pleiades.events.pixel_model import EventSimulator, PixelModel
from keras_pleiades.events.video import read_video


def simulate(
    video: np.ndarray | Iterable[np.ndarray] | str | os.PathLike,
    fps: float | None = None,
    model: PixelModel | None = None,
    start_us: int = 0,
    seed: int = 0,
    **kwargs,
) -> np.ndarray:
    """Returns the events that an event camera would have given of a video.

    Between frames the log-luminance of a pixel is taken to move in a straight line, so that fast
    motion needs a high frame rate: about one pixel a frame.

    Args:
        video: Luminance frames: an array (frames, height, width), any iterable of (height, width)
            arrays, or the path of a video file (needs PyAV: `pip install keras-pleiades[video]`).
        fps: Frames a second; a video file's own by default.
        model: What the camera's pixels are like.
        start_us: Time of the first frame.
        seed: Seed of thresholds and noise; the same seed gives the same events.
        **kwargs: Fields of `PixelModel` in place of the model's, such as `on_threshold=0.3`.

    Returns:
        Events in the order of time.

    Example:
        >>> video = np.linspace(1.0, 2.0, 11)[:, None, None] * np.ones((4, 4))
        >>> events = simulate(video, fps=1000, dark=0.0, on_threshold=0.25)
        >>> len(events), bool(events["p"].all())  # log 2 is 2.8 thresholds: two events a pixel
        (32, True)
    """
    parts = list(iter_simulate(video, fps, model, start_us, seed, **kwargs))
    return np.concatenate([np.empty(0, EVENT_DTYPE), *parts])


def iter_simulate(
    video: np.ndarray | Iterable[np.ndarray] | str | os.PathLike,
    fps: float | None = None,
    model: PixelModel | None = None,
    start_us: int = 0,
    seed: int = 0,
    **kwargs,
) -> Iterator[np.ndarray]:
    """Yields what `simulate` returns, in pieces: the events between each two frames.

    Memory does not grow with the length of the video. The arguments are those of `simulate`.

    Example:
        >>> frames = (np.full((2, 2), 1.1**k) for k in range(100))  # 9.5 in log units: 47 events
        >>> sum(len(events) for events in iter_simulate(frames, fps=100, dark=0.0))
        188
    """
    model = replace(PixelModel() if model is None else model, **kwargs)
    if isinstance(video, str | os.PathLike):
        own_fps, frames = read_video(video)
        fps = own_fps if fps is None else fps
    else:
        frames = iter(video)
    if fps is None or not 0 < fps < np.inf:
        raise ValueError(
            "`fps` must be the video's frames a second, a positive number; only a video file "
            f"knows its own. Received: fps={fps!r}"
        )
    camera = None
    for number, frame in enumerate(frames):
        if camera is None:
            camera = EventSimulator(_sensor(frame), model, seed)
        events = camera(frame, start_us + number * 1e6 / fps)
        if number:
            yield events


def _sensor(frame):
    shape = np.shape(frame)
    if len(shape) != 2:
        raise ValueError(
            "`video` must give luminance frames (height, width); for colour take the mean of its "
            f"channels first. Received: a frame of shape={shape}"
        )
    return shape

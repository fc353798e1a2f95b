"""Video files as luminance frames."""

import os
from collections.abc import Iterator

import numpy as np


def read_video(path: str | os.PathLike) -> tuple[float, Iterator[np.ndarray]]:
    """Returns a video's frames a second, and its frames one by one.

    Args:
        path: A file that FFmpeg can decode.

    Returns:
        `(fps, frames)`; frames are luminance, linear from 0 to 1, float32 (height, width), read
        as they are asked for.
    """
    try:
        import av
    except ImportError as error:
        raise ImportError(
            "Reading video files needs PyAV: pip install keras-pleiades[video]. Or decode the "
            f"video another way and pass its frames and `fps`. Received: {os.fspath(path)!r}"
        ) from error
    path = os.fspath(path)
    if not os.path.isfile(path):
        raise FileNotFoundError(f"No video file at {path!r}")
    try:
        container = av.open(path)
    except av.error.FFmpegError as error:
        raise ValueError(f"{path}: FFmpeg cannot read it as a video: {error}") from error
    if not container.streams.video:
        container.close()
        raise ValueError(f"{path}: there is no video in the file")
    stream = container.streams.video[0]
    return float(stream.average_rate or 0), _frames(container, stream)


def _frames(container, stream):
    with container:
        for frame in container.decode(stream):
            # Luma is gamma-encoded: light is about its power 2.2.
            luma = frame.to_ndarray(format="gray").astype(np.float32)
            yield (luma / 255) ** 2.2

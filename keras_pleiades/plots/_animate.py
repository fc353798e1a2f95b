"""Pictures one after the other, as a file."""

import itertools
import os
import tempfile
from collections.abc import Iterable

import numpy as np

from keras_pleiades._checks import check_dt
from keras_pleiades.events.to_frames import to_frames
from keras_pleiades.plots._events import defaults
from keras_pleiades.plots._render import render


def animate(
    events: np.ndarray,
    path: str | os.PathLike,
    sensor: tuple[int, int] | None = None,
    dt: int = 33_333,
    fps: float = 30.0,
    zoom: int | None = None,
    max_frames: int = 3000,
) -> str:
    """Writes a recording as an animated GIF or an MP4, by the ending of `path`.

    With dt = 1e6 / fps it plays at its own speed.

    Args:
        events: The events.
        path: `.gif` (needs the extra `plots`, for Pillow) or `.mp4` (through faery).
        sensor: (height, width); by default as far as the events reach.
        dt: Microseconds that each frame accumulates.
        fps: Frames a second when played.
        zoom: Each pixel becomes zoom x zoom; by default small sensors are enlarged to about 256.
        max_frames: Stop after so many frames.

    Returns:
        The path.

    Example:
        >>> import tempfile
        >>> from keras_pleiades.events import make_events
        >>> path = os.path.join(tempfile.mkdtemp(), "line.gif")
        >>> t = np.arange(0, 100_000, 1_000)
        >>> _ = animate(make_events(t, x=t // 1_000, y=t // 1_000, p=t % 2 == 0), path)
        >>> os.path.getsize(path) > 0
        True
    """
    path = os.fspath(path)
    _writer(path)  # a wrong ending is said before anything is drawn
    dt = check_dt(dt)
    sensor, _, start = defaults(events, sensor, dt, 1)
    zoom = zoom or max(1, round(256 / max(sensor)))
    count = min(max_frames, int(events["t"].max() - start) // dt + 1)
    return write_pictures(path, _rendered(events, sensor, dt, start, count, zoom), fps)


def write_pictures(
    path: str | os.PathLike, pictures: Iterable[np.ndarray], fps: float = 30.0
) -> str:
    """Writes pictures as an animated GIF or an MP4, by the ending of `path`.

    The file is written beside its place and then moved there: it is there whole or not at all.

    Args:
        path: `.gif` (needs Pillow; all pictures are held in memory) or `.mp4` (through faery;
            pictures are taken one by one).
        pictures: `(height, width, 3)` uint8 arrays of one size.
        fps: Pictures a second when played.

    Returns:
        The path.

    Example:
        >>> path = os.path.join(tempfile.mkdtemp(), "grey.gif")
        >>> _ = write_pictures(path, (np.full((8, 8, 3), 20 * i, np.uint8) for i in range(9)))
        >>> os.path.getsize(path) > 0
        True
    """
    path = os.fspath(path)
    write, ending = _writer(path)
    folder = tempfile.mkdtemp(prefix=".writing_", dir=os.path.dirname(path) or ".")
    temporary = os.path.join(folder, "animation" + ending)
    try:
        write(temporary, pictures, fps)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)
        os.rmdir(folder)
    return path


def _writer(path):
    ending = os.path.splitext(path)[1].lower()
    writers = {".gif": _write_gif, ".mp4": _write_mp4}
    if ending not in writers:
        raise ValueError(f"`path` must end in .gif or .mp4. Received: path={path!r}")
    return writers[ending], ending


def _rendered(events, sensor, dt, start, count, zoom, batch=64):
    """Yields pictures a batch at a time: a long recording never lies in memory as frames."""
    for first in range(0, count, batch):
        many = min(batch, count - first)
        binned = to_frames(events, dt, sensor, start_us=start + first * dt, frames=many)
        for picture in render(binned):
            yield picture.repeat(zoom, axis=0).repeat(zoom, axis=1)


def _write_gif(path, frames, fps):
    from PIL import Image

    first, *others = (Image.fromarray(frame) for frame in frames)
    durations = _durations(1 + len(others), fps)
    first.save(path, save_all=True, append_images=others, duration=durations, loop=0)


def _durations(count, fps):
    """Returns milliseconds that pictures are shown, of 10 each as GIF has it, right in their sum.

    Example:
        >>> _durations(6, fps=30)
        [30, 40, 30, 30, 40, 30]
    """
    shown = max(2.0, 100 / fps)  # browsers take less than 20 ms for 100
    ends = [round(shown * number) for number in range(count + 1)]
    return [10 * (end - start) for start, end in itertools.pairwise(ends)]


def _write_mp4(path, frames, fps):
    import faery

    encoder = None
    try:
        for frame in frames:
            # Video codecs want even sides: a white line is added where one is odd.
            odd = [(0, size % 2) for size in frame.shape[:2]]
            frame = np.pad(frame, (*odd, (0, 0)), constant_values=255)
            if encoder is None:
                size = frame.shape[1], frame.shape[0]
                # Tune "animation" would suit, but faery 0.7.1 misspells it to x264.
                encoder = faery.mp4.Encoder(
                    path, size, fps, 18.0, "medium", "none", "high"
                ).__enter__()
            encoder.write(np.ascontiguousarray(frame))
    finally:
        if encoder is not None:
            encoder.__exit__(None, None, None)

"""Pictures of recordings and results. matplotlib is asked for where one is made, not on import."""

import os
import tempfile
from collections.abc import Iterable

import numpy as np

from keras_pleiades._checks import check_dt
from keras_pleiades.events.dtype import check_events, check_sensor
from keras_pleiades.events.to_frames import to_frames

ON, OFF = (0.84, 0.15, 0.16), (0.12, 0.35, 0.80)  # red and blue, also apart in grey


def events(
    events: np.ndarray,
    sensor: tuple[int, int] | None = None,
    dt: int | None = None,
    frames: int = 8,
    columns: int = 4,
    title: str | None = None,
):
    """Draws a recording as a grid of accumulated frames, ON in red and OFF in blue.

    Args:
        events: The events.
        sensor: (height, width); by default as far as the events reach.
        dt: Microseconds that each picture accumulates; by default the recording is cut into
            `frames` equal parts.
        frames: How many pictures at most.
        columns: Pictures in a row.
        title: A line above the grid.

    Returns:
        A `matplotlib.figure.Figure`.

    Example:
        >>> import numpy as np
        >>> from keras_pleiades.events import make_events
        >>> i = np.arange(1000)
        >>> figure = events(make_events(t=i * 100, x=i % 32, y=i // 32, p=i % 2), frames=4)
        >>> len(figure.axes)
        4
    """
    from matplotlib.figure import Figure  # no pyplot: nothing global, nothing to close

    sensor, dt, start = _defaults(events, sensor, dt, frames)
    pictures = render(_binned(events, sensor, dt, start, frames))
    columns = max(1, min(columns, len(pictures)))
    rows = max(1, -(-len(pictures) // columns))
    side = 2.4
    figure = Figure(
        figsize=(side * columns, side * rows * sensor[0] / sensor[1] + 0.3 * rows + 0.3),
        layout="constrained",
    )
    for number, picture in enumerate(pictures):
        axes = figure.add_subplot(rows, columns, number + 1)
        axes.imshow(picture, interpolation="nearest")
        axes.set_title(f"{number * dt / 1000:g} to {(number + 1) * dt / 1000:g} ms", fontsize=8)
        axes.set_axis_off()
    if title:
        figure.suptitle(title)
    return figure


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
    sensor, _, start = _defaults(events, sensor, dt, 1)
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


def accuracy_latency(
    curves: dict[str, tuple[np.ndarray, np.ndarray]],
    title: str | None = None,
):
    """Draws accuracy against latency, one line for each named curve.

    Args:
        curves: By name, what `metrics.accuracy_latency` returns: latencies in microseconds and
            accuracies from 0 to 1.
        title: A line above the picture.

    Returns:
        A `matplotlib.figure.Figure`.

    Example:
        >>> import numpy as np
        >>> figure = accuracy_latency({"10 ms": (np.array([10_000, 20_000]), np.array([0.5, 1]))})
        >>> figure.axes[0].get_xlabel()
        'latency (ms)'
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 4.0), layout="constrained")
    axes = figure.add_subplot()
    for name, (latency_us, accuracy) in curves.items():
        axes.plot(np.asarray(latency_us) / 1000, 100 * np.asarray(accuracy), label=name)
    axes.set_xlabel("latency (ms)")
    axes.set_ylabel("accuracy (%)")
    axes.set_ylim(0, 101)
    axes.grid(alpha=0.3)
    if curves:
        axes.legend()
    if title:
        axes.set_title(title)
    return figure


def render(frames: np.ndarray) -> np.ndarray:
    """Turns (T, H, W, 2) counts into (T, H, W, 3) uint8 pictures, red and blue on white.

    The strength saturates at the mean of the pixels that have events, so that one hot pixel does
    not make all others pale.

    Example:
        >>> import numpy as np
        >>> picture = render(np.array([[[[0, 0], [0, 9], [9, 0]]]], np.float32))
        >>> picture[0, 0].tolist()  # nothing, ON, OFF
        [[255, 255, 255], [214, 38, 41], [31, 89, 204]]
    """
    off, on = frames[..., 0], frames[..., 1]
    total = on + off
    mean = total.sum() / max(np.count_nonzero(total), 1)
    strength = np.clip(total / max(mean, 1e-9), 0, 1)[..., None]
    share = (on / np.maximum(total, 1e-9))[..., None]
    colour = share * np.array(ON, np.float32) + (1 - share) * np.array(OFF, np.float32)
    return np.rint(255 * (1 - strength * (1 - colour))).astype(np.uint8)


def _defaults(events, sensor, dt, frames):
    check_events(events)
    if not len(events):
        raise ValueError("`events` is empty: there is nothing to draw")
    start, end = int(events["t"].min()), int(events["t"].max())
    if sensor is None:
        sensor = int(events["y"].max()) + 1, int(events["x"].max()) + 1
    dt = -(-(end - start + 1) // frames) if dt is None else check_dt(dt)
    return check_sensor(sensor), dt, start


def _binned(events, sensor, dt, start, frames):
    frames = min(frames, (int(events["t"].max()) - start) // dt + 1)
    return to_frames(events, dt, sensor, start_us=start, frames=frames)


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
    milliseconds = max(20, round(1000 / fps))  # below 20 ms browsers fall back to 100
    first.save(path, save_all=True, append_images=others, duration=milliseconds, loop=0)


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

"""A recording as a grid of pictures."""

import numpy as np

from keras_pleiades._checks import check_dt
from keras_pleiades.events.dtype import check_events, check_sensor
from keras_pleiades.events.to_frames import to_frames
from keras_pleiades.plots._figure import new_figure
from keras_pleiades.plots._render import render


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
    sensor, dt, start = defaults(events, sensor, dt, frames)
    pictures = render(_binned(events, sensor, dt, start, frames))
    columns = max(1, min(columns, len(pictures)))
    rows = max(1, -(-len(pictures) // columns))
    side = 2.4
    figure = new_figure(side * columns, side * rows * sensor[0] / sensor[1] + 0.3 * rows + 0.3)
    for number, picture in enumerate(pictures):
        axes = figure.add_subplot(rows, columns, number + 1)
        axes.imshow(picture, interpolation="nearest")
        axes.set_title(f"{number * dt / 1000:g} to {(number + 1) * dt / 1000:g} ms", fontsize=8)
        axes.set_axis_off()
    if title:
        figure.suptitle(title)
    return figure


def defaults(events, sensor, dt, frames):
    """Return sensor, dt and start of a recording: those given, or what its events say."""
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

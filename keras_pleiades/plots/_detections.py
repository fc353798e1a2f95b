"""Boxes over the events that they were found in."""

from collections.abc import Sequence

import numpy as np

from keras_pleiades.plots._figure import new_figure
from keras_pleiades.plots._render import CLASS_COLOURS, render


def detections(
    frame: np.ndarray,
    boxes: np.ndarray,
    labels: Sequence[str] | None = None,
    truth: np.ndarray | None = None,
    min_score: float = 0.0,
    title: str | None = None,
):
    """Draws the boxes that a detector found over the events of a frame, and the true ones dashed.

    Args:
        frame: Counts `(height, width, 2)`, as `model.to_frames` gives them for each bin; several
            bins may be added up to show more.
        boxes: `(n, 6)` as `decode.boxes` gives them: y and x of the center, height and width in
            pixels of the frame, class, score.
        labels: Names of the classes; their numbers by default.
        truth: True boxes `(m, 5)`, without a score.
        min_score: Boxes of a lower score are left out.
        title: A line above the picture.

    Returns:
        A `matplotlib.figure.Figure`.

    Example:
        >>> found = np.array([[9.0, 22.0, 8.0, 12.0, 1, 0.95]])
        >>> figure = detections(np.zeros((32, 64, 2)), found, labels=["pedestrian", "car"])
        >>> [text.get_text() for text in figure.axes[0].texts]
        ['car 0.95']
    """
    frame = np.asarray(frame, np.float32)
    if frame.ndim != 3 or frame.shape[-1] != 2:
        raise ValueError(
            "`frame` must be counts (height, width, 2), one bin of model.to_frames. "
            f"Received: shape={frame.shape}"
        )
    found = _check(boxes, 6, "boxes")
    true = _check(np.empty((0, 5)) if truth is None else truth, 5, "truth")
    height, width = frame.shape[:2]
    figure = new_figure(7.0, 7.0 * height / width + 0.3)
    axes = figure.add_subplot()
    # Edges at whole numbers, as boxes count them.
    axes.imshow(render(frame[None])[0], extent=(0, width, height, 0), interpolation="nearest")
    for box in true:
        _draw(axes, box, labels, linestyle="--", linewidth=1.0)
    for box in found[found[:, 5] >= min_score][::-1]:  # the best on top
        _draw(axes, box, labels, linestyle="-", linewidth=2.0)
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    if title:
        axes.set_title(title)
    return figure


def _draw(axes, box, labels, **style):
    from matplotlib.patches import Rectangle

    y, x, height, width, label, *score = box.tolist()
    colour = np.array(CLASS_COLOURS[int(label) % len(CLASS_COLOURS)]) / 255
    corner = x - width / 2, y - height / 2
    axes.add_patch(Rectangle(corner, width, height, fill=False, edgecolor=colour, **style))
    if score:
        name = f"{int(label)}" if labels is None else labels[int(label)]
        axes.text(
            *corner, f"{name} {score[0]:.2f}", color=colour, fontsize=8, va="bottom", clip_on=True
        )


def _check(boxes, columns, name):
    boxes = np.asarray(boxes, np.float64)
    if boxes.ndim != 2 or boxes.shape[1] != columns:
        raise ValueError(
            f"`{name}` must have the shape (n, {columns}). Received: shape={boxes.shape}"
        )
    return boxes

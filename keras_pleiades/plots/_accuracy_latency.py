"""How right a network is, against how much of a recording it has seen."""

import numpy as np

from keras_pleiades.plots._figure import new_figure


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
    figure = new_figure(6.0, 4.0)
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

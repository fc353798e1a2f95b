"""The filters of a temporal layer: continuous functions, cut into bins of several sizes."""

from collections.abc import Sequence

import numpy as np

from keras_pleiades.plots._figure import new_figure

_FINE = 200  # points of a continuous curve


def kernels(
    layer,
    ratios: Sequence[float] = (0.5, 1.0, 2.0),
    count: int = 4,
    dt: int | None = None,
    title: str | None = None,
):
    """Draws the kernels of a temporal layer and what remains of them in bins of several sizes.

    A column for each kernel, those with the most weight first; a row for each bin size. The curve
    is the polynomial that was learned, the same in every row; the bars are its averages over the
    bins, by which the network multiplies. Time runs towards now, at the right.

    Args:
        layer: A built `PleiadesConv` or `DepthwisePleiadesConv`, such as one of
            `model.temporal_layers()`.
        ratios: Bin sizes over that of training, as in `layer.resample`.
        count: How many kernels at most.
        dt: Bin size of training in microseconds; without it, time is counted in such bins.
        title: A line above the picture.

    Returns:
        A `matplotlib.figure.Figure`.

    Example:
        >>> import keras_pleiades as kp
        >>> model = kp.zoo.gesture(input_shape=(None, 16, 16, 2))
        >>> figure = kernels(model.temporal_layers()[0], count=3, dt=model.native_dt)
        >>> len(figure.axes)  # three kernels at 5, 10 and 20 ms
        9
    """
    if not getattr(layer, "built", False) or not hasattr(layer, "coefficients"):
        raise ValueError(
            "`layer` must be a PleiadesConv or DepthwisePleiadesConv that has been built, such as "
            f"one of model.temporal_layers(). Received: layer={layer!r}"
        )
    if not ratios or count < 1:
        raise ValueError(
            "At least one bin size and one kernel are needed. "
            f"Received: ratios={ratios!r}, count={count!r}"
        )
    unit, name = (1.0, "bins") if dt is None else (dt / 1000, "ms")
    fine, curves = _averages(layer, layer.kernel_size / _FINE)
    wanted = np.argsort(-np.square(curves).sum(axis=0), kind="stable")[:count]
    figure = new_figure(2.2 * len(wanted) + 0.6, 1.5 * len(ratios) + 0.5)
    grid = figure.subplots(len(ratios), len(wanted), squeeze=False, sharex=True, sharey="col")
    middles = (fine[1:] + fine[:-1]) / 2
    for row, ratio in zip(grid, ratios, strict=True):
        edges, averages = _averages(layer, ratio)
        for axes, kernel in zip(row, wanted, strict=True):
            left, wide = edges[:-1] * unit, np.diff(edges) * unit
            axes.bar(
                left,
                averages[:, kernel],
                wide,
                align="edge",
                alpha=0.45,
                linewidth=0.6,
                edgecolor="white",
            )
            axes.plot(middles * unit, curves[:, kernel], color="tab:orange", linewidth=1.6)
            axes.axhline(0, color="grey", linewidth=0.6)
            axes.set_yticks([])
        row[0].set_ylabel(f"{ratio * unit:g} {name}")
    for axes in grid[-1]:
        axes.set_xlabel(f"{name} before now" if dt is None else "ms before now")
    if title:
        figure.suptitle(title)
    return figure


def _averages(layer, bin_size):
    """Return edges of bins and, of each kernel, its averages over them: `(bins, kernels)`.

    Times are in bins of training, up to 0 which is now. Averages are weights for each bin of
    training, so that they are of one size whatever the bins.
    """
    # Not `layer.resample`: a layer that was built for few frames would refuse smaller bins.
    basis = type(layer).from_config({**layer.get_config(), "bin_size": bin_size})._unscaled_basis
    scale = 1 / np.sqrt(layer._fan_in() * layer.kernel_size)
    coefficients = np.reshape(np.array(layer.get_weights()[0]), (len(basis), -1))
    edges = bin_size * np.arange(-basis.shape[1], 1)
    return edges, scale * basis.T @ coefficients

"""How much of what enters each part of a network is zero."""

import numpy as np

from keras_pleiades.plots._figure import new_figure


def sparsity(model, frames: np.ndarray, title: str | None = None):
    """Draws the part of zeros in what enters each block of a network.

    Events are few, and ReLU makes zeros of what is negative: hardware that skips zeros saves as
    much of the work as the bars are long.

    Args:
        model: A PLEIADES network.
        frames: `(batch, time, height, width, channels)` or, of one clip, without batch; more than
            `context_frames`. All features of the clip are held in memory: some tens of frames.
        title: A line above the picture.

    Returns:
        A `matplotlib.figure.Figure` with a bar a block, the first on top.

    Example:
        >>> import keras_pleiades as kp
        >>> model = kp.zoo.gesture(input_shape=(None, 16, 16, 2))
        >>> figure = sparsity(model, np.zeros((46, 16, 16, 2), "float32"))
        >>> float(figure.axes[0].patches[0].get_width())  # percent: nothing happened
        100.0
    """
    parts = zeros_entering(model, frames)
    figure = new_figure(6.0, 0.3 * len(parts) + 1.0)
    axes = figure.add_subplot()
    bars = axes.barh(list(parts), [100 * part for part in parts.values()])
    axes.bar_label(bars, fmt="%.0f %%", padding=3, fontsize=8)
    axes.invert_yaxis()
    axes.set(xlim=(0, 112), xlabel="zeros in what enters (%)")
    axes.set_xticks(range(0, 101, 20))
    if title:
        axes.set_title(title)
    return figure


def zeros_entering(model, frames: np.ndarray) -> dict[str, float]:
    """Return the part of zeros, from 0 to 1, in what enters each block, by its name."""
    import keras

    from keras_pleiades import layers

    frames = np.asarray(frames, np.float32)
    frames = frames[None] if frames.ndim == 4 else frames
    kinds = (
        layers.SpatioTemporalBlock,
        layers.SpatialBlock,
        layers.SpatialBottleneck,
        layers.CenterNetHead,
        keras.layers.Dense,
    )
    first, *others = (layer for layer in model.layers if isinstance(layer, kinds))
    parts = {first.name: float((frames == 0).mean())}
    probe = keras.Model(model.input, [layer.input for layer in others])
    for layer, entering in zip(others, probe.predict_on_batch(frames), strict=True):
        parts[layer.name] = float((keras.ops.convert_to_numpy(entering) == 0).mean())
    return parts

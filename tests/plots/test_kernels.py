import keras
import numpy as np
import pytest
from scipy.special import eval_jacobi

import keras_pleiades as kp

pytest.importorskip("matplotlib", reason="plots need matplotlib")


@pytest.fixture
def layer():
    layer = kp.layers.PleiadesConv(3, kernel_size=6, degree=2, alpha=0.1, beta=0.2)
    layer.build((None, 7, 4, 4, 2))
    return layer


def heights(axes):
    return np.array([bar.get_height() for bar in axes.patches])


def test_bars_are_the_weights_that_are_applied(layer):
    figure = kp.plots.kernels(layer, ratios=(0.5, 1.0, 4.0), count=9, dt=10_000)
    assert len(figure.axes) == 3 * 6  # there are no more than six
    order = np.argsort(-np.square(dense(layer)).sum(axis=0))
    for row, ratio in enumerate((0.5, 1.0, 4.0)):
        free = kp.layers.PleiadesConv.from_config({**layer.get_config(), "bin_size": ratio})
        free.build((None, None, 4, 4, 2))
        free.set_weights(layer.get_weights())
        weights = free.kernel.reshape(free.bins, -1) / ratio  # a level's shrink with the bin
        for column, kernel in enumerate(order):
            axes = figure.axes[row * 6 + column]
            np.testing.assert_allclose(heights(axes), weights[:, kernel], atol=1e-6)
            edges = [bar.get_x() for bar in axes.patches]
            # Bins run back from now; where they do not divide the window the oldest sticks out.
            np.testing.assert_allclose(edges, 10 * ratio * np.arange(-free.bins, 0), atol=1e-9)
    assert [figure.axes[6 * row].get_ylabel() for row in range(3)] == ["5 ms", "10 ms", "40 ms"]


def test_the_curve_is_the_polynomial(layer):
    axes = kp.plots.kernels(layer, ratios=(1.0,), count=1).axes[0]
    line = axes.get_lines()[0]
    best = np.argmax(np.square(dense(layer)).sum(axis=0))
    t = np.asarray(line.get_xdata())  # bins before now: the window is 6 of them
    gamma = np.array(keras.ops.convert_to_numpy(layer.coefficients)).reshape(3, -1)[:, best]
    expected = sum(gamma[n] * eval_jacobi(n, 0.1, 0.2, 1 + t / 3) for n in range(3))
    # 200 bins of a parabola: their averages are off by a 24th of the curvature, 1e-5 of it.
    np.testing.assert_allclose(line.get_ydata(), expected / np.sqrt(2 * 6), atol=1e-3)
    assert (t[0], t[-1]) == pytest.approx((-5.985, -0.015))


def dense(layer):
    """Kernels on a fine grid, up to a factor."""
    basis = kp.basis.jacobi_basis(layer.degree, 200, layer.alpha, layer.beta, layer.interval)
    gamma = np.array(keras.ops.convert_to_numpy(layer.coefficients))
    return basis.T @ gamma.reshape(len(basis), -1)


def test_free_and_depthwise_kernels():
    free = kp.layers.PleiadesConv(1, kernel_size=4, degree=None)
    free.build((None, None, 2, 2, 1))
    axes = kp.plots.kernels(free, ratios=(0.5,), count=1).axes[0]
    taps = free.kernel.ravel()
    np.testing.assert_allclose(heights(axes), np.repeat(taps, 2), atol=1e-6)
    depthwise = kp.layers.DepthwisePleiadesConv(kernel_size=4, degree=2)
    depthwise.build((None, None, 2, 2, 5))
    figure = kp.plots.kernels(depthwise, ratios=(1.0,), count=9)
    assert len(figure.axes) == 5
    found = sorted(heights(axes).round(5).tolist() for axes in figure.axes)
    expected = depthwise.kernel.reshape(4, -1).T.round(5).tolist()
    np.testing.assert_allclose(found, sorted(expected), atol=2e-5)


def test_what_is_no_layer(layer):
    with pytest.raises(ValueError, match="temporal_layers"):
        kp.plots.kernels(kp.layers.PleiadesConv(3))
    with pytest.raises(ValueError, match="temporal_layers"):
        kp.plots.kernels(keras.layers.ReLU())
    with pytest.raises(ValueError, match="count=0"):
        kp.plots.kernels(layer, count=0)

"""Jacobi polynomials averaged over time bins. NumPy and SciPy only: no Keras in this file."""

import math
import numbers

import numpy as np
from scipy.special import eval_jacobi

# kernel_size * old_dt / new_dt lands on a whole number of bins up to float rounding.
_WHOLE = 1e-6


def jacobi_basis(
    degree: int,
    bins: float,
    alpha: float = -0.25,
    beta: float = -0.25,
    interval: tuple[float, float] = (-1.0, 1.0),
) -> np.ndarray:
    r"""Average the Jacobi polynomials of degree 0..`degree` over each of `bins` time bins.

    The window of the kernel, `interval`, is cut into bins of equal width $h$ that run back from
    its newest end:

    $$\bar P_n[j] = \frac{1}{h} \int_{\text{bin } j} P_n^{(\alpha, \beta)}(\tau)\, d\tau$$

    The polynomials are zero outside of the interval. So when `bins` is not whole, the oldest bin
    (the first column) sticks out of the window and only its part inside contributes.

    Args:
        degree: Highest degree, at least 0: there are `degree + 1` polynomials.
        bins: How many bins fit into the window. Need not be whole: 2.5 gives three columns.
        alpha: First Jacobi parameter, above -1. (0, 0) is Legendre, (-0.5, -0.5) Chebyshev.
        beta: Second Jacobi parameter, above -1.
        interval: The part of the polynomials' axis that the window covers. On (-1, 1), the
            paper's choice, they are orthogonal; the authors' checkpoint uses (0, 1).

    Returns:
        A float64 array of shape `(degree + 1, ceil(bins))`, oldest bin first.

    Example:
        P_0 is 1 in every bin, and P_1 is a straight line:

        >>> jacobi_basis(1, 4, alpha=0.0, beta=0.0)
        array([[ 1.  ,  1.  ,  1.  ,  1.  ],
               [-0.75, -0.25,  0.25,  0.75]])
    """
    if isinstance(degree, bool) or not isinstance(degree, numbers.Integral) or degree < 0:
        raise ValueError(
            f"`degree` must be a whole number, at least 0. Received: degree={degree!r}. "
            "The networks of the paper use degree=4."
        )
    if not (alpha > -1 and beta > -1 and math.isfinite(alpha) and math.isfinite(beta)):
        raise ValueError(
            "Jacobi polynomials are orthogonal for `alpha` and `beta` above -1. "
            f"Received: alpha={alpha}, beta={beta}"
        )
    edges, width = _bin_edges(bins, interval)
    # Gauss-Legendre with m nodes is exact for polynomials up to degree 2m - 1. Unlike a
    # difference of antiderivatives it does not cancel, so bases of 10 and 20 bins agree to 1e-15.
    nodes, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    tau = middle[:, None] + half[:, None] * nodes  # (bins, nodes)
    n = np.arange(degree + 1)[:, None, None]
    return eval_jacobi(n, alpha, beta, tau) @ weights * (half / width)


def box_basis(kernel_size: int, bins: float) -> np.ndarray:
    """Average `kernel_size` boxes of equal width over `bins` time bins.

    This is the basis of a free kernel: each tap is the height of one box, so the taps are a
    continuous filter (a staircase) that can be resampled like any other. With as many bins as
    taps it is the identity.

    Args:
        kernel_size: How many boxes the window holds.
        bins: How many bins fit into the window, as in `jacobi_basis`.

    Returns:
        A float64 array of shape `(kernel_size, ceil(bins))`, oldest first.

    Example:
        >>> box_basis(2, 4)
        array([[1., 1., 0., 0.],
               [0., 0., 1., 1.]])
    """
    edges, width = _bin_edges(bins, (0.0, float(kernel_size)))
    starts = np.arange(kernel_size)[:, None]
    overlap = np.minimum(edges[1:], starts + 1) - np.maximum(edges[:-1], starts)
    return np.maximum(overlap, 0.0) / width


def count_bins(bins: float) -> int:
    """Return how many columns a basis of `bins` bins has: a begun bin counts as one.

    >>> count_bins(10), count_bins(10 / 0.7)
    (10, 15)
    """
    if not (isinstance(bins, numbers.Real) and math.isfinite(bins) and bins > 0):
        raise ValueError(f"`bins` must be a positive number. Received: bins={bins!r}")
    return max(1, math.ceil(bins - _WHOLE))


def _bin_edges(bins: float, interval: tuple[float, float]) -> tuple[np.ndarray, float]:
    """Return the edges of the bins, cut to the interval, and the width of a whole bin."""
    start, stop = map(float, interval)
    if not (math.isfinite(start) and math.isfinite(stop) and start < stop):
        raise ValueError(
            "`interval` must be two finite numbers, the smaller first, such as (-1.0, 1.0). "
            f"Received: interval={interval!r}"
        )
    columns = count_bins(bins)
    if abs(columns - bins) <= _WHOLE:
        bins = columns
    ages = np.arange(columns, -1, -1) / bins  # age of each edge in windows, oldest first
    edges = stop - (stop - start) * np.minimum(ages, 1.0)
    return edges, (stop - start) / bins

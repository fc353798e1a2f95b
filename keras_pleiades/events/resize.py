"""Along one axis: which cells a pixel's event goes to, and with what share."""

import numpy as np


def area_taps(size: int, new: int) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """Shares of `size` pixels among `new` cells, by the length that they have in common.

    Pixel i covers `[i * new / size, (i + 1) * new / size)` in cells.

    Returns:
        Pairs (cell of each pixel, share of each pixel; None for all of it). Shares add up to 1.

    Example:
        >>> area_taps(4, 2)  # a whole factor: one cell a pixel
        [(array([0, 0, 1, 1]), None)]
        >>> for cell, share in area_taps(3, 2):  # the middle pixel is halved
        ...     print(cell, share)
        [0 0 1] [1.  0.5 1. ]
        [1 1 1] [0.  0.5 0. ]
    """
    i = np.arange(size)
    if size % new == 0:
        return [(i // (size // new), None)]
    # In units of 1 / size of a cell everything is a whole number: no rounding until the end.
    begin, end = i * new, (i + 1) * new
    first = begin // size
    taps = []
    for j in range(int(((end - 1) // size - first).max()) + 1):
        common = np.minimum(end, (first + j + 1) * size) - np.maximum(begin, (first + j) * size)
        share = (np.maximum(common, 0) / new).astype(np.float32)
        taps.append((np.minimum(first + j, new - 1), share))
    return taps


def bilinear_taps(size: int, new: int) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """Shares of `size` pixels between the two of `new` cells whose centres are nearest.

    The centre of pixel i lies at `(i + 1/2) * new / size - 1/2`, counted in centres of cells.
    Beyond the outermost centre the outermost cell takes all.

    Example:
        >>> for cell, share in bilinear_taps(4, 2):  # centres at -0.25, 0.25, 0.75, 1.25
        ...     print(cell, share)
        [0 0 0 1] [0.25 0.75 0.25 0.75]
        [0 1 1 1] [0.75 0.25 0.75 0.25]
    """
    i = np.arange(size)
    if size == new:
        return [(i, None)]
    # Twice the position in units of 1 / size: whole numbers again.
    position = (2 * i + 1) * new - size
    low = position // (2 * size)
    part = (position - low * 2 * size) / (2 * size)
    return [
        (np.clip(low, 0, new - 1), (1 - part).astype(np.float32)),
        (np.clip(low + 1, 0, new - 1), part.astype(np.float32)),
    ]

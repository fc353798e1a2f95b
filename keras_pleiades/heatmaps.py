"""Points and boxes as heatmaps: cells, offsets and Gaussians, on `keras.ops`."""

from keras import ops


def to_cells(yx, strides, shape):
    """Return the cell `(..., 2)` that each point lies in and its offset there, as floats.

    Example:
        >>> cell, offset = to_cells(ops.array([[40.0, 80.0]]), strides=32, shape=(3, 4))
        >>> ops.convert_to_numpy(cell).tolist(), ops.convert_to_numpy(offset).tolist()
        ([[1.0, 2.0]], [[0.25, 0.5]])
    """
    scaled = yx / strides
    last = ops.stack([ops.cast(size - 1, yx.dtype) for size in shape])
    cell = ops.clip(ops.floor(scaled), 0.0, last)
    return cell, scaled - cell


def render(cell, sigma, shape):
    """Return `(frames, objects, height, width)`: 1 at each center cell, a Gaussian around it.

    Example:
        >>> maps = render(ops.array([[[0.0, 1.0]]]), sigma=ops.array([[0.5]]), shape=(1, 3))
        >>> ops.convert_to_numpy(maps)[0, 0].round(3).tolist()
        [[0.135..., 1.0, 0.135...]]
    """
    y, x = (ops.arange(size, dtype=cell.dtype) for size in shape)
    dy = (y - cell[..., 0:1])[..., :, None]  # (F, N, H, 1)
    dx = (x - cell[..., 1:2])[..., None, :]  # (F, N, 1, W)
    distance = dy * dy + dx * dx
    gaussian = ops.exp(-distance / (2 * sigma * sigma)[..., None, None])
    # Below 1 off the center, whatever the size: 1 is what makes a center.
    return ops.where(distance == 0, 1.0, ops.minimum(gaussian, 1.0 - 1e-6))


def read_cells(maps, cell):
    """Return `(frames, objects, channels)`: the maps' values at each object's cell.

    Example:
        >>> maps = ops.reshape(ops.arange(6, dtype="float32"), (1, 2, 3, 1))
        >>> ops.convert_to_numpy(read_cells(maps, ops.array([[[1.0, 2.0]]]))).tolist()
        [[[5.0]]]
    """
    _, height, width, channels = ops.shape(maps)
    flat = ops.reshape(maps, (-1, height * width, channels))
    index = ops.cast(cell[..., 0] * width + cell[..., 1], "int32")[..., None]
    return ops.take_along_axis(flat, ops.repeat(index, channels, axis=-1), axis=1)


def gaussian_radius(height, width, min_overlap):
    """Return how far a box's two corners can each move, at an IoU of `min_overlap` still.

    The least over three cases: both corners move the same way, both inwards, both outwards.

    Example:
        >>> radius = gaussian_radius(ops.array(10.0), ops.array(10.0), min_overlap=0.25)
        >>> float(radius)  # a box of 5 x 5 in one of 10 x 10
        2.5
    """
    total, area = height + width, height * width
    same = area * (1 - min_overlap) / (1 + min_overlap)
    same = (total - ops.sqrt(ops.maximum(total * total - 4 * same, 0.0))) / 2
    # (h - 2r)(w - 2r) = o h w, and h w = o (h + 2r)(w + 2r)
    inside = total * total - 4 * (1 - min_overlap) * area
    inside = (total - ops.sqrt(ops.maximum(inside, 0.0))) / 4
    outside = total * total + 4 * (1 - min_overlap) / min_overlap * area
    outside = (ops.sqrt(outside) - total) / 4
    return ops.maximum(ops.minimum(same, ops.minimum(inside, outside)), 0.0)

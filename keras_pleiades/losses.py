"""Losses: what training makes small. `keras.losses.Loss` on `keras.ops`, in float32 always.

Pixels are those of the model's input frame, one cell of a heatmap is `strides` of them wide, and

    cell = floor(pixel / strides)
    offset = pixel / strides - cell
    pixel = (cell + offset) * strides

`keras_pleiades.decode` reads predictions by the same rule.
"""

import keras
from keras import ops

from keras_pleiades._checks import check_choice
from keras_pleiades.heatmaps import gaussian_radius, read_cells, render, to_cells


@keras.saving.register_keras_serializable(package="keras_pleiades")
class FrameCrossentropy(keras.losses.Loss):
    """Cross-entropy of every frame's logits against the class of the clip, or of the frame.

    Args:
        label_smoothing: Share of the target that is spread evenly over all classes.
        name: Name of the loss.
        **kwargs: `reduction`, `dtype`, as in every Keras loss. By default it is the weighted mean:
            frames of sample weight 0 do not count.

    Call arguments:
        y_true: Classes `(batch,)` or `(batch, time)`.
        y_pred: Logits `(batch, time, num_classes)`.
        sample_weight: `(batch,)` or `(batch, time)`.

    Example:
        >>> import numpy as np
        >>> loss = FrameCrossentropy()
        >>> logits = np.zeros((2, 3, 10), "float32")  # two clips of three frames, knowing nothing
        >>> round(float(loss(np.array([4, 9]), logits)), 4)  # log 10
        2.3026
    """

    def __init__(self, label_smoothing: float = 0.0, name: str = "frame_crossentropy", **kwargs):
        super().__init__(name=name, **{"reduction": "mean_with_sample_weight", **kwargs})
        self.label_smoothing = label_smoothing

    def __call__(self, y_true, y_pred, sample_weight=None):
        """Return the loss; a weight a clip becomes one a frame."""
        if sample_weight is not None:
            sample_weight = per_frame(sample_weight, ops.shape(y_pred)[:2], self.dtype)
        return super().__call__(y_true, y_pred, sample_weight)

    def call(self, y_true, y_pred):
        """Return the loss of each frame, (batch, time)."""
        classes = y_pred.shape[-1]
        labels = ops.cast(per_frame(y_true, ops.shape(y_pred)[:2], self.dtype), "int32")
        log_p = ops.log_softmax(y_pred, axis=-1)
        picked = ops.sum(ops.one_hot(labels, classes, dtype=log_p.dtype) * log_p, axis=-1)
        smooth = self.label_smoothing
        return -((1 - smooth) * picked + smooth * ops.mean(log_p, axis=-1))

    def get_config(self):
        """Return the constructor's arguments."""
        return {**super().get_config(), "label_smoothing": self.label_smoothing}


class _CenterLoss(keras.losses.Loss):
    """What boxes and points share: focal loss, offsets, weights per frame, a mean over objects."""

    def __init__(self, strides, offset_loss, offset_weight, name, **kwargs):
        super().__init__(name=name, **kwargs)
        self.strides = strides
        self.offset_loss = check_choice(offset_loss, ("l1", "smooth_l1"), "offset_loss")
        self.offset_weight = offset_weight

    def __call__(self, y_true, y_pred, sample_weight=None):
        """Return the loss over the frames that have a weight."""
        # The mean is over objects, not over frames, so the weights must be known in `call`.
        weight = 1.0 if sample_weight is None else sample_weight
        return super().__call__((y_true, weight), y_pred)

    def _frames(self, y_true, y_pred):
        """Return labels, weights and predictions with batch and time folded into one axis."""
        labels, weight = y_true
        weight = per_frame(weight, ops.shape(y_pred)[:2], self.dtype)
        _, _, height, width, channels = ops.shape(y_pred)
        labels = ops.reshape(labels, (-1, *labels.shape[2:]))
        return (
            labels,
            ops.reshape(weight, (-1,)),
            ops.reshape(y_pred, (-1, height, width, channels)),
        )

    def _offset_error(self, true, found):
        error = ops.abs(true - found)
        if self.offset_loss == "smooth_l1":
            error = ops.where(error < 1, 0.5 * error * error, error - 0.5)
        return ops.mean(error, axis=-1)

    def get_config(self):
        config = {
            "strides": self.strides,
            "offset_loss": self.offset_loss,
            "offset_weight": self.offset_weight,
        }
        return {**super().get_config(), **config}


@keras.saving.register_keras_serializable(package="keras_pleiades")
class CenterNetLoss(_CenterLoss):
    """The CenterNet loss of boxes: focal on heatmaps, L1 on sizes, smooth L1 on offsets.

    With p the heatmap's probability and Y the target, a Gaussian around each box's center cell
    (the largest where several overlap), and N the number of center cells,

        -1/N sum of  (1 - p)^2 log p              where Y = 1
                     (1 - Y)^4 p^2 log(1 - p)     elsewhere

    plus the mean error over boxes of offset and size, each read at the box's center cell. The
    Gaussian's sigma is (2 r + 1) / 6 with r how far both corners can move, in cells, and leave an
    overlap (IoU) of `min_overlap` with the box. CornerNet's and CenterNet's code for r solves its
    quadratic equations wrongly and comes out about as large with 0.7 as the right r with 0.3.

    Args:
        num_classes: Number of heatmaps.
        strides: Pixels of the input frame to one cell of the heatmap, such as 4 in the detector.
        offset_loss: "smooth_l1" (the paper) or "l1" (CenterNet).
        offset_weight: Weight of the offsets' loss.
        size_weight: Weight of the sizes' loss, which is in cells.
        min_overlap: Sets the Gaussians' size.
        name: Name of the loss.
        **kwargs: `dtype`.

    Call arguments:
        y_true: `(batch, time, boxes, 5)`: y and x of the center, height and width in pixels of the
            input frame, class; class -1 is an empty row.
        y_pred: `(batch, time, height', width', num_classes + 4)`: heatmap logits, then height,
            width, x offset and y offset in cells, as `PleiadesDetector` gives them.
        sample_weight: `(batch, time)`, 1 in frames that carry labels and 0 in the others.

    Example:
        >>> import numpy as np
        >>> boxes = np.full((1, 1, 2, 5), -1.0)
        >>> boxes[0, 0, 0] = 9.0, 22.0, 8.0, 12.0, 1  # y, x, height, width, class
        >>> nothing = np.zeros((1, 1, 8, 8, 2 + 4), "float32")
        >>> right = nothing.copy()
        >>> right[..., :2] = -20.0  # two heatmaps: nowhere, but
        >>> right[0, 0, 2, 5] = -20.0, 20.0, 2.0, 3.0, 0.5, 0.25
        >>> loss = CenterNetLoss(num_classes=2, strides=4)
        >>> float(loss(boxes, right)) < 1e-6 < float(loss(boxes, nothing))
        True
    """

    def __init__(
        self,
        num_classes: int,
        strides: int = 4,
        offset_loss: str = "smooth_l1",
        offset_weight: float = 1.0,
        size_weight: float = 0.1,
        min_overlap: float = 0.3,
        name: str = "center_net",
        **kwargs,
    ):
        super().__init__(strides, offset_loss, offset_weight, name, **kwargs)
        self.num_classes = num_classes
        self.size_weight = size_weight
        self.min_overlap = min_overlap

    def call(self, y_true, y_pred):
        """Return the loss of the whole batch, (1,)."""
        boxes, weight, maps = self._frames(y_true, y_pred)
        boxes = ops.where(boxes[..., 4:] >= 0, boxes, -1.0)  # what an empty row holds is no matter
        logits, regressions = maps[..., : self.num_classes], maps[..., self.num_classes :]
        yx, size, label = boxes[..., :2], boxes[..., 2:4] / self.strides, boxes[..., 4]
        cell, offset = to_cells(yx, self.strides, ops.shape(maps)[1:3])
        radius = gaussian_radius(size[..., 0], size[..., 1], self.min_overlap)
        gaussians = render(cell, (2 * radius + 1) / 6, ops.shape(maps)[1:3])  # (F, N, H, W)
        target = ops.stack(
            [
                ops.max(gaussians * ops.cast(label == c, self.dtype)[..., None, None], axis=1)
                for c in range(self.num_classes)
            ],
            axis=-1,
        )  # (F, H, W, classes)
        heat, centers = focal_loss(target, logits)
        found = read_cells(regressions, cell)  # (F, N, 4): height, width, x, y
        offsets = self._offset_error(offset, ops.flip(found[..., 2:], axis=-1))
        sizes = ops.mean(ops.abs(size - found[..., :2]), axis=-1)
        error = self.offset_weight * offsets + self.size_weight * sizes
        real = ops.cast(label >= 0, self.dtype) * weight[:, None]
        total = ops.sum(heat * weight) / ops.maximum(ops.sum(centers * weight), 1.0)
        total += ops.sum(error * real) / ops.maximum(ops.sum(real), 1.0)
        return ops.reshape(total, (1,))

    def get_config(self):
        """Return the constructor's arguments."""
        config = {
            "num_classes": self.num_classes,
            "size_weight": self.size_weight,
            "min_overlap": self.min_overlap,
        }
        return {**super().get_config(), **config}


@keras.saving.register_keras_serializable(package="keras_pleiades")
class CenterPointLoss(_CenterLoss):
    """The CenterNet loss of one point a frame, such as the pupil's center.

    Focal loss on the one heatmap (see `CenterNetLoss`) and smooth L1 on the two offsets, a mean
    over the frames in which the eye is open.

    Args:
        strides: Pixels of the input frame to one cell of the heatmap, such as 32 in the tracker.
        offset_loss: "smooth_l1" or "l1".
        offset_weight: Weight of the offsets' loss.
        sigma: Of the heatmap's Gaussian, in cells.
        offset_sigma: None (CenterNet): only the point's own cell learns its offset. A number: so do
            cells around it, with weights that fall as a Gaussian of this sigma, in cells, with the
            distance from the point to the cell's middle. Then a point near an edge is found from
            either side of it, also when the wrong cell has the higher score.
        name: Name of the loss.
        **kwargs: `dtype`.

    Call arguments:
        y_true: `(batch, time, 3)`: x and y in pixels of the input frame, and 1 where the eye is
            closed, which leaves the frame out.
        y_pred: `(batch, time, height', width', 3)`: heatmap logit, x offset and y offset in cells,
            as `PleiadesTracker` gives them.
        sample_weight: `(batch, time)`, 1 in frames that carry a label and 0 in the others.

    Example:
        >>> import numpy as np
        >>> right = np.full((1, 1, 3, 4, 3), -20.0, "float32")
        >>> right[0, 0, 1, 2] = 20.0, 0.5, 0.25
        >>> loss = CenterPointLoss(strides=32)
        >>> float(loss(np.array([[[80.0, 40.0, 0]]]), right)) < 1e-6
        True
        >>> float(loss(np.array([[[0.0, 0.0, 1]]]), right))  # closed
        0.0
        >>> around = CenterPointLoss(strides=32, offset_sigma=0.6)  # now the cells beside it err
        >>> float(around(np.array([[[80.0, 40.0, 0]]]), right)) > 0.1
        True
    """

    def __init__(
        self,
        strides: int = 32,
        offset_loss: str = "smooth_l1",
        offset_weight: float = 1.0,
        sigma: float = 0.5,
        offset_sigma: float | None = None,
        name: str = "center_point",
        **kwargs,
    ):
        super().__init__(strides, offset_loss, offset_weight, name, **kwargs)
        if offset_sigma is not None and not offset_sigma > 0:
            raise ValueError(
                "`offset_sigma` must be above 0, or None so that only the point's own cell learns "
                f"its offset. Received: offset_sigma={offset_sigma!r}"
            )
        self.sigma = sigma
        self.offset_sigma = offset_sigma

    def call(self, y_true, y_pred):
        """Return the loss of the whole batch, (1,)."""
        points, weight, maps = self._frames(y_true, y_pred)
        weight = weight * ops.cast(points[:, 2] < 0.5, self.dtype)
        yx = ops.flip(points[:, :2], axis=-1)
        yx = ops.where(weight[:, None] > 0, yx, 0.0)  # what a closed eye's point is does not count
        cell, offset = to_cells(yx[:, None], self.strides, ops.shape(maps)[1:3])
        sigma = self.sigma * ops.ones_like(cell[..., 0])
        target = render(cell, sigma, ops.shape(maps)[1:3])[:, 0, :, :, None]
        heat, _ = focal_loss(target, maps[..., :1])
        if self.offset_sigma is None:
            found = ops.flip(read_cells(maps[..., 1:], cell), axis=-1)  # (F, 1, 2): y, x
            away = self._offset_error(offset, found)[:, 0]
        else:
            away = self._offset_error_around(yx / self.strides, maps[..., 1:])
        error = heat + self.offset_weight * away
        total = ops.sum(error * weight) / ops.maximum(ops.sum(weight), 1.0)
        return ops.reshape(total, (1,))

    def _offset_error_around(self, yx, found):
        """Return the mean error over cells, `(frames,)`, weighted by how near the point is."""
        _, height, width, _ = ops.shape(found)
        y, x = ops.arange(height, dtype=self.dtype), ops.arange(width, dtype=self.dtype)
        cells = ops.stack(ops.meshgrid(y, x, indexing="ij"), axis=-1)  # (H, W, 2)
        true = yx[:, None, None] - cells  # (F, H, W, 2): y, x
        near = -ops.sum(ops.square(true - 0.5), axis=-1) / (2 * self.offset_sigma**2)
        near = ops.softmax(ops.reshape(near, (-1, height * width)), axis=-1)
        error = self._offset_error(true, ops.flip(found, axis=-1))
        return ops.sum(near * ops.reshape(error, (-1, height * width)), axis=-1)

    def get_config(self):
        """Return the constructor's arguments."""
        return {**super().get_config(), "sigma": self.sigma, "offset_sigma": self.offset_sigma}


def focal_loss(target, logits):
    """Return the focal loss and the number of center cells of each frame, from logits.

    Args:
        target: `(frames, height, width, classes)`, 1 at centers and below elsewhere.
        logits: The same shape.

    Example:
        >>> target = ops.array([[[[1.0], [0.0]]]])  # a center beside an empty cell
        >>> loss, centers = focal_loss(target, ops.zeros((1, 1, 2, 1)))
        >>> round(float(loss[0]), 4), float(centers[0])  # two times 0.25 log 2
        (0.3466, 1.0)
    """
    log_p, log_not_p = ops.log_sigmoid(logits), ops.log_sigmoid(-logits)
    center = target >= 1
    # Powers of p as exponentials of its logarithm: nothing to divide by, nothing to clip.
    hit = ops.exp(2 * log_not_p) * log_p
    miss = (1 - target) ** 4 * ops.exp(2 * log_p) * log_not_p
    loss = -ops.sum(ops.where(center, hit, miss), axis=(1, 2, 3))
    return loss, ops.sum(ops.cast(center, logits.dtype), axis=(1, 2, 3))


def per_frame(values, shape, dtype):
    """Return one value a frame, `(batch, time)`, from one for all, one a clip or one a frame.

    Example:
        >>> keras.ops.convert_to_numpy(per_frame([1, 2], (2, 3), "float32")).tolist()
        [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
    """
    values = ops.convert_to_tensor(values, dtype=dtype)
    if len(values.shape) == 1:
        values = values[:, None]
    return values * ops.ones(shape, dtype=dtype)

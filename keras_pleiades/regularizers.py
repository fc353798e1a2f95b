"""A price on activity: networks whose features are mostly zero compute less on event hardware."""

import keras
from keras import ops

from keras_pleiades.layers import SpatialBlock, SpatioTemporalBlock


@keras.saving.register_keras_serializable(package="keras_pleiades")
class MeanActivity(keras.regularizers.Regularizer):
    """The L1 norm of a layer's outputs as a mean: `weight` times each clip's mean of |x|.

    A mean, so that the weight means the same for every clip and layer size. Clips are summed,
    because Keras divides what an activity regularizer returns by their number.

    Args:
        weight: What one unit of mean activity costs.

    Example:
        >>> import numpy as np
        >>> float(MeanActivity(0.5)(np.array([[0.0, 2.0], [0.0, 4.0]], "float32")))
        1.5
    """

    def __init__(self, weight: float = 1e-3):
        self.weight = weight

    def __call__(self, x):
        """Return the penalty, in float32 also for half precision."""
        x = ops.abs(ops.cast(x, "float32"))
        return self.weight * ops.sum(ops.mean(x, axis=tuple(range(1, len(x.shape)))))

    def get_config(self):
        """Return the constructor's arguments."""
        return {"weight": self.weight}


def penalize_activity(model: keras.Model, weight: float | dict[str, float]) -> list[str]:
    """Add to a model's loss the mean activity after each block's last ReLU.

    It is a setting of the training, not of the network: what the model computes and saves stays
    the same. Call it before `fit`, which then trains on `model.losses` too.

    Args:
        model: A PLEIADES network.
        weight: One for every block, or one for each block named, such as `{"block_2": 1e-3}`.

    Returns:
        The names of the blocks that are penalized.

    Example:
        >>> import keras_pleiades as kp
        >>> model = kp.zoo.gesture(input_shape=(None, 16, 16, 2))
        >>> penalize_activity(model, {"block_1": 1e-2, "block_5": 1e-3})
        ['block_1', 'block_5']
    """
    blocks = {
        layer.name: layer
        for layer in model.layers
        if isinstance(layer, (SpatialBlock, SpatioTemporalBlock))
    }
    weights = weight if isinstance(weight, dict) else dict.fromkeys(blocks, weight)
    unknown = sorted(set(weights) - set(blocks))
    if unknown:
        raise ValueError(
            f"`weight` must name blocks of {model.name}, which are {list(blocks)}. "
            f"Received: {unknown}"
        )
    for name, each in weights.items():
        blocks[name].activity_regularizer = MeanActivity(each)
    return list(weights)

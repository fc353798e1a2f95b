"""Cuts a feature to its newest frames."""

import keras

from keras_pleiades.layers.carried_context import CarriedContext


@keras.saving.register_keras_serializable(package="keras_pleiades")
class DropOldestFrames(keras.layers.Layer):
    """Drops the first frames of a clip, so that a skip meets a path that lost as many.

    Args:
        frames: How many frames to drop.
        **kwargs: `name`, `dtype` and so on, as in every Keras layer.

    Call arguments:
        inputs: A tensor `(batch, time, ...)`.

    Output shape:
        `(batch, time - frames, ...)`

    Example:
        >>> import keras_pleiades as kp
        >>> tuple(kp.layers.DropOldestFrames(9)(keras.ops.zeros((1, 12, 4, 4, 2))).shape)
        (1, 3, 4, 4, 2)
    """

    def __init__(self, frames: int, **kwargs):
        super().__init__(**kwargs)
        self.frames = frames

    def call(self, inputs):
        """Return the newest frames; online no path has lost any."""
        if CarriedContext.active() is not None:
            return inputs
        return inputs[:, self.frames :]

    def compute_output_shape(self, input_shape):
        """Return the input's shape with fewer frames."""
        batch, frames, *rest = input_shape
        return (batch, None if frames is None else frames - self.frames, *rest)

    def get_config(self):
        """Return the constructor's arguments."""
        return {**super().get_config(), "frames": self.frames}

"""A spatial convolution of each frame by itself."""

import keras
from keras import ops

from keras_pleiades._checks import check_channels, check_choice
from keras_pleiades.initializers import Normal
from keras_pleiades.layers import torch_kernels, xla_kernels


@keras.saving.register_keras_serializable(package="keras_pleiades")
class SpatialConv(keras.layers.Layer):
    """Convolves every frame in space; nothing passes from one frame to another.

    Frames are padded by `kernel_size // 2` on each side, as PyTorch's `padding=1` does. Keras'
    own `"same"` pads an even size at stride 2 on one side only, which is another network.

    Args:
        filters: Output channels. `None` for `kind="depthwise"`, which keeps the input's.
        kernel_size: Size of the square kernel; odd.
        strides: Step in height and width.
        kind: `"full"`; `"depthwise"`, a kernel of its own for each channel; or `"separable"`,
            depthwise and then pointwise.
        use_bias: Whether to add a bias to each output channel.
        **kwargs: `name`, `dtype` and so on, as in every Keras layer.

    Call arguments:
        inputs: A tensor `(batch, time, height, width, channels)`.

    Output shape:
        `(batch, time, ceil(height / strides), ceil(width / strides), filters)`

    Example:
        >>> import keras_pleiades as kp
        >>> layer = kp.layers.SpatialConv(16, strides=2)
        >>> tuple(layer(keras.random.normal((1, 5, 32, 31, 8))).shape)
        (1, 5, 16, 16, 16)
    """

    def __init__(
        self,
        filters: int | None = None,
        kernel_size: int = 3,
        strides: int = 1,
        kind: str = "full",
        use_bias: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.filters = filters
        self.kernel_size = kernel_size
        self.strides = strides
        self.kind = check_choice(kind, ("full", "depthwise", "separable"), "kind")
        self.use_bias = use_bias
        if (filters is None) != (kind == "depthwise"):
            raise ValueError(
                "`filters` must be given, except for kind='depthwise', which keeps the number "
                f"of channels. Received: filters={filters!r}, kind={kind!r}"
            )
        if kernel_size < 1 or kernel_size % 2 == 0 or strides < 1:
            raise ValueError(
                "`kernel_size` must be odd, so that padding is the same on each side, and "
                f"`strides` at least 1. Received: kernel_size={kernel_size}, strides={strides}"
            )
        self.input_spec = keras.layers.InputSpec(ndim=5)

    def build(self, input_shape):
        """Make the kernels."""
        channels = check_channels(input_shape)
        self.input_spec = keras.layers.InputSpec(ndim=5, axes={-1: channels})
        size = (self.kernel_size, self.kernel_size, channels)
        full = self.kind == "full"
        # He's initialization, by the inputs that meet in one output.
        stddev = (2.0 / (self.kernel_size**2 * (channels if full else 1))) ** 0.5
        self.kernel = self.add_weight(
            shape=(*size, self.filters if full else 1),
            initializer=Normal(stddev),
            name="kernel",
        )
        self.pointwise_kernel = None
        if self.kind == "separable":
            self.pointwise_kernel = self.add_weight(
                shape=(channels, self.filters), initializer=Normal(), name="pointwise_kernel"
            )
        self.bias = None
        if self.use_bias:
            shape = (self.filters or channels,)
            self.bias = self.add_weight(shape=shape, initializer="zeros", name="bias")
        self.built = True

    def call(self, inputs):
        """Convolve each frame."""
        batch, frames, *size = ops.shape(inputs)
        x = ops.reshape(inputs, (batch * frames, *size))
        kernel = ops.cast(self.kernel, self.compute_dtype)
        pad = self.kernel_size // 2
        if self.kind == "full":
            kernels = torch_kernels if keras.backend.backend() == "torch" else xla_kernels
            x = kernels.conv2d(x, kernel, self.strides, pad)
        elif keras.backend.backend() == "torch":
            kernel = ops.transpose(kernel, (0, 1, 3, 2))
            x = torch_kernels.conv2d(x, kernel, self.strides, pad, groups=size[-1])
        else:
            x = self._sum_of_shifted(ops.pad(x, [(0, 0), (pad, pad), (pad, pad), (0, 0)]), kernel)
        if self.pointwise_kernel is not None:
            x = ops.matmul(x, self.pointwise_kernel)
        if self.bias is not None:
            x = x + self.bias
        return ops.reshape(x, (batch, frames, *ops.shape(x)[1:]))

    def _sum_of_shifted(self, x, kernel):
        """Convolve padded frames depthwise.

        XLA on the CPU has no fast grouped convolution, but makes one loop of a sum of shifted
        pictures.
        """
        step, taps = self.strides, range(self.kernel_size)
        _, height, width, _ = ops.shape(x)
        # From the first position of the kernel to behind its last.
        rows, columns = ((n - self.kernel_size) // step * step + 1 for n in (height, width))
        return sum(
            x[:, i : i + rows : step, j : j + columns : step] * kernel[i, j, :, 0]
            for i in taps
            for j in taps
        )

    def compute_output_shape(self, input_shape):
        """Return `(batch, time, height, width, filters)` after the step in space."""
        batch, frames, height, width, channels = input_shape
        height, width = (s if s is None else -(-s // self.strides) for s in (height, width))
        return (batch, frames, height, width, self.filters or channels)

    def get_config(self):
        """Return the constructor's arguments."""
        config = {
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "strides": self.strides,
            "kind": self.kind,
            "use_bias": self.use_bias,
        }
        return {**super().get_config(), **config}

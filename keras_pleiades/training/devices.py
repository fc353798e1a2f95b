"""Several devices: Keras' distribution on JAX, a mirrored strategy on TensorFlow."""

import contextlib

import keras


def use_devices(count: int) -> contextlib.AbstractContextManager:
    """Split every batch over so many devices; build and train the network inside.

    On a machine without accelerators the CPU is divided into `count` virtual devices, which gains
    nothing in speed: it is for trying things out. That must happen before anything was computed.

    Args:
        count: Number of devices; 1 changes nothing.
    """
    if count < 1:
        raise ValueError(f"`devices` must be at least 1. Received: devices={count}")
    if count == 1:
        return contextlib.nullcontext()
    backend = keras.backend.backend()
    if backend == "jax":
        return _on_jax(count)
    if backend == "tensorflow":
        return _on_tensorflow(count)
    raise ValueError(
        f"Training on several devices is there for JAX and TensorFlow, not for {backend}: Keras "
        "does not drive torch's DistributedDataParallel in `fit`. "
        f"Received: devices={count}. Set KERAS_BACKEND=jax, or train on one device."
    )


def default_precision() -> str:
    """Return "mixed_bfloat16" where there is a GPU or TPU, and "float32" on a CPU.

    CPUs mostly emulate half precision, slower than they compute in float32.
    """
    backend = keras.backend.backend()
    if backend == "jax":
        import jax

        accelerated = jax.default_backend() != "cpu"
    elif backend == "tensorflow":
        import tensorflow as tf

        accelerated = bool(tf.config.list_physical_devices("GPU"))
        accelerated = accelerated or bool(tf.config.list_physical_devices("TPU"))
    else:
        import torch

        accelerated = torch.cuda.is_available()
    return "mixed_bfloat16" if accelerated else "float32"


@contextlib.contextmanager
def _on_jax(count):
    import jax

    # The option takes effect if JAX has not looked for devices yet; else it says so.
    with contextlib.suppress(RuntimeError):
        jax.config.update("jax_num_cpu_devices", count)
    devices = jax.devices()
    _enough(count, devices)
    before = keras.distribution.distribution()
    names = [f"{device.platform}:{device.id}" for device in devices[:count]]
    keras.distribution.set_distribution(keras.distribution.DataParallel(devices=names))
    try:
        yield
    finally:
        keras.distribution.set_distribution(before)


@contextlib.contextmanager
def _on_tensorflow(count):
    import tensorflow as tf

    devices = [f"GPU:{i}" for i in range(len(tf.config.list_physical_devices("GPU")))]
    if not devices:
        cpu = tf.config.list_physical_devices("CPU")[0]
        with contextlib.suppress(RuntimeError):  # too late: TensorFlow has started
            parts = [tf.config.LogicalDeviceConfiguration()] * count
            tf.config.set_logical_device_configuration(cpu, parts)
        devices = [f"CPU:{i}" for i in range(len(tf.config.list_logical_devices("CPU")))]
    _enough(count, devices)
    with tf.distribute.MirroredStrategy(devices[:count]).scope():
        yield


def _enough(count, devices):
    if len(devices) < count:
        raise ValueError(
            f"There are {len(devices)} devices: {', '.join(map(str, devices))}. "
            f"Received: devices={count}"
        )

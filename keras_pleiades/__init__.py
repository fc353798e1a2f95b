"""PLEIADES networks in Keras 3: temporal kernels that are sums of orthogonal polynomials."""

import keras

from keras_pleiades import (
    basis,
    contraction,
    cost,
    datasets,
    decode,
    events,
    export,
    layers,
    losses,
    metrics,
    models,
    plots,
    regularizers,
    streaming,
    training,
    zoo,
)
from keras_pleiades._memory import keep_freed_memory
from keras_pleiades._version import __version__

__all__ = [
    "__version__",
    "basis",
    "contraction",
    "cost",
    "datasets",
    "decode",
    "events",
    "export",
    "layers",
    "losses",
    "metrics",
    "models",
    "plots",
    "regularizers",
    "streaming",
    "training",
    "zoo",
]

# Early: threads that are already running keep the arena that malloc gave them.
keep_freed_memory(keras.backend.backend())

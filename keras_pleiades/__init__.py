"""PLEIADES networks in Keras 3: temporal kernels that are sums of orthogonal polynomials."""

from keras_pleiades import (
    basis,
    contraction,
    cost,
    decode,
    events,
    layers,
    losses,
    metrics,
    models,
    plots,
    regularizers,
    training,
    zoo,
)
from keras_pleiades._version import __version__

__all__ = [
    "__version__",
    "basis",
    "contraction",
    "cost",
    "decode",
    "events",
    "layers",
    "losses",
    "metrics",
    "models",
    "plots",
    "regularizers",
    "training",
    "zoo",
]

"""Pictures of recordings, networks and results, each a function that returns its figure.

matplotlib is asked for where a figure is made, not on import.
"""

from keras_pleiades.plots._accuracy_latency import accuracy_latency
from keras_pleiades.plots._animate import animate, write_pictures
from keras_pleiades.plots._detections import detections
from keras_pleiades.plots._events import events
from keras_pleiades.plots._kernels import kernels
from keras_pleiades.plots._render import CLASS_COLOURS, OFF, ON, render
from keras_pleiades.plots._sparsity import sparsity

__all__ = [
    "CLASS_COLOURS",
    "OFF",
    "ON",
    "accuracy_latency",
    "animate",
    "detections",
    "events",
    "kernels",
    "render",
    "sparsity",
    "write_pictures",
]

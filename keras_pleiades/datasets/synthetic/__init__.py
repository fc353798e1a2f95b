"""Simulated tasks: recordings drawn from a seed, with labels that are exactly right."""

from keras_pleiades.datasets.synthetic import eyes, gestures, roads
from keras_pleiades.datasets.synthetic._generate import (
    Recording,
    generate,
    load,
    load_labels,
    record,
)

__all__ = ["Recording", "eyes", "generate", "gestures", "load", "load_labels", "record", "roads"]

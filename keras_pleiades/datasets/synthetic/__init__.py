"""Simulated tasks: recordings drawn from a seed, with labels that are exactly right."""

from keras_pleiades.datasets.synthetic import eyes, gestures, roads

__all__ = ["eyes", "gestures", "roads"]

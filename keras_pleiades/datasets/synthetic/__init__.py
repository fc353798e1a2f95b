"""Simulated tasks: recordings drawn from a seed, with labels that are exactly right."""

from keras_pleiades.datasets.synthetic import eyes, gestures

__all__ = ["eyes", "gestures"]

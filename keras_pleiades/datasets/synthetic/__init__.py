"""Simulated tasks: recordings drawn from a seed, with labels that are exactly right."""

from keras_pleiades.datasets.synthetic import gestures

__all__ = ["gestures"]

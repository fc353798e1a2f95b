"""The networks of the paper, ready to use: `gesture`, `eye_tracking`, `detector`."""

from keras_pleiades.zoo._builders import detector, eye_tracking, gesture, list_models

__all__ = ["detector", "eye_tracking", "gesture", "list_models"]

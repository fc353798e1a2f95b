"""The networks of the paper, ready to use: `gesture`, `eye_tracking`, `detector`."""

from keras_pleiades.zoo._builders import detector, eye_tracking, gesture, list_models
from keras_pleiades.zoo._presets import list_presets

__all__ = ["detector", "eye_tracking", "gesture", "list_models", "list_presets"]

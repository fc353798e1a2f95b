"""The network families: functional graphs in `keras.Model` subclasses."""

from keras_pleiades.models.classifier import PleiadesClassifier
from keras_pleiades.models.detector import PleiadesDetector
from keras_pleiades.models.pleiades_model import PleiadesModel
from keras_pleiades.models.tracker import PleiadesTracker

__all__ = ["PleiadesClassifier", "PleiadesDetector", "PleiadesModel", "PleiadesTracker"]

"""Training and evaluation from a recipe: `keras-pleiades train zoo/gesture/recipe.toml`."""

from keras_pleiades.training.data import DATASETS, Source, make_dataset
from keras_pleiades.training.network import build_model
from keras_pleiades.training.recipe import Recipe, load_recipe
from keras_pleiades.training.stopping import Interrupted
from keras_pleiades.training.trainer import evaluate, train

__all__ = [
    "DATASETS",
    "Interrupted",
    "Recipe",
    "Source",
    "build_model",
    "evaluate",
    "load_recipe",
    "make_dataset",
    "train",
]

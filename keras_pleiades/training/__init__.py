"""Training and evaluation from a recipe: `keras-pleiades train zoo/gesture/recipe.toml`."""

from keras_pleiades.training.data import DATASETS, Source, make_dataset
from keras_pleiades.training.recipe import Recipe, load_recipe
from keras_pleiades.training.trainer import Interrupted, evaluate, train

__all__ = [
    "DATASETS",
    "Interrupted",
    "Recipe",
    "Source",
    "evaluate",
    "load_recipe",
    "make_dataset",
    "train",
]

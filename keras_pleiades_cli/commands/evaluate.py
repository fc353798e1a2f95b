"""Measure a network on a recipe's test data."""

import argparse
import json

from keras_pleiades_cli.errors import GOOD
from keras_pleiades_cli.recipe import add_recipe_options, load

NAME, NEEDS_KERAS = "evaluate", True
EXAMPLES = (
    "keras-pleiades evaluate zoo/gesture/dvs128.toml --data DIR "
    "--weights out/gesture/best.weights.h5",
    "keras-pleiades evaluate zoo/gesture/recipe.toml --json",
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the recipe and the weights."""
    add_recipe_options(parser)
    parser.add_argument("--weights", metavar="FILE", help="such as out/gesture/best.weights.h5")


def run(options: argparse.Namespace) -> int:
    """Print loss and metrics."""
    recipe = load(options)
    from keras_pleiades import training

    found = training.evaluate(recipe, options.weights, options.data)
    if options.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{name:<20}{value:.6g}" for name, value in found.items()))
    return GOOD

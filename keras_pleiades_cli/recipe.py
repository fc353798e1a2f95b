"""The options of commands that take a recipe."""

import argparse

from keras_pleiades_cli.files import check_file
from keras_pleiades_cli.package import load_package


def add_recipe_options(parser: argparse.ArgumentParser) -> None:
    """Add the recipe, its data and changes to it."""
    parser.add_argument("recipe", help="a recipe, such as zoo/gesture/recipe.toml")
    parser.add_argument("--data", metavar="DIR", help="folder of the recordings")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a value of the recipe, such as training.epochs=5; may be repeated",
    )


def load(options: argparse.Namespace):
    """Return the recipe."""
    check_file(options.recipe, "a recipe, such as zoo/gesture/recipe.toml")

    return load_package().training.load_recipe(options.recipe, options.set)

"""The command line: `keras-pleiades train`, `keras-pleiades evaluate`."""

import argparse
import json
import shlex
import sys
from collections.abc import Sequence

# What each command needs is imported where it runs: `--help` answers at once, and a command that
# reads no recordings needs no backend.


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="keras-pleiades",
        description="PLEIADES networks for event cameras. KERAS_BACKEND chooses the backend.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_train(commands)
    add_evaluate(commands)
    options = parser.parse_args(arguments)
    return options.run(options, arguments)


def add_train(commands) -> None:
    """Add `train`."""
    parser = commands.add_parser("train", help="train a network by a recipe")
    _add_recipe(parser)
    parser.add_argument("--out", metavar="DIR", help="where results go; out/NAME by default")
    parser.add_argument("--resume", action="store_true", help="continue the run in --out")
    parser.add_argument("--devices", type=int, default=1, metavar="N", help="share batches")
    parser.set_defaults(run=train)


def train(options: argparse.Namespace, arguments: list[str]) -> int:
    """Train; after ctrl-C, say how to go on."""
    from keras_pleiades import training

    try:
        recipe = training.load_recipe(options.recipe, options.set)
        name = recipe.model.get("name", recipe.model.get("family"))
        out = options.out or f"out/{name}"
        results = training.train(recipe, options.data, out, options.resume, options.devices)
    except training.Interrupted as stop:
        again = arguments if options.resume else [*arguments, "--resume"]
        print(f"\n{stop}\nContinue with: keras-pleiades {shlex.join(again)}", file=sys.stderr)
        return 130
    except (ValueError, FloatingPointError, OSError, ImportError) as error:
        return _failed(error)
    print(json.dumps({"best": results["best"], "seconds": results["seconds"]}))
    return 0


def add_evaluate(commands) -> None:
    """Add `evaluate`."""
    parser = commands.add_parser("evaluate", help="measure a network on a recipe's test data")
    _add_recipe(parser)
    parser.add_argument("--weights", metavar="FILE", help="such as out/gesture/best.weights.h5")
    parser.set_defaults(run=evaluate)


def evaluate(options: argparse.Namespace, arguments: list[str]) -> int:
    """Print loss and metrics as JSON."""
    from keras_pleiades import training

    try:
        recipe = training.load_recipe(options.recipe, options.set)
        found = training.evaluate(recipe, options.weights, options.data)
    except (ValueError, OSError, ImportError) as error:
        return _failed(error)
    print(json.dumps(found))
    return 0


def _add_recipe(parser):
    parser.add_argument("recipe", help="a recipe, such as zoo/gesture/recipe.toml")
    parser.add_argument("--data", metavar="DIR", help="folder of the recordings")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a value of the recipe, such as training.epochs=5; may be repeated",
    )


def _failed(error):
    print(f"keras-pleiades: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

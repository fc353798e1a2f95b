"""Train a network by a recipe."""

import argparse
import contextlib
import json
import shlex
import sys

from keras_pleiades_cli.errors import GOOD, INTERRUPTED
from keras_pleiades_cli.parsing import count
from keras_pleiades_cli.recipe import add_recipe_options, load

NAME, NEEDS_KERAS = "train", True
EXAMPLES = (
    "keras-pleiades train zoo/gesture/recipe.toml",
    "keras-pleiades train zoo/gesture/dvs128.toml --data DIR --set training.epochs=5",
    "keras-pleiades train zoo/gesture/dvs128.toml --data DIR --resume",
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the recipe and where results go."""
    add_recipe_options(parser)
    parser.add_argument("--out", metavar="DIR", help="where results go; out/NAME by default")
    parser.add_argument("--resume", action="store_true", help="continue the run in --out")
    parser.add_argument("--devices", type=count, default=1, metavar="N", help="share batches")


def run(options: argparse.Namespace) -> int:
    """Train; after ctrl-C, say how to go on."""
    recipe = load(options)
    from keras_pleiades import training

    name = recipe.model.get("name", recipe.model.get("family"))
    out = options.out or f"out/{name}"
    # With --json, stdout is the result's alone.
    shown = contextlib.redirect_stdout(sys.stderr) if options.json else contextlib.nullcontext()
    try:
        with shown:
            results = training.train(recipe, options.data, out, options.resume, options.devices)
    except training.Interrupted as stop:
        again = options.arguments if options.resume else [*options.arguments, "--resume"]
        print(f"\n{stop}\nContinue with: keras-pleiades {shlex.join(again)}", file=sys.stderr)
        return INTERRUPTED
    best, seconds = results["best"], results["seconds"]
    if options.json:
        print(json.dumps({"out": out, "best": best, "seconds": seconds}))
    else:
        numbers = "  ".join(
            f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
            for key, value in best.items()
        )
        print(f"best: {numbers}\nResults are in {out}")
    return GOOD

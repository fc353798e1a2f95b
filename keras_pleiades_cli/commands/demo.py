"""Run the bundled networks online on fresh recordings and write a page of what they see.

Gestures, an eye and a road are simulated from the seed. What the networks say of them is printed
beside the truth, and drawn on one HTML page that needs nothing else.
"""

import argparse
import importlib.util
import json
import pathlib

from keras_pleiades_cli.catalogue import MODELS, presets
from keras_pleiades_cli.errors import GOOD, UserError
from keras_pleiades_cli.files import check_file, check_out
from keras_pleiades_cli.package import load_package
from keras_pleiades_cli.parsing import names, natural

NAME, NEEDS_KERAS = "demo", True
EXAMPLES = (
    "keras-pleiades demo",
    "keras-pleiades demo --out page.html --networks gesture,eye_tracking --seed 7",
    "keras-pleiades demo --networks gesture --weights gesture=best.weights.h5",
)
PAGE = "keras_pleiades_demo.html"
BUNDLED = "synthetic"  # what pretrained=True means; a test holds it against the zoo's


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add where the page goes, and what is on it."""
    parser.add_argument("--out", default=PAGE, metavar="PAGE.html", help=f"the page; {PAGE}")
    parser.add_argument(
        "--networks",
        type=names,
        metavar="A,B,...",
        help=f"of {','.join(MODELS)}; by default all that have weights",
    )
    parser.add_argument("--seed", type=natural, default=0, help="of the recordings; 0")
    parser.add_argument(
        "--weights",
        action="append",
        default=[],
        metavar="NETWORK=FILE",
        help="a weights file in place of the bundled one; may be repeated",
    )


def run(options: argparse.Namespace) -> int:
    """Make the page and say where it is."""
    check_out(options.out, (".html",))
    networks = options.networks or with_weights(options.weights)
    networks = list(dict.fromkeys(networks))
    weights = check_networks(networks, options.weights)
    # A minute of work must not end in a package that is not there.
    if not all(map(importlib.util.find_spec, ("matplotlib", "PIL"))):
        raise ImportError("The demo draws with matplotlib: pip install 'keras-pleiades[plots]'")
    load_package()
    from keras_pleiades_cli.demo.make import make

    def say(line: str) -> None:
        if not options.json:
            print(line, flush=True)

    if missing := [name for name in MODELS if name not in networks]:
        say(f"Not on the page: {', '.join(missing)}.")
    found = make(options.out, networks, options.seed, weights, say=say)
    path = pathlib.Path(options.out).resolve()
    if options.json:
        print(json.dumps({"page": str(path), "seed": options.seed, "networks": found}, indent=2))
    else:
        print(f"The page: {path}\nOpen it in a browser: {path.as_uri()}")
    return GOOD


def with_weights(settings: list[str]) -> list[str]:
    """Return the networks that have bundled weights or are given some.

    Raises:
        UserError: There is none.
    """
    given = {setting.partition("=")[0] for setting in settings}
    found = [name for name in MODELS if name in given or BUNDLED in presets()[name]]
    if not found:
        raise UserError("no network has bundled weights; give some with --weights NETWORK=FILE")
    return found


def check_networks(networks: list[str], settings: list[str]) -> dict[str, str]:
    """Return `--weights` by network, when each network asked for has weights.

    Raises:
        UserError: A network that is none, or that has neither bundled weights nor a file.
    """
    for name in networks:
        if name not in MODELS:
            raise UserError(f"--networks takes {', '.join(MODELS)}. Received: {name!r}")
    weights = {}
    for setting in settings:
        name, equals, path = setting.partition("=")
        if name not in networks or not equals:
            raise UserError(
                f"--weights takes NETWORK=FILE, with one of {', '.join(networks)}. "
                f"Received: {setting!r}"
            )
        weights[name] = check_file(path, "a .weights.h5 file")
    bundled = [name for name in MODELS if BUNDLED in presets()[name]]
    for name in networks:
        if name not in bundled and name not in weights:
            having = f" --networks {','.join(bundled)} have them." if bundled else ""
            raise UserError(
                f"{name} has no bundled weights in this version.{having} "
                f"Or give a file: --weights {name}=FILE"
            )
    return weights

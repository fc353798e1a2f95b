"""List networks and their pretrained weights."""

import argparse
import json

from keras_pleiades_cli import catalogue
from keras_pleiades_cli.errors import GOOD

NAME, NEEDS_KERAS = "list", False
EXAMPLES = ("keras-pleiades list", "keras-pleiades list --json")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the list is short."""


def run(options: argparse.Namespace) -> int:
    """Print the list."""
    found = catalogue.presets()
    if options.json:
        networks = {
            name: {"about": about, "presets": found[name]}
            for name, about in catalogue.MODELS.items()
        }
        print(json.dumps(networks, indent=2))
        return GOOD
    for name, about in catalogue.MODELS.items():
        print(f"{name:<14}{about}")
        for preset, facts in found[name].items():
            print(f"  {preset:<12}{facts['about']}")
            print(f"  {'':<12}{catalogue.where(facts)}, {facts['licence']}")
        if not found[name]:
            print("  (no pretrained weights yet)")
    return GOOD

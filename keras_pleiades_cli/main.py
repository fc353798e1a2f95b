"""Finds the command, runs it, and turns what goes wrong into one line and an exit code."""

import argparse
import contextlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

from keras_pleiades_cli import catalogue
from keras_pleiades_cli.backend import add_backend, use_backend
from keras_pleiades_cli.commands import COMMANDS
from keras_pleiades_cli.errors import FAILED, GOOD, INTERRUPTED, exit_code, one_line
from keras_pleiades_cli.parsing import Parser

EXAMPLES = (
    "keras-pleiades list",
    "keras-pleiades info gesture",
    "keras-pleiades info recording.raw",
    "keras-pleiades predict recording.aedat4 --model gesture --out answer.mp4",
)


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser, namespace, values, option_string=None):
        print(f"keras-pleiades {catalogue.version()}")
        parser.exit()


def make_parser() -> Parser:
    """Return the parser of all commands."""
    parser = Parser(
        EXAMPLES,
        prog="keras-pleiades",
        description="PLEIADES networks for event cameras.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    # No default: that of a command would hide what stands in front of it.
    debug: dict[str, Any] = {
        "action": "store_true",
        "default": argparse.SUPPRESS,
        "help": "show tracebacks",
    }
    parser.add_argument("--debug", **debug)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in COMMANDS:
        summary = module.__doc__.splitlines()[0].rstrip(".")
        command = commands.add_parser(
            module.NAME,
            help=summary,
            description=module.__doc__.strip(),
            examples=module.EXAMPLES,
        )
        module.add_options(command)
        command.add_argument("--json", action="store_true", help="print the result as JSON")
        command.add_argument("--debug", **debug)
        if module.NEEDS_KERAS:
            add_backend(command)
        command.set_defaults(run=module.run, needs_keras=module.NEEDS_KERAS)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0 is good, 2 a mistake in what was typed or in the files named, 130 ctrl-C, 1 anything else.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = make_parser().parse_args(arguments)
        options.arguments = arguments
        if options.needs_keras:
            use_backend(options.backend)
        code = options.run(options)
        sys.stdout.flush()
        return code
    except SystemExit as stop:  # --help and --version
        return stop.code or GOOD  # type: ignore[return-value]
    except KeyboardInterrupt:
        print("\nkeras-pleiades: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has enough. Python must not try to write the rest on its way out.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        if "--debug" in arguments:
            traceback.print_exc()
        print(f"keras-pleiades: {one_line(error)}", file=sys.stderr)
        return exit_code(error)

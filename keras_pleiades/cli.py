"""The command line under its earlier name, `python -m keras_pleiades.cli`."""

import sys

from keras_pleiades_cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())

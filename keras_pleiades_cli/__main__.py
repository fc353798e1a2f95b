"""Lets `python -m keras_pleiades_cli` do what `keras-pleiades` does."""

import sys

from keras_pleiades_cli.main import main

if __name__ == "__main__":
    sys.exit(main())

"""Lets `python -m keras_pleiades` do what `keras-pleiades` does, after Keras was imported."""

import sys

from keras_pleiades_cli.main import main

if __name__ == "__main__":
    sys.exit(main())

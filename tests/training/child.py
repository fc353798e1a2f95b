"""Trains the tiny recipe in a process of its own, which may be killed.

python -m tests.training.child OUT [--kill-after STEPS] [--resume] [--devices N]
"""

import argparse
import pathlib

import keras

from keras_pleiades import training
from tests.training import tiny

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--kill-after", type=int)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--devices", type=int, default=1)
    options = parser.parse_args()
    if options.kill_after:
        tiny.kill_after(options.kill_after)
    results = training.train(
        tiny.recipe(), out=options.out, resume=options.resume, devices=options.devices
    )
    if options.devices > 1 and keras.backend.backend() == "jax":
        import jax

        print("devices", len(jax.devices()))
    elif options.devices > 1:
        import tensorflow as tf

        print("devices", len(tf.config.list_logical_devices("CPU")))
    print("done")

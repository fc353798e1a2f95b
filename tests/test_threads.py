"""PyTorch's threads are told to sleep soon, and that can be said otherwise."""

import os
import subprocess
import sys

import pytest

from keras_pleiades._threads import spin_less


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"GOMP_SPINCOUNT": "1000"}),
        ({"GOMP_SPINCOUNT": "5"}, {"GOMP_SPINCOUNT": "5"}),
        ({"OMP_WAIT_POLICY": "PASSIVE"}, {"OMP_WAIT_POLICY": "PASSIVE"}),
    ],
)
def test_the_user_s_own_settings_stay(given, expected):
    spin_less(given)
    assert given == expected


def test_it_is_said_before_keras_is_loaded():
    program = """
import importlib.abc, os, sys
class Watch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, *_):
        if name in ("keras", "torch"):
            print(name, os.environ.get("GOMP_SPINCOUNT"))
sys.meta_path.insert(0, Watch())
import keras_pleiades
"""
    environment = {k: v for k, v in os.environ.items() if k not in ("GOMP_SPINCOUNT",)}
    environment["KERAS_BACKEND"] = "torch"
    environment.pop("OMP_WAIT_POLICY", None)
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert {"keras 1000", "torch 1000"} <= set(done.stdout.splitlines())

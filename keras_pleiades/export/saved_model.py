"""A TensorFlow SavedModel, on every backend."""

import contextlib
import logging
import pathlib

import keras

from keras_pleiades.export.form import OUTPUT, Form
from keras_pleiades.export.network import Program, read_network
from keras_pleiades.export.require import require
from keras_pleiades.export.tensorflow_graph import answer, clip_function, stream_function


def write(model, form: Form, facts: dict, path: pathlib.Path) -> None:
    """Write a SavedModel: with `serve`, or online with `step` and `reset` too."""
    del facts  # they lie beside
    tf = import_tensorflow()
    program = read_network(model)
    with tf.device("CPU"):
        module = tf.Module(name="keras_pleiades_network")
        weights = {}
        if form.streaming:
            signatures = _make_stream(program, form, module, weights)
        else:
            module.serve = clip_function(program, form, weights)
            # As Keras names them.
            signatures = {"serving_default": module.serve, "serve": module.serve}
        signatures = {name: f.get_concrete_function() for name, f in signatures.items()}
        module.network_weights = list(weights.values())
        save(module, signatures, path)


def save(module, signatures: dict, path: pathlib.Path) -> None:
    """Save a module, without the lines that TensorFlow writes on the way."""
    tf = require("tensorflow", "tensorflow")
    logger = tf.get_logger()
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        tf.saved_model.save(module, str(path), signatures)
    finally:
        logger.setLevel(level)


def import_tensorflow(extra: str = "tensorflow"):
    """Import TensorFlow; where it is not the backend, without taking the GPU from it."""
    tf = require("tensorflow", extra)
    if keras.backend.backend() != "tensorflow":
        with contextlib.suppress(RuntimeError):  # the user's own TensorFlow code runs already
            tf.config.set_visible_devices([], "GPU")
    return tf


def _make_stream(program: Program, form: Form, module, weights: dict) -> dict:
    """Give the module a memory, `step` and `reset`, and return all signatures."""
    tf = require("tensorflow", "tensorflow")
    memory = {
        name: tf.Variable(tf.zeros(shape), trainable=False, name=name.replace("/", "_"))
        for name, shape in form.state.items()
    }
    module.memory = list(memory.values())

    @tf.function(
        input_signature=[tf.TensorSpec(form.input_shape, "float32", form.input_name)],
        autograph=False,
    )
    def step(frame):
        outputs, state = answer(program, form, weights, frame, memory)
        for name, array in state.items():
            memory[name].assign(array)
        return {OUTPUT: outputs}

    @tf.function(input_signature=[], autograph=False)
    def reset():
        for variable in memory.values():
            variable.assign(tf.zeros_like(variable))
        return {}

    module.step, module.reset = step, reset
    explicit = stream_function(program, form, weights)
    module.advance = explicit
    return {"serving_default": explicit, "step": step, "reset": reset}

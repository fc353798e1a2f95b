"""Runs exported networks in the runtimes they were exported for; nothing here uses Keras."""

import json
import pathlib

import numpy as np

SUFFIX = {"tf_saved_model": "", "onnx": ".onnx", "litert": ".tflite", "openvino": ".xml"}


def facts_of(path):
    path = pathlib.Path(path)
    name = path / "keras_pleiades.json" if path.is_dir() else path.with_name(f"{path.name}.json")
    return json.loads(name.read_text())


def load(path):
    """Return a function of named arrays that returns named arrays."""
    return {"": _tensorflow, ".onnx": _onnx, ".tflite": _litert, ".xml": _openvino}[
        pathlib.Path(path).suffix
    ](path)


def run_clip(path, frames):
    return load(path)(frames=frames)["outputs"]


def run_stream(path, frames):
    """Feed frame by frame, the state passed on by hand, and return the answers to all."""
    advance, facts = load(path), facts_of(path)
    state = {s["input"]: np.zeros(s["shape"], "float32") for s in facts["state"]}
    answers = []
    for t in range(frames.shape[1]):
        out = advance(frame=frames[:, t], **state)
        state = {s["input"]: out[s["output"]] for s in facts["state"]}
        answers.append(out["outputs"])
    return np.stack(answers, axis=1)


def _tensorflow(path):
    import tensorflow as tf

    module = tf.saved_model.load(str(path))
    function = module.signatures["serving_default"]

    def run(**arrays):
        found = function(**{name: tf.constant(array) for name, array in arrays.items()})
        return {name: array.numpy() for name, array in found.items()}

    run.module = module  # a signature alone does not keep its variables
    return run


def _onnx(path):
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda **arrays: dict(zip(names, session.run(names, arrays), strict=True))


def _litert(path):
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(str(path))
    runner = interpreter.get_signature_runner("serving_default")
    # The runner gives views of its own memory, which the next frame writes over.
    return lambda **arrays: {name: array.copy() for name, array in runner(**arrays).items()}


def _openvino(path):
    import openvino

    # On some processors its default is bfloat16.
    precision = {"INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.Core().compile_model(path, "CPU", precision)

    def run(**arrays):
        found = compiled(arrays)
        return {name: array for port, array in found.items() for name in port.names}

    return run

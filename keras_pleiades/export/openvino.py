"""An OpenVINO file, read from the ONNX graph."""

import pathlib
import tempfile

from keras_pleiades.export import onnx_graph
from keras_pleiades.export.form import Form
from keras_pleiades.export.require import require


def write(model, form: Form, facts: dict, path: pathlib.Path) -> None:
    """Write an `.xml` file, and its weights to a `.bin` file beside it."""
    openvino = require("openvino", "openvino")
    require("onnx", "openvino")
    with tempfile.TemporaryDirectory() as folder:
        onnx_path = pathlib.Path(folder, f"{model.name}.onnx")
        onnx_graph.write(model, form, facts, onnx_path)
        # `openvino.convert_model` would do the same and tell its makers.
        network = openvino.Core().read_model(onnx_path)
        openvino.save_model(network, path, compress_to_fp16=False)

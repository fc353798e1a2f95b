"""An OpenVINO file, read from the ONNX graph."""

import pathlib
import sys
import tempfile
from types import ModuleType

from keras_pleiades.export import onnx_graph
from keras_pleiades.export.form import Form
from keras_pleiades.export.require import require


def write(model, form: Form, facts: dict, path: pathlib.Path) -> None:
    """Write an `.xml` file, and its weights to a `.bin` file beside it."""
    openvino = import_openvino()
    require("onnx", "openvino")
    with tempfile.TemporaryDirectory() as folder:
        onnx_path = pathlib.Path(folder, f"{model.name}.onnx")
        onnx_graph.write(model, form, facts, onnx_path)
        network = openvino.Core().read_model(onnx_path)
        openvino.save_model(network, path, compress_to_fp16=False)


def import_openvino() -> ModuleType:
    """Import OpenVINO without its telemetry.

    To import it is enough for it to send a message to its makers, and from a fork of this process:
    with the threads of JAX in it that may hang, and nobody has asked for it. OpenVINO does
    without where the package that sends cannot be imported.
    """
    telemetry = "openvino_telemetry"
    if telemetry in sys.modules:
        return require("openvino", "openvino")
    sys.modules[telemetry] = None
    try:
        return require("openvino", "openvino")
    finally:
        del sys.modules[telemetry]

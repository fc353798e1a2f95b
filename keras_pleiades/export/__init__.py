"""Networks for other runtimes: TensorFlow SavedModel, ONNX, LiteRT, OpenVINO."""

from keras_pleiades.export.api import FORMATS, export

__all__ = ["FORMATS", "export"]

"""A LiteRT (TensorFlow Lite) file, on every backend: TensorFlow converts it."""

import pathlib
import tempfile

from keras_pleiades.export.form import Form
from keras_pleiades.export.network import read_network
from keras_pleiades.export.saved_model import import_tensorflow, save
from keras_pleiades.export.tensorflow_graph import clip_function, stream_function


def write(model, form: Form, facts: dict, path: pathlib.Path) -> None:
    """Write a `.tflite` file whose signature has the names of inputs and outputs."""
    del facts  # they lie beside
    tf = import_tensorflow("litert")
    weights = {}
    with tf.device("CPU"), tempfile.TemporaryDirectory() as folder:
        make = stream_function if form.streaming else clip_function
        function = make(read_network(model), form, weights)
        module = tf.Module(name="keras_pleiades_network")
        signature = function.get_concrete_function()
        module.network_weights = list(weights.values())
        save(module, {"serving_default": signature}, pathlib.Path(folder))
        # From a SavedModel the converter takes the names; from a function alone it does not.
        converter = tf.lite.TFLiteConverter.from_saved_model(
            folder, signature_keys=["serving_default"]
        )
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
        content = converter.convert()
    path.write_bytes(content)

"""Runs an exported stream with onnxruntime and NumPy: no Keras, no keras_pleiades.

    python examples/run_onnx_stream.py gesture.onnx [EVENTS.npy]

`kp.export.export(model, "gesture.onnx", format="onnx", streaming=True)` writes the network,
`np.save("events.npy", kp.events.read("recording.raw"))` a recording; without one, it sees noise.
"""

import onnxruntime
from exported_stream import run


def load(path):
    """Return a function of named arrays that returns named arrays."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda arrays: dict(zip(names, session.run(names, arrays), strict=True))


run(load, __doc__.split("\n")[0])

"""Runs an exported stream with the LiteRT interpreter: no TensorFlow, Keras or keras_pleiades.

    python examples/run_litert_stream.py gesture.tflite [EVENTS.npy]

`kp.export.export(model, "gesture.tflite", format="litert", streaming=True)` writes the network,
`np.save("events.npy", kp.events.read("recording.raw"))` a recording; without one, it sees noise.
"""

from ai_edge_litert.interpreter import Interpreter
from exported_stream import run


def load(path):
    """Return a function of named arrays that returns named arrays."""
    interpreter = Interpreter(path)
    runner = interpreter.get_signature_runner("serving_default")
    return lambda arrays: runner(**arrays)


run(load, __doc__.split("\n")[0])

"""Online inference: the same network frame by frame, with state that one can hold."""

from keras_pleiades.streaming.binning import Bins, bin_online
from keras_pleiades.streaming.run import Prediction, run
from keras_pleiades.streaming.state import initial_state, state_bytes, state_spec
from keras_pleiades.streaming.step import step
from keras_pleiades.streaming.stream import Stream

__all__ = [
    "Bins",
    "Prediction",
    "Stream",
    "bin_online",
    "initial_state",
    "run",
    "state_bytes",
    "state_spec",
    "step",
]

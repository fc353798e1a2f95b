"""Events of event cameras as NumPy arrays: read, simulate, bin, augment, write; no Keras."""

from keras_pleiades.events import augment
from keras_pleiades.events.dtype import EVENT_DTYPE, EventFormatError, make_events
from keras_pleiades.events.info import Info, info
from keras_pleiades.events.pixel_model import EventSimulator, PixelModel
from keras_pleiades.events.read import iter_read, read
from keras_pleiades.events.read_slice import read_slice
from keras_pleiades.events.simulate import iter_simulate, simulate
from keras_pleiades.events.to_frames import to_frames
from keras_pleiades.events.write import write

__all__ = [
    "EVENT_DTYPE",
    "EventFormatError",
    "EventSimulator",
    "Info",
    "PixelModel",
    "augment",
    "info",
    "iter_read",
    "iter_simulate",
    "make_events",
    "read",
    "read_slice",
    "simulate",
    "to_frames",
    "write",
]

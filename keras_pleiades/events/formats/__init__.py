"""One file a format. Each has `matches(head, size)` and `open_recording(path)`."""

from keras_pleiades.events.formats import (
    aedat2,
    aedat3,
    aedat4,
    event_stream,
    hdf5,
    nmnist,
    numpy_files,
    prophesee_dat,
    prophesee_raw,
    text,
)

# Those with a magic number come first; N-MNIST has none and is tried last.
FORMATS = (
    aedat2,
    aedat3,
    aedat4,
    hdf5,
    event_stream,
    numpy_files,
    prophesee_raw,
    prophesee_dat,
    text,
    nmnist,
)

"""What the builders share: events as features, and the two configurations."""

import numpy as np
import tensorflow_datasets as tfds

CONFIGS = (
    tfds.core.BuilderConfig(name="full", description="The whole data set; an error if not whole."),
    tfds.core.BuilderConfig(name="partial", description="Whatever there is of the data set."),
)


def event_features() -> dict:
    """Returns the four columns of events; `tfds` stores them compressed."""
    columns = {"t": np.int64, "x": np.uint16, "y": np.uint16, "p": np.bool_}
    return {
        name: tfds.features.Tensor(shape=(None,), dtype=dtype, encoding=tfds.features.Encoding.ZLIB)
        for name, dtype in columns.items()
    }


def event_columns(events: np.ndarray, start_us: int = 0) -> dict[str, np.ndarray]:
    """Returns events as columns, time counted from `start_us`."""
    columns = {name: np.ascontiguousarray(events[name]) for name in "txyp"}
    return {**columns, "t": columns["t"] - start_us}

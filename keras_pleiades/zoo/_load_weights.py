"""Loads a weights file into a network, and reads from the file what network it is for."""

import contextlib

import h5py
import numpy as np

from keras_pleiades.models import PleiadesClassifier, PleiadesModel
from keras_pleiades.zoo._architectures import Architecture
from keras_pleiades.zoo._convert_checkpoint import assign_checkpoint
from keras_pleiades.zoo._torch_checkpoint import is_torch_checkpoint, read_torch_checkpoint

_H5PY_ERRORS = (OSError, KeyError, RuntimeError)  # over files that are cut off or damaged
_EXPECTED = (
    "Expected a file of model.save_weights, whose name ends in .weights.h5, or the authors' "
    "dvs128_ckpt.pt."
)


def temporal_arguments(path: str, architecture: Architecture) -> dict:
    """Return the arguments of the temporal layers that a weights file is for."""
    if is_torch_checkpoint(path):
        if architecture.published_interval is None:
            raise ValueError(
                "The authors published a PyTorch checkpoint of 'gesture' only. Received: "
                f"pretrained={path!r} for a {architecture.family.__name__}"
            )
        return {"interval": architecture.published_interval}
    found = []

    def visit(name, item):
        if name.endswith("temporal_conv/vars/basis"):
            found.append(np.asarray(item).tolist())
            return True  # the layers of a network share it
        return None

    with _opened(path) as file:
        file.visititems(visit)
    if not found:
        return {}
    kernel_size, degree, alpha, beta, *interval = found[0]
    return {
        "kernel_size": int(kernel_size),
        "degree": None if degree < 0 else int(degree),
        "alpha": alpha,
        "beta": beta,
        "interval": tuple(interval),
    }


def load_weights(model: PleiadesModel, path: str) -> None:
    """Load weights into a new network; its last layer stays new if the classes differ."""
    if is_torch_checkpoint(path):
        donor = _with_classes(model, 10)
        assign_checkpoint(donor, read_torch_checkpoint(path), path)
    else:
        donor = _with_classes(model, classes_in(model, path))
        try:
            donor.load_weights(path)
        except (ValueError, *_H5PY_ERRORS) as error:
            raise ValueError(f"{path} does not fit {model.name}: {error}") from error
    if donor is not model:
        new = {id(variable) for variable in model.last_layer.variables}
        for own, given in zip(model.variables, donor.variables, strict=True):
            if id(own) not in new:
                own.assign(given)


@contextlib.contextmanager
def _opened(path):
    """Open a `.weights.h5` file to look into it."""
    if not path.endswith(".weights.h5"):
        raise ValueError(f"{_EXPECTED} Received: {path!r}")
    try:
        with h5py.File(path, "r") as file:
            yield file
    except _H5PY_ERRORS as error:
        raise ValueError(f"{path} is no HDF5 file, or damaged ({error}). {_EXPECTED}") from error


def _with_classes(model: PleiadesModel, num_classes: int | None) -> PleiadesModel:
    """Return the model, or one like it with as many classes as the file has."""
    if num_classes is None or num_classes == model.num_classes:
        return model
    return type(model).from_config({**model.get_config(), "num_classes": num_classes})


def classes_in(model: PleiadesModel, path: str) -> int | None:
    """Return how many classes a weights file was made for; `None` if that cannot be told."""
    if not hasattr(model, "last_layer"):
        return None
    classifier = isinstance(model, PleiadesClassifier)
    name = "layers/dense_1/vars/1" if classifier else "layers/center_net_head/outputs/vars/1"
    with _opened(path) as file:
        if name not in file:
            return None  # not a file of this network: load_weights says what is wrong
        classes = file[name].shape[0] - (0 if classifier else 4)
        return classes if classes > 0 else None

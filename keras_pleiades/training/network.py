"""The network that a recipe describes."""

import copy
import inspect

import keras

from keras_pleiades import models, zoo


def build_model(options: dict, precision: str = "float32") -> keras.Model:
    """Return the network that a recipe's [model] describes.

    Args:
        options: `name`, of the zoo, or `family`, a class of `keras_pleiades.models`; their
            arguments; `size`, short for an `input_shape` of this height and width. TOML has no
            None: `degree = "free"` means free kernels.
        precision: Dtype policy.

    Example:
        >>> model = build_model({"name": "gesture", "size": [32, 32], "num_classes": 4})
        >>> model.input_shape, model.num_classes
        ((None, None, 32, 32, 2), 4)
    """
    options = copy.deepcopy(options)
    family, name = options.pop("family", None), options.pop("name", None)
    choices = {one: getattr(zoo, one) for one in zoo.list_models()}
    if family is not None:
        choices = {one: getattr(models, one) for one in models.__all__}
    chosen = name if family is None else family
    if chosen not in choices:
        raise ValueError(f"[model] must name one of {', '.join(choices)}. Received: {chosen!r}")
    if "size" in options:
        options["input_shape"] = (None, *options.pop("size"), 2)
    for arguments in (options, options.get("temporal", {})):
        if arguments.get("degree") == "free":
            arguments["degree"] = None
    if family is not None:  # Keras models take arguments they do not know, and do nothing
        known = [*inspect.signature(choices[chosen]).parameters, "name", "trainable"]
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise ValueError(f"[model]: {chosen} has no arguments {', '.join(unknown)}")
    return choices[chosen](**options, dtype=keras.dtype_policies.get(precision))

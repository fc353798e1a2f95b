"""AdamW with a learning rate that warms up, then falls along a cosine."""

import keras

from keras_pleiades.training.checkpoint import copy_of


def make_optimizer(settings: dict, total_steps: int) -> "AdamW":
    """Return the optimizer of a recipe's [training], for a run of so many steps."""
    warmup = round(settings["warmup"] * total_steps)
    rate = keras.optimizers.schedules.CosineDecay(
        0.0 if warmup else settings["learning_rate"],
        max(1, total_steps - warmup),
        warmup_target=settings["learning_rate"] if warmup else None,
        warmup_steps=warmup,
    )
    ema = {"use_ema": True, "ema_momentum": settings["ema"]} if settings["ema"] else {}
    return AdamW(rate, weight_decay=settings["weight_decay"], **ema)


class AdamW(keras.optimizers.AdamW):
    """AdamW whose averaged weights replace the others when asked, not at the end of each `fit`."""

    def finalize_variable_values(self, var_list):
        """Do nothing: here `fit` ends with every epoch."""

    def take_averages(self, var_list):
        """Replace the variables by their moving averages."""
        super().finalize_variable_values(var_list)
        for variable in var_list:
            # Copies: Keras lets both share a buffer, which JAX then frees with one of them.
            variable.assign(copy_of(variable))

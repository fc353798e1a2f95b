"""The camera of a simulated recording, from the values that were drawn for it."""

from keras_pleiades.events.pixel_model import PixelModel


def pixel_model(p: dict, **noise) -> PixelModel:
    """Return the pixel model of drawn values.

    Args:
        p: Values drawn from a task's `CAMERA`.
        **noise: Further fields of `PixelModel`, such as `shot_hz`.
    """
    return PixelModel(
        on_threshold=p["threshold"] * p["balance"],
        off_threshold=p["threshold"] / p["balance"],
        mismatch=p["mismatch"],
        refractory_us=p["refractory_us"],
        cutoff_hz=p["cutoff_hz"],
        random_start=True,
        **noise,
    )

"""What a network's outputs say, one family a module: as rows of a table, as text, as a drawing."""

from keras_pleiades_cli.answers.boxes import Boxes
from keras_pleiades_cli.answers.classes import Classes
from keras_pleiades_cli.answers.points import Points

__all__ = ["Boxes", "Classes", "Points", "reader_of"]


def reader_of(network, sensor: tuple[int, int], window_us: int, min_score: float):
    """Return what reads a network's predictions.

    Args:
        network: See `keras_pleiades_cli.network`.
        sensor: (height, width) of the sensor, in whose pixels answers are given.
        window_us: How long classes are voted on.
        min_score: Boxes of a lower score are left out.
    """
    from keras_pleiades import models

    model = network.model
    if isinstance(model, models.PleiadesClassifier):
        return Classes(network.labels, model.dt, window_us)
    if isinstance(model, models.PleiadesTracker):
        return Points(model, sensor)
    return Boxes(model, network.labels, sensor, min_score)

"""What one must know to run an exported network, beside the network itself."""

from collections.abc import Sequence

from keras_pleiades._version import __version__
from keras_pleiades.export.form import OUTPUT, Form, next_name, state_name


def facts_of(
    model,
    form: Form,
    format: str,
    sensor: tuple[int, int] | None,
    labels: Sequence[str] | None,
    preset: str | None,
) -> dict:
    """Return the facts as what JSON can hold; `None` where nobody knows.

    Raises:
        ValueError: There are more or fewer labels than classes.
    """
    classes = getattr(model, "num_classes", None)
    if labels is not None and (isinstance(labels, str) or classes not in (None, len(labels))):
        raise ValueError(
            f"`labels` must be a name for each of the {classes} classes. Received: {labels!r}"
        )
    height, width, channels = form.size
    return {
        "keras_pleiades": __version__,
        "format": format,
        "form": "stream" if form.streaming else "clip",
        "network": model.name,
        "family": type(model).__name__,
        "preset": preset,
        "labels": None if labels is None else [str(label) for label in labels],
        "dt": model.dt,
        "native_dt": model.native_dt,
        "window_us": model.window_us,
        "sensor": None if sensor is None else [int(n) for n in sensor],
        "frame": {"height": height, "width": width, "channels": channels},
        # As `keras_pleiades.events.to_frames` takes them.
        "binning": {"method": model.binning_method, "causal": model.binning_method == "volume"},
        "context_frames": model.context_frames,
        "input": {"name": form.input_name, "shape": list(form.input_shape), "dtype": "float32"},
        "output": {"name": OUTPUT, "dtype": "float32"},
        "state": [
            {
                "input": state_name(name),
                "output": next_name(name),
                "shape": list(shape),
                "dtype": "float32",
            }
            for name, shape in form.state.items()
        ],
    }

"""The one function of the package, and the table of formats."""

import importlib
import json
import os
import pathlib
from collections.abc import Sequence

import keras

from keras_pleiades._checks import check_choice
from keras_pleiades.events.dtype import check_sensor
from keras_pleiades.export.facts import facts_of
from keras_pleiades.export.files import replacing
from keras_pleiades.export.form import Form, form_of
from keras_pleiades.models import PleiadesModel

# Format: the module that writes it, and how its files are named; a SavedModel is a folder.
_WRITERS = {
    "tf_saved_model": ("saved_model", None),
    "onnx": ("onnx_graph", ".onnx"),
    "litert": ("litert", ".tflite"),
    "openvino": ("openvino", ".xml"),
}
FORMATS = tuple(_WRITERS)
FACTS = "keras_pleiades.json"


def export(
    model: PleiadesModel,
    path: str | os.PathLike,
    format: str = "tf_saved_model",
    streaming: bool = False,
    *,
    frames: int | None = None,
    batch_size: int | None = None,
    shape: tuple[int, int] | None = None,
    sensor: tuple[int, int] | None = None,
    labels: Sequence[str] | None = None,
    preset: str | None = None,
    overwrite: bool = True,
) -> pathlib.Path:
    """Write a network for another runtime, in float32 and in plain operations.

    The clip form takes `frames`, `(batch, time, height, width, channels)`, and answers with
    `outputs`, `(batch, time - context_frames, ...)`. The streaming form takes one `frame`,
    `(batch, height, width, channels)`, and for each temporal layer a `state_...`, zeros at first;
    it answers with `outputs`, `(batch, ...)`, and a `next_...` for each state, to be passed in
    with the next frame. A SavedModel has it also with a memory of its own: `step` and `reset`.

    What one must know to feed it (bin size, sensor, labels, names, ...) goes into a JSON file:
    `PATH.json` beside a file, `keras_pleiades.json` inside a SavedModel.

    Args:
        model: A PLEIADES network.
        path: Where to write: a folder for a SavedModel, else a file ending in `.onnx`, `.tflite`
            or `.xml` (OpenVINO, which puts a `.bin` beside it).
        format: `"tf_saved_model"` and `"litert"`, which need TensorFlow installed but run on
            every backend; `"onnx"`, which needs onnx; `"openvino"`, which needs both openvino
            and onnx.
        streaming: Whether to write the streaming form.
        frames: How many frames a clip has. By default as the network: any number, if it leaves
            them free.
        batch_size: Recordings at a time. By default 1 for streams and LiteRT, otherwise any.
        shape: Height and width of a frame; needed where the network leaves them free.
        sensor: (height, width) of the camera, for the JSON file.
        labels: Names of the classes, for the JSON file.
        preset: Which weights these are, for the JSON file.
        overwrite: Whether an earlier export at `path` is replaced.

    Returns:
        The path.

    Example:
        >>> import pathlib, tempfile
        >>> import keras_pleiades as kp
        >>> model = kp.zoo.gesture(input_shape=(None, 16, 16, 2))
        >>> path = pathlib.Path(tempfile.mkdtemp(), "gesture.onnx")
        >>> path = kp.export.export(model, path, format="onnx", streaming=True)
        >>> facts = json.loads(path.with_name("gesture.onnx.json").read_text())
        >>> facts["dt"], facts["state"][0]["input"]
        (10000, 'state_block_1_temporal_conv')
    """
    if not isinstance(model, PleiadesModel):
        raise ValueError(f"`model` must be a PLEIADES network. Received: {type(model).__name__}")
    module, suffix = _WRITERS[check_choice(format, FORMATS, "format")]
    path = pathlib.Path(path)
    if suffix and path.suffix != suffix:
        raise ValueError(
            f"A file of format={format!r} has a name that ends in {suffix!r}. "
            f"Received: path={os.fspath(path)!r}"
        )
    if sensor is not None:
        sensor = check_sensor(sensor)
    model = _with_known_size(model, shape)
    form = _form(model, format, streaming, batch_size, frames)
    facts = facts_of(model, form, format, sensor, labels, preset)
    writer = importlib.import_module(f"keras_pleiades.export.{module}")
    with replacing(path, overwrite) as new:
        writer.write(model, form, facts, new)
        beside = new / FACTS if new.is_dir() else new.with_name(f"{new.name}.json")
        beside.write_text(json.dumps(facts, indent=1) + "\n")
    return path


def _with_known_size(model: PleiadesModel, shape) -> PleiadesModel:
    """Return the network for frames of this size; a free one is built again."""
    free = model.input_shape[2:4]
    if shape is None and None in free:
        raise ValueError(
            f"The network takes frames of any size: input_shape={model.input_shape[1:]}. An "
            "export takes one: say which, `shape=(height, width)`."
        )
    if shape is None:
        return model
    size = tuple(int(n) for n in shape)
    if len(size) != 2 or any(f not in (None, n) for f, n in zip(free, size, strict=True)):
        raise ValueError(f"`shape` must agree with {free}. Received: shape={shape!r}")
    if None not in free:
        return model
    config = {**model.get_config(), "input_shape": (None, *size, model.input_shape[-1])}
    known = type(model).from_config(config)
    known.set_weights(model.get_weights())
    return known


def _form(model, format: str, streaming: bool, batch_size, frames) -> Form:
    for name, value in (("batch_size", batch_size), ("frames", frames)):
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        if value is not None and not whole:
            raise ValueError(f"`{name}` must be None or at least 1. Received: {name}={value!r}")
    if streaming and frames is not None:
        raise ValueError(
            f"A stream takes frame by frame. Received: streaming=True, frames={frames}. Leave out "
            "`frames`, or export the clip form."
        )
    fixed = model.input_shape[1]
    if frames is not None and fixed not in (None, frames):
        raise ValueError(
            f"The network takes clips of {fixed} frames. Received: frames={frames}. Build it with "
            "input_shape=(None, ...) for others."
        )
    frames = None if streaming else frames or fixed
    if frames is not None and frames <= model.context_frames:
        raise ValueError(
            f"At dt={model.dt} the network looks back {model.context_frames} frames, so a clip "
            f"has at least {model.context_frames + 1}. Received: frames={frames}."
        )
    if batch_size is None and (streaming or format == "litert"):
        batch_size = 1
    channels_first = format in ("onnx", "openvino")
    return form_of(model, bool(streaming), batch_size, frames, channels_first)


def export_model(model: PleiadesModel, path, format: str, verbose: bool | None, **kwargs) -> None:
    """Do what `model.export` says: as above, or Keras' own way where only it can."""
    if format not in FORMATS or "input_signature" in kwargs:
        keras.Model.export(model, path, format, verbose, **kwargs)
        return
    written = export(model, path, format, **kwargs)
    if verbose:
        print(f"Exported {model.name} as {format} to {written}")

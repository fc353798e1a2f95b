"""Write a network for another runtime: TensorFlow, ONNX, LiteRT, OpenVINO."""

import argparse
import json
import pathlib

from keras_pleiades_cli.catalogue import MODELS
from keras_pleiades_cli.errors import GOOD
from keras_pleiades_cli.network import add_size_options, add_weights_options, build
from keras_pleiades_cli.package import quiet
from keras_pleiades_cli.parsing import count, size

NAME, NEEDS_KERAS = "export", True
EXAMPLES = (
    "keras-pleiades export gesture gesture.onnx --streaming",
    "keras-pleiades export gesture gesture.tflite --preset dvs128 --frames 60",
    "keras-pleiades export detector detector_folder --weights best.weights.h5",
)
FORMATS = {".onnx": "onnx", ".tflite": "litert", ".xml": "openvino"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the network and what `keras_pleiades.export.export` asks."""
    parser.add_argument("model", choices=MODELS, help="the network", metavar="MODEL")
    parser.add_argument(
        "out", help="ends in .onnx, .tflite or .xml (OpenVINO); else a folder for a SavedModel"
    )
    add_weights_options(parser, untrained=True)
    add_size_options(parser)
    parser.add_argument(
        "--streaming", action="store_true", help="one frame and a state in, instead of a clip"
    )
    parser.add_argument("--frames", type=count, metavar="N", help="of a clip; free by default")
    parser.add_argument("--batch-size", type=count, metavar="N", help="recordings at a time")
    parser.add_argument("--sensor", type=size, metavar="HxW", help="noted beside the network")
    parser.add_argument("--keep", action="store_true", help="refuse to replace an earlier export")


def run(options: argparse.Namespace) -> int:
    """Export, and say where to."""
    with quiet():
        network = build(options.model, options)
    from keras_pleiades import export

    path = export.export(
        network.model,
        options.out,
        format=FORMATS.get(pathlib.Path(options.out).suffix.lower(), "tf_saved_model"),
        streaming=options.streaming,
        frames=options.frames,
        batch_size=options.batch_size,
        sensor=options.sensor,
        labels=network.labels,
        preset=network.preset,
        overwrite=not options.keep,
    )
    size = sum(one.stat().st_size for one in (path.rglob("*") if path.is_dir() else [path]))
    if options.json:
        print(json.dumps({"out": str(path), "weights": network.weights, "bytes": size}))
    else:
        print(f"wrote {path} ({options.model}, {network.weights}), {size:,} bytes")
    return GOOD

"""Time networks on this machine: a clip at once, and frame by frame.

Each line is the best of some repeats after a first call that compiles, of an untrained network on
frames in which one pixel of fifty has an event. A clone has more: python -m benchmarks.
"""

import argparse
import json
import time

from keras_pleiades_cli.catalogue import MODELS
from keras_pleiades_cli.errors import GOOD
from keras_pleiades_cli.memory import check_memory
from keras_pleiades_cli.network import add_size_options, arguments_of
from keras_pleiades_cli.package import load_package, quiet
from keras_pleiades_cli.parsing import count

NAME, NEEDS_KERAS = "bench", True
EXAMPLES = ("keras-pleiades bench gesture", "keras-pleiades bench gesture --backend jax --json")
ANSWERS = 16  # frames of a clip that are answered


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the network and how often."""
    parser.add_argument("model", choices=MODELS, help="the network", metavar="MODEL")
    add_size_options(parser)
    parser.add_argument("--repeats", type=count, default=5, metavar="N", help="5 by default")


def run(options: argparse.Namespace) -> int:
    """Print a line for the clip and one for the stream."""
    kp = load_package()
    import keras
    import numpy as np

    with quiet():
        model = getattr(kp.zoo, options.model)(**arguments_of(options))
    check_memory(kp.streaming.state_bytes(model), model.dt)
    shape = (1, model.context_frames + ANSWERS, *model.input_shape[2:])
    clip = (np.random.default_rng(0).random(shape) < 0.02).astype("float32")
    stream, frame = model.stream(), clip[:, :1]
    clips = best_of(options.repeats, lambda: model.predict_on_batch(clip))
    steps = best_of(options.repeats, lambda: [stream(frame) for _ in range(ANSWERS)])
    facts = {
        "model": options.model,
        "backend": keras.backend.backend(),
        "dt": model.dt,
        "clip_frames": shape[1],
        "clip_s": clips,
        "clip_frame_s": clips / shape[1],
        "step_s": steps / ANSWERS,
    }
    if options.json:
        print(json.dumps(facts))
        return GOOD
    what = f"{options.model} on {facts['backend']}"
    for name, seconds in (
        (f"forward, {shape[1]} frames at once", facts["clip_frame_s"]),
        ("step, frame by frame", facts["step_s"]),
    ):
        speed = model.dt / 1e6 / seconds
        print(f"{what}: {name:<30}{1e3 * seconds:8.2f} ms a frame, {speed:.1f} x real time")
    return GOOD


def best_of(repeats: int, function) -> float:
    """Return the least seconds of a call, after one that is not counted."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)

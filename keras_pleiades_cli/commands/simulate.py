"""Turn a video into the events that an event camera would have seen."""

import argparse
import json

from keras_pleiades_cli.errors import GOOD, UserError
from keras_pleiades_cli.files import check_file, check_out
from keras_pleiades_cli.package import load_package
from keras_pleiades_cli.parsing import positive

# Needs Keras only because the package does; there is nothing to choose.
NAME, NEEDS_KERAS = "simulate", True
EXAMPLES = (
    "keras-pleiades simulate video.mp4 events.npz",
    "keras-pleiades simulate video.mp4 events.aedat --set on_threshold=0.3 --set shot_hz=1",
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the video and the camera's properties."""
    parser.add_argument("video", help="a file that FFmpeg can decode")
    parser.add_argument("out", help="ends in .npz, .csv or .aedat")
    parser.add_argument("--fps", type=positive, help="frames a second; the video's own by default")
    parser.add_argument("--seed", type=int, default=0, help="of thresholds and noise")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a property of the pixels, such as on_threshold=0.3 (in log units), refractory_us, "
        "cutoff_hz, leak_hz, shot_hz; may be repeated. See kp.events.PixelModel",
    )


def run(options: argparse.Namespace) -> int:
    """Simulate, and say how many events there were."""
    check_file(options.video, "a video")
    check_out(options.out, (".npz", ".csv", ".aedat"))
    kp = load_package()

    properties = properties_of(options.set)
    events = kp.events.simulate(options.video, options.fps, seed=options.seed, **properties)
    if not len(events):
        raise UserError(f"{options.video} gives no events: nothing in it changes")
    kp.events.write(options.out, events)
    on = float(events["p"].mean())
    duration = int(events["t"].max() - events["t"].min()) + 1
    if options.json:
        facts = {"events": len(events), "duration_us": duration, "on_fraction": on}
        print(json.dumps({"out": options.out, **facts}))
    else:
        print(f"{len(events):,} events in {duration / 1e6:.3f} s, {on:.1%} ON")
        print(f"wrote {options.out}")
    return GOOD


def properties_of(settings: list[str]) -> dict:
    """Return `--set` as arguments of `PixelModel`.

    Example:
        >>> properties_of(["on_threshold=0.3", "hot_pixels=2", "random_start=true"])
        {'on_threshold': 0.3, 'hot_pixels': 2, 'random_start': True}
    """
    import dataclasses

    from keras_pleiades.events import PixelModel

    known = [field.name for field in dataclasses.fields(PixelModel)]
    found = {}
    for setting in settings:
        name, _, text = setting.partition("=")
        if name not in known:
            raise UserError(f"--set takes {', '.join(known)}. Received: {setting!r}")
        try:
            found[name] = json.loads(text)
        except ValueError:
            raise UserError(f"--set {name}= takes a number. Received: {setting!r}") from None
    return found

"""Run a network over a recording and say, or draw, what it sees.

The recording is read and answered piece by piece: it may be longer than memory.
"""

import argparse
import json
import time

from keras_pleiades_cli.catalogue import MODELS
from keras_pleiades_cli.errors import GOOD, UserError
from keras_pleiades_cli.files import check_file, check_out
from keras_pleiades_cli.memory import check_memory
from keras_pleiades_cli.network import add_size_options, add_weights_options, build
from keras_pleiades_cli.package import load_package, quiet
from keras_pleiades_cli.parsing import microseconds, positive, size
from keras_pleiades_cli.parsing import time as time_of
from keras_pleiades_cli.progress import Progress
from keras_pleiades_cli.twice import twice

NAME, NEEDS_KERAS = "predict", True
EXAMPLES = (
    "keras-pleiades predict recording.aedat4 --model gesture",
    "keras-pleiades predict recording.raw --model gesture --preset dvs128 --out answer.mp4",
    "keras-pleiades predict eye.h5 --model eye_tracking --sensor 480x640 --out pupil.csv",
    "keras-pleiades predict road.dat --model detector --start +1_000_000 --end +3_000_000",
    "keras-pleiades predict clap.npz --model gesture --out slow.gif --speed 0.25",
)
PIECE_FRAMES = 16  # bins that are read at a time
GIF_PICTURES = 3000  # a GIF is made in memory
SECOND = 1_000_000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the recording, the network, and how answers are given."""
    parser.add_argument("recording", help="an event recording, of any format that info knows")
    parser.add_argument("--model", required=True, choices=MODELS, help="the network")
    add_weights_options(parser)
    add_size_options(parser)
    parser.add_argument(
        "--sensor", type=size, metavar="HxW", help="size of the sensor, where the file is silent"
    )
    parser.add_argument(
        "--start",
        type=time_of,
        metavar="US",
        help="leave out what is earlier: microseconds on the file's own clock, or +US from the "
        "recording's beginning",
    )
    parser.add_argument("--end", type=time_of, metavar="US", help="leave out this time and later")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help=".json or .csv: the answer to every frame; .mp4 or .gif: drawn over the events",
    )
    parser.add_argument("--fps", type=positive, default=30.0, help="pictures a second; 30")
    parser.add_argument(
        "--speed", type=positive, default=1.0, help="of the video: 0.1 is slow motion; 1"
    )
    parser.add_argument(
        "--window",
        type=microseconds,
        default=150_000,
        metavar="US",
        help="classes are those that most frames of this time voted for; 150_000",
    )
    parser.add_argument(
        "--min-score", type=positive, default=0.3, help="leave out boxes of a lower score; 0.3"
    )


def run(options: argparse.Namespace) -> int:
    """Predict."""
    path = check_file(options.recording, "an event recording")
    ending = options.out and check_out(options.out, (".mp4", ".gif", ".json", ".csv"))
    kp = load_package()
    from keras_pleiades_cli.answers import reader_of

    # One pass over the events, which is quick beside a network: it finds damage before hours of
    # work, and the length, without which no time left can be said.
    found = kp.events.info(path)
    start_us, end_us, first_us, total_us = span(options, found)
    sensor = sensor_of(options, found)
    picture_dt = max(1, round(options.speed * SECOND / options.fps))
    if ending == ".gif" and total_us / picture_dt > GIF_PICTURES:
        raise UserError(
            f"A GIF holds at most {GIF_PICTURES} pictures; this would be "
            f"{total_us // picture_dt + 1}. Choose --start and --end, fewer --fps, or an .mp4"
        )
    with quiet():
        network = build(options.model, options)
    model = network.model
    check_memory(kp.streaming.state_bytes(model), model.dt)
    reader = reader_of(network, sensor, options.window, options.min_score)
    header = {
        "recording": path,
        "format": found.format,
        "sensor": list(sensor),
        "model": options.model,
        "weights": network.weights,
        "dt": model.dt,
        "context_frames": model.context_frames,
        "labels": network.labels,
    }
    if not options.json:
        print(f"{path}: {found.format}, {total_us / 1e6:.3g} s, sensor {sensor[0]}x{sensor[1]}")
        print(
            f"{options.model} ({network.weights}), bins of {model.dt / 1000:g} ms, needs "
            f"{model.context_frames * model.dt / 1000:g} ms to warm up",
            flush=True,
        )
    pieces = kp.events.iter_read(path, PIECE_FRAMES * model.dt, start_us, end_us)
    drawn, pieces = twice(pieces) if ending in (".mp4", ".gif") else (None, pieces)
    progress = Progress(total_us)
    began = time.monotonic()
    rows = narrate(
        map(reader.read, kp.streaming.run(model, pieces, sensor)),
        reader,
        first_us,
        progress,
        quiet=options.json,
    )
    try:
        if drawn is not None:
            _write_pictures(options, rows, reader, drawn, sensor, picture_dt, first_us)
        elif ending == ".json":
            from keras_pleiades_cli.tables import write_json

            write_json(options.out, rows, header, lambda: summary_of(reader))
        elif ending == ".csv":
            from keras_pleiades_cli.tables import write_csv

            write_csv(options.out, rows, reader)
        else:
            for _ in rows:
                pass
    finally:
        progress.clear()
    if options.json:
        seconds = {"seconds": round(time.monotonic() - began, 3), "out": options.out}
        print(json.dumps({**header, **summary_of(reader), **seconds}, indent=2))
        return GOOD
    print(reader.summary_text())
    if not reader.ready_frames:
        print(
            f"The recording is shorter than the {model.context_frames * model.dt / 1000:g} ms that "
            "the network looks back: every answer was given while it warmed up."
        )
    if options.out:
        print(f"wrote {options.out}")
    return GOOD


def span(options: argparse.Namespace, found) -> tuple[int | None, int | None, int, int]:
    """Return `--start` and `--end` on the file's clock, and where and how long that is.

    Raises:
        UserError: Nothing of the recording lies in between.
    """
    if not found.events:
        raise UserError(f"{found.path} ({found.format}) holds no events")
    start_us, end_us = (
        None if given is None else given[1] + (found.start_us if given[0] else 0)
        for given in (options.start, options.end)
    )
    first = found.start_us if start_us is None else max(start_us, found.start_us)
    last = found.end_us + 1 if end_us is None else min(end_us, found.end_us + 1)
    if first >= last:
        raise UserError(
            f"Nothing of {found.path} lies between --start and --end: it goes from "
            f"{found.start_us} to {found.end_us} us. Received: {start_us} to {end_us}"
        )
    return start_us, end_us, first, last - first


def sensor_of(options: argparse.Namespace, found) -> tuple[int, int]:
    """Return the sensor's size, as given or as the file says.

    Raises:
        UserError: Nobody says it, or there are events beyond it.
    """
    height, width = found.extent
    sensor = options.sensor or found.sensor
    if sensor is None:
        raise UserError(
            f"{found.path} does not say the size of its sensor: give --sensor HxW. Its events "
            f"reach {height}x{width}"
        )
    if height > sensor[0] or width > sensor[1]:
        said = "--sensor is" if options.sensor else "the file says that its sensor is"
        raise UserError(
            f"{found.path}: {said} {sensor[0]}x{sensor[1]}, but its events reach {height}x{width}. "
            "The file is damaged, or another --sensor HxW is needed"
        )
    return sensor


def narrate(rows, reader, first_us: int, progress: Progress, quiet: bool):
    """Pass rows on; print the first, those whose answer changed, and one every second."""
    said = None
    for row in rows:
        progress.update(row["t_us"] - first_us)
        due = (
            said is None
            or row["segment"] != said["segment"]
            or reader.changed(said, row)
            or row["t_us"] - said["t_us"] >= SECOND
        )
        if due and not quiet:
            progress.clear()
            mark = "" if row["ready"] else "  (warming up)"
            print(f"{(row['t_us'] - first_us) / 1e6:9.3f} s  {reader.text(row)}{mark}", flush=True)
        if due:
            said = row
        yield row
    if said is None:
        raise UserError("No events lie between --start and --end")


def summary_of(reader) -> dict:
    """Return what was counted, and over how many frames."""
    return {"frames": reader.frames, "ready_frames": reader.ready_frames, **reader.summary()}


def _write_pictures(options, rows, reader, pieces, sensor, dt, first_us):
    from keras_pleiades import plots, streaming
    from keras_pleiades_cli.video import Canvas, pictures

    canvas = Canvas(sensor, reader, first_us)
    bins = streaming.bin_online(pieces, dt, sensor, canvas.shape)
    plots.write_pictures(options.out, pictures(rows, bins, dt, canvas), options.fps)

"""A drive on a road, and the boxes that the network finds."""

import collections

import numpy as np

from keras_pleiades_cli.answers import Boxes
from keras_pleiades_cli.demo.drawing import svg
from keras_pleiades_cli.demo.online import watch
from keras_pleiades_cli.demo.part import Part
from keras_pleiades_cli.demo.truth import animate

TITLE = "A road"
SHOWN = 0.3  # boxes of a lower score are not drawn
SCORED = 0.05  # the paper's lowest threshold
MIN_IOU = 0.5
MAX_BOXES = 64
STILLS = 2


def show(part: Part) -> None:
    """Run the network over the road, say and draw what it saw."""
    from keras_pleiades import decode, metrics
    from keras_pleiades.datasets.boxes import box_target
    from keras_pleiades.datasets.clips import Clip
    from keras_pleiades.datasets.frame_spec import FrameSpec

    model, recording, labels = part.model, part.recording, part.network.labels
    watched = watch(model, recording)
    shape = model.input_shape[2:4]
    found = [
        decode.boxes(one, model.num_classes, decode.output_strides(model), min_score=SCORED)
        for one in watched.outputs
    ]
    target, labelled = box_target(
        recording.truth,
        Clip("", 0, len(found)),
        FrameSpec(watched.dt, shape),
        recording.sensor,
        MAX_BOXES,
    )
    truth = [frame[frame[:, 4] >= 0] for frame in target]
    counted = np.flatnonzero(watched.ready & (labelled > 0))
    true, boxes = [truth[i] for i in counted], [found[i] for i in counted]
    score = metrics.paper_map(true, boxes)
    shown = [frame[frame[:, 5] >= SHOWN] for frame in boxes]
    counts = count(true, shown, MIN_IOU)
    part.facts.update({"map": round(score, 4), "boxes": _named(counts, labels)})

    say = part.say
    for i in counted[:: max(1, len(counted) // 6)]:
        said = _words(found[i][found[i][:, 5] >= SHOWN], labels)
        say(f"  {watched.times_us[i] / 1e6:5.2f} s  truth: {_words(truth[i], labels)}")
        say(f"  {'':7}  found: {said}")
    total = sum(counts.values(), np.zeros(3, int))
    say(
        f"  {total[2]:,} of {total[0]:,} true boxes found, {total[1] - total[2]:,} others (score "
        f"from {SHOWN}, overlap from {MIN_IOU}); mAP {score:.2f}, the paper's way, in "
        f"{len(counted)} frames"
    )
    say(f"  {part.describe_latency(watched)}")

    section = part.section
    section.text(
        f"A simulated drive that the network has never seen ({recording}). Every "
        f"{model.dt / 1000:g} ms it says which road users are where. A true box counts as found "
        f"where a box of its class with a score from {SHOWN} overlaps it by {MIN_IOU:.0%}."
    )
    section.tiles(
        [
            (f"{score:.2f}", "mAP, measured the paper's way"),
            (f"{total[2]:,} of {total[0]:,}", "true boxes found"),
            *part.latency_tiles(),
        ]
    )
    section.figures(
        (
            _animation(part, watched),
            "A third as fast as it was. Grey boxes are the truth; coloured ones are the "
            "network's, with class and score.",
        )
    )
    section.figures(*_stills(part, watched, truth, found, counted))
    section.table(
        ("class", "true boxes", "found of them", "boxes that are none"),
        [
            (name, f"{one['true']:,}", f"{one['found']:,}", f"{one['others']:,}")
            for name, one in _named(counts, labels).items()
        ],
    )
    part.add_kernels()


def count(
    truth: list[np.ndarray], found: list[np.ndarray], min_iou: float
) -> dict[int, np.ndarray]:
    """Return, by class, how many boxes there were, were given, and were given rightly.

    Each true box takes the best of the boxes that overlap it enough and that none has taken.

    Example:
        >>> car = np.array([[10.0, 10, 8, 8, 2]])
        >>> boxes = np.array([[10.0, 11, 8, 8, 2, 0.9], [10.0, 10, 8, 8, 2, 0.8]])
        >>> count([car], [boxes], min_iou=0.5)
        {2: array([1, 2, 1])}
    """
    from keras_pleiades.metrics import box_iou

    counts = collections.defaultdict(lambda: np.zeros(3, int))
    for true, boxes in zip(truth, found, strict=True):
        for label in {*true[:, 4].astype(int).tolist(), *boxes[:, 4].astype(int).tolist()}:
            wanted, given = true[true[:, 4] == label], boxes[boxes[:, 4] == label]
            overlap = box_iou(given, wanted)
            hits = 0
            for row in overlap:  # the best score first
                if len(row) and row.max() >= min_iou:
                    overlap[:, row.argmax()] = -1
                    hits += 1
            counts[label] += len(wanted), len(given), hits
    return dict(sorted(counts.items()))


def _named(counts, labels):
    return {
        labels[label]: {"true": int(true), "found": int(hits), "others": int(given - hits)}
        for label, (true, given, hits) in counts.items()
    }


def _words(boxes, labels):
    found = collections.Counter(labels[int(label)] for label in boxes[:, 4])
    return ", ".join(f"{n} {label}" for label, n in found.most_common()) or "nothing"


def _animation(part, watched):
    recording = part.recording
    reader = Boxes(part.model, part.network.labels, recording.sensor, SHOWN)
    rows = [reader.read(one) for one in watched.predictions]
    times, boxes = recording.truth.boxes_t, recording.truth.boxes
    for row in rows:
        known = times[times <= row["t_us"]]
        row["truth"] = boxes[times == known[-1]].tolist() if len(known) else None
    return animate(recording, reader, rows, speed=1 / 3, longest=640)


def _stills(part, watched, truth, found, counted):
    from keras_pleiades import plots

    model, recording = part.model, part.recording
    for i in counted[np.linspace(0, len(counted) - 1, STILLS).astype(int)]:
        end = int(watched.times_us[i])
        start = max(0, end - 3 * watched.dt)
        frames = model.to_frames(
            recording.events, recording.sensor, start_us=start, frames=(end - start) // watched.dt
        )
        figure = plots.detections(
            frames.sum(axis=0), found[i], part.network.labels, truth[i], min_score=SHOWN
        )
        yield svg(figure), f"At {end / 1e6:.2f} s: found as lines, the truth dashed."

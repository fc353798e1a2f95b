"""An eye that looks around, and where the network says its pupil is."""

import numpy as np

from keras_pleiades_cli.answers import Points
from keras_pleiades_cli.demo import figures
from keras_pleiades_cli.demo.drawing import svg
from keras_pleiades_cli.demo.online import watch
from keras_pleiades_cli.demo.part import Part
from keras_pleiades_cli.demo.truth import animate

TITLE = "An eye"


def show(part: Part) -> None:
    """Run the network over the eye, say and draw what it saw."""
    from keras_pleiades import metrics
    from keras_pleiades.datasets.clips import Clip
    from keras_pleiades.datasets.frame_spec import FrameSpec
    from keras_pleiades.datasets.points import point_target

    model, recording = part.model, part.recording
    watched = watch(model, recording)
    reader = Points(model, recording.sensor)
    rows = [reader.read(one) for one in watched.predictions]
    spec = FrameSpec(watched.dt, recording.sensor)  # truth and answers in pixels of the sensor
    truth, weight = point_target(recording.truth, Clip("", 0, len(rows)), spec, recording.sensor)
    is_open = weight > 0
    for row, (x, y, _), seen in zip(rows, truth, is_open, strict=True):
        row["truth"] = (float(x), float(y)) if seen else None
    found = np.array([(row["x"], row["y"]) for row in rows])
    counted = watched.ready & is_open
    scores = metrics.point_distances(truth[counted], found[counted], recording.sensor)
    part.facts.update({name: round(value, 2) for name, value in scores.items()})

    say = part.say
    say(f"  {'at':>7}  {'truth':<22} {'the network':<22} apart (pixels of {_size(recording)})")
    for row in rows[len(rows) // 8 :: max(1, len(rows) // 8)]:
        mine = f"x {row['x']:5.0f}  y {row['y']:5.0f}"
        true, apart = "closed", ""
        if row["truth"] is not None:
            x, y = row["truth"]
            true, apart = f"x {x:5.0f}  y {y:5.0f}", f"{np.hypot(x - row['x'], y - row['y']):.0f}"
        say(f"  {row['t_us'] / 1e6:5.2f} s  {true:<22} {mine:<22} {apart}")
    say(
        f"  {scores['distance']:.2f} pixels off on average, in the paper's picture of 60 x 80; "
        f"{scores['p10']:.0f} % within 10, {scores['p3']:.0f} % within 3"
    )
    say(f"  {part.describe_latency(watched)}")

    section = part.section
    section.text(
        f"The eye of a simulated subject that the network has never seen ({recording}). Every "
        f"{model.dt / 1000:g} ms it says where the middle of the pupil is; while too little "
        "happens to see it, the last place is held. Distances are in pixels of a picture of 60 x "
        "80, as in the paper; frames with a closed eye do not count."
    )
    section.tiles(
        [
            (f"{scores['distance']:.2f} px", "mean distance from the truth"),
            (f"{scores['p10']:.0f} %", "of answers within 10 px"),
            *part.latency_tiles(),
        ]
    )
    section.figures(
        (
            animate(recording, reader, rows, speed=0.5),
            "At half speed. The black ring is the true pupil, the green cross the network's "
            "answer, the curve its confidence.",
        ),
        (
            svg(figures.path(watched.times_us, truth, found, counted)),
            "Where the pupil is over time: the truth as a line, answers as dots. Gaps are blinks; "
            "the beginning is left out, while the network has not seen its whole context.",
        ),
    )
    part.add_kernels()


def _size(recording):
    return f"{recording.sensor[0]} x {recording.sensor[1]}"

"""Several gestures in one recording, and the same recording at three bin sizes."""

import numpy as np

from keras_pleiades_cli.answers import Classes
from keras_pleiades_cli.demo import figures
from keras_pleiades_cli.demo.drawing import svg
from keras_pleiades_cli.demo.online import Watched, watch
from keras_pleiades_cli.demo.part import Part
from keras_pleiades_cli.demo.truth import animate

TITLE = "Gestures"
WINDOW_US = 150_000  # the paper's majority filter
RATIOS = (0.5, 1, 2)
ZERO_FRAMES = 8  # answers whose features are looked at for zeros


def show(part: Part) -> None:
    """Run the network at its own bin size and at two others, say and draw what it saw."""
    from keras_pleiades import metrics, plots
    from keras_pleiades.datasets.class_names import GESTURES

    model, recording, say = part.model, part.recording, part.say
    names = [GESTURES[label] for label in recording.truth]
    each_us = recording.duration_us // len(names)
    # Before this, an answer still looks at the gesture before.
    settled_us = min(model.context_frames * model.dt, each_us // 2)
    runs, curves = {}, {}
    for ratio in RATIOS:
        dt = round(ratio * model.dt)
        watched = watch(model if ratio == 1 else model.resample(dt), recording)
        runs[dt] = Run(watched, part.network.labels, names, each_us, settled_us)
        if len(part.network.labels) == len(GESTURES):
            by_gesture = watched.outputs.reshape(len(names), -1, len(GESTURES))
            curves[f"{dt / 1000:g} ms"] = metrics.accuracy_latency(recording.truth, by_gesture, dt)
    own = runs[model.dt]

    say(f"  {'from':>7}  {'truth':<28} {'the network':<28} right  first right after")
    for row in own.table():
        say("  {:>7}  {:<28} {:<28} {:>5}  {}".format(*row))
    say(f"  {own.summary()}")
    say(f"  {part.describe_latency(own.watched)}")
    say("  the same recording, the same weights, other bins (resample, no fine-tuning):")
    for run in runs.values():
        say("  {:>7}: {} of frames right, {} filtered; latency {}, {}".format(*run.line()))
    part.facts.update(
        {
            "filtered_accuracy": own.filtered_share,
            "accuracy": own.share,
            "gestures": [
                dict(zip(("from", "truth", "network", "right", "first_right"), row, strict=True))
                for row in own.table()
            ],
            "bin_sizes": {
                dt: {"accuracy": run.share, "filtered_accuracy": run.filtered_share}
                for dt, run in runs.items()
            },
        }
    )

    section = part.section
    section.text(
        f"One simulated person makes {len(names)} gestures, one after the other, before a camera "
        f"of 128 x 128 pixels ({recording}). The network has never seen this person. It answers "
        f"every {model.dt / 1000:g} ms; the label shown is the one that most answers of the last "
        f"{WINDOW_US / 1000:g} ms voted for."
    )
    section.tiles(
        [
            (f"{own.filtered_share:.0%}", "of frames right, majority filter"),
            (f"{own.share:.0%}", "of frames right, raw"),
            *part.latency_tiles(),
        ]
    )
    section.figures(
        (
            animate(recording, own.reader, own.rows, speed=1.0),
            "Events (ON red, OFF blue) at the speed of life. Below: what the network says, how "
            "sure it is, and its confidence over the last 3 s.",
        ),
        (
            svg(plots.events(recording.events, recording.sensor, dt=50_000, frames=12, columns=4)),
            "The first 600 ms in pictures of 50 ms.",
        ),
    )
    section.figures(
        (
            svg(figures.decisions(own, names, GESTURES, part.network.labels)),
            "The answer over time: grey bars are the truth, small dots single answers, the line "
            "the majority. After a change the network needs a moment to see the new gesture.",
        )
    )
    section.table(("from", "truth", "the network says", "right", "first right after"), own.table())
    section.text(
        f"Right: of the filtered answers from {settled_us / 1000:g} ms after a gesture began, when "
        "the network no longer looks at the one before."
    )
    section.heading("The same recording at other bin sizes")
    section.text(
        f"The bins are of {model.native_dt / 1000:g} ms otherwise. model.resample(dt) averages "
        "the same polynomials over bins of another size: no weight changes, nothing is trained."
    )
    section.table(
        ("bins", "right", "right, filtered", "latency, median", "latency, 95 %"),
        [run.line() for run in runs.values()],
    )
    section.figures(
        (
            svg(figures.strips(runs, names, each_us)),
            "What the network says at each bin size, one colour a class.",
        )
    )
    if curves:
        section.heading("Accuracy against latency")
        section.text(
            "How many of the gestures are right after how much of them has been seen: single "
            "answers, without the filter, so that nothing but the network's own memory delays."
        )
        section.figures(
            (
                svg(plots.accuracy_latency(curves)),
                f"Accuracy over the {len(names)} gestures, by the time since a gesture began.",
            )
        )
    part.add_kernels()
    add_zeros(part)


def add_zeros(part: Part) -> None:
    """Add how much of the network's work is on zeros."""
    from keras_pleiades import plots

    model, recording = part.model, part.recording
    frames = model.to_frames(
        *(recording.events, recording.sensor), start_us=0, frames=model.context_frames + ZERO_FRAMES
    )
    part.section.heading("How much is zero")
    part.section.text(
        "Events are few, and ReLU makes zeros of what is negative. Hardware that skips zeros saves "
        "that part of a block's work."
    )
    part.section.figures(
        (svg(plots.sparsity(model, frames)), "Zeros in what enters each block of the network.")
    )


class Run:
    """The answers at one bin size, held against the truth.

    Args:
        watched: What the network said.
        labels: Names of the network's classes.
        names: The gesture in each part of the recording.
        each_us: Length of a part.
        settled_us: Time after the beginning of a part from which answers are counted.
    """

    def __init__(
        self, watched: Watched, labels: list[str], names: list[str], each_us: int, settled_us: int
    ):
        self.watched, self.names, self.each_us = watched, names, each_us
        self.reader = Classes(labels, watched.dt, WINDOW_US)
        self.rows = [self.reader.read(one) for one in watched.predictions]
        # An answer given at the very end of a part is of that part.
        self._part = (watched.times_us - 1) // each_us
        for row, number in zip(self.rows, self._part, strict=True):
            row["truth"] = names[number]
        self.raw = [labels[i] for i in watched.outputs.argmax(axis=-1)]
        truth = np.array([row["truth"] for row in self.rows])
        self.right = truth == np.array([row["label"] for row in self.rows])
        self.counted = watched.times_us - self._part * each_us > settled_us
        self.filtered_share = float(self.right[self.counted].mean())
        self.share = float((truth == np.array(self.raw))[self.counted].mean())

    def table(self) -> list[tuple[str, ...]]:
        """Return, for each gesture: from when, truth, last answer, part right, first right."""
        rows: list[tuple[str, ...]] = []
        for number, name in enumerate(self.names):
            mine = self._part == number
            hits = self.watched.times_us[mine & self.right] - number * self.each_us
            rows.append(
                (
                    f"{number * self.each_us / 1e6:.1f} s",
                    name,
                    self.rows[int(np.flatnonzero(mine)[-1])]["label"],
                    f"{self.right[mine & self.counted].mean():.0%}",
                    f"{hits[0] / 1000:g} ms" if len(hits) else "never",
                )
            )
        return rows

    def summary(self) -> str:
        """Return the score in words."""
        last = sum(name == said for _, name, said, *_ in self.table())
        return (
            f"{last} of {len(self.names)} gestures right in the end; {self.filtered_share:.1%} of "
            f"frames right after the majority filter, {self.share:.1%} before"
        )

    def line(self) -> tuple[str, ...]:
        """Return bin size, accuracy, filtered accuracy, latencies."""
        median, late = self.watched.latency_ms()
        return (
            f"{self.watched.dt / 1000:g} ms",
            f"{self.share:.1%}",
            f"{self.filtered_share:.1%}",
            f"{median:.1f} ms",
            f"{late:.1f} ms",
        )

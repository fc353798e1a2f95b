"""Answers over time, drawn for the page."""

from collections.abc import Sequence

import numpy as np

from keras_pleiades.plots._figure import new_figure


def decisions(run, names: Sequence[str], gestures: Sequence[str], labels: Sequence[str]):
    """Draw which class the network says, and which is true, over time.

    Args:
        run: The answers, see `keras_pleiades_cli.demo.gesture.Run`.
        names: The gesture in each part of the recording.
        gestures: All true classes.
        labels: The network's classes.
    """
    rows = list(dict.fromkeys([*gestures, *labels]))
    figure = new_figure(9.0, 3.4)
    axes = figure.add_subplot()
    each = run.each_us / 1e6
    for number, name in enumerate(names):
        at = rows.index(name)
        axes.barh(at, each, left=number * each, height=0.9, color="tab:grey", alpha=0.3)
    seconds = run.watched.times_us / 1e6
    raw = [rows.index(label) for label in run.raw]
    voted = [rows.index(row["label"]) for row in run.rows]
    axes.plot(seconds, raw, ".", color="tab:orange", markersize=2.5, label="single answers")
    axes.plot(
        *(seconds, voted), drawstyle="steps-post", color="tab:blue", linewidth=1.6, label="majority"
    )
    axes.set_yticks(range(len(rows)), rows)
    axes.set(xlim=(0, len(names) * each), ylim=(len(rows) - 0.5, -0.5), xlabel="time (s)")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def strips(runs: dict, names: Sequence[str], each_us: int):
    """Draw the labels at several bin sizes as strips below the truth, one colour a class.

    Args:
        runs: By bin size, see `keras_pleiades_cli.demo.gesture.Run`.
        names: The gesture in each part of the recording.
        each_us: Length of a part.
    """
    from matplotlib import colormaps

    said = [row["label"] for run in runs.values() for row in run.rows]
    classes = list(dict.fromkeys([*names, *said]))
    colours = {name: colormaps["tab10"](i % 10) for i, name in enumerate(classes)}
    figure = new_figure(9.0, 0.38 * (1 + len(runs)) + 0.8)
    axes = figure.add_subplot()
    each = each_us / 1e6
    bars = {"truth": [(i * each, each, name) for i, name in enumerate(names)]}
    for dt, run in runs.items():
        bars[f"{dt / 1000:g} ms"] = _stretches([row["label"] for row in run.rows], dt / 1e6)
    for row, stretches in enumerate(bars.values()):
        axes.broken_barh(
            [(start, length) for start, length, _ in stretches],
            (row - 0.42, 0.84),
            color=[colours[name] for *_, name in stretches],
        )
    for start, length, name in bars["truth"]:
        words = name.replace("counter-clockwise", "ccw").replace("clockwise", "cw")
        axes.text(
            *(start + length / 2, 0, words.replace(" ", "\n", 1)),
            ha="center",
            va="center",
            fontsize=5.5,
            color="white",
        )
    axes.set_yticks(range(len(bars)), bars)
    axes.set(xlim=(0, len(names) * each), ylim=(len(bars) - 0.5, -0.5), xlabel="time (s)")
    axes.spines[:].set_visible(False)
    return figure


def path(times_us: np.ndarray, truth: np.ndarray, found: np.ndarray, counted: np.ndarray):
    """Draw a point over time, x above y.

    Args:
        times_us: `(time,)`.
        truth: `(time, 2 or more)` x, y.
        found: `(time, 2)`.
        counted: `(time,)` whether the truth is known and the answer counts.
    """
    figure = new_figure(6.0, 4.4)
    for number, name in enumerate("xy"):
        axes = figure.add_subplot(2, 1, number + 1)
        seconds = times_us / 1e6
        axes.plot(
            *(seconds, np.where(counted, truth[:, number], np.nan)),
            color="tab:grey",
            linewidth=2.5,
            alpha=0.8,
            label="truth",
        )
        answers = np.where(counted, found[:, number], np.nan)
        axes.plot(seconds, answers, ".", color="tab:green", markersize=3, label="network")
        axes.set_ylabel(f"{name} (pixels)")
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].legend(ncols=2, loc="upper right", fontsize=8)
    axes.set_xlabel("time (s)")
    return figure


def _stretches(labels, dt):
    """Return where a label stays the same: begin, length and label of each stretch."""
    changes = [i for i in range(len(labels)) if i == 0 or labels[i] != labels[i - 1]]
    ends = [*changes[1:], len(labels)]
    return [(a * dt, (b - a) * dt, labels[a]) for a, b in zip(changes, ends, strict=True)]

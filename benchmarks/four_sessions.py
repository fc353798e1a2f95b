"""Eye tracking on the four sessions of 3ET+ at hand, beside the trivial answers.

    python -m benchmarks.four_sessions --data DIR

Trains by zoo/eye_tracking/four_sessions.toml (three sessions to train on, one to test on) unless
that was done already, and tests at the bin size of training and, without fine-tuning, at half and
at double. Results go to zoo/eye_tracking/four_sessions_results.json.
"""

import argparse
import dataclasses
import pathlib

import numpy as np

import keras_pleiades as kp
from benchmarks.card import ZOO, cpu_seconds, write_results
from keras_pleiades.datasets.eye_3et import SENSOR, find, read_labels


def open_points(folder, sessions):
    """Return x, y of all labels with an open eye."""
    rows = [read_labels(labels) for _, labels in find(folder, "train", sessions)]
    return [one[one[:, 2] == 0, :2] for one in rows]


def trivial(folder, recipe):
    """Return the distances of two answers that look at no event."""
    train = np.concatenate(open_points(folder, recipe.data["train"]["sessions"]))
    (test,) = open_points(folder, recipe.data["test"]["sessions"])
    answers = {"training mean": train.mean(axis=0), "first label held": test[0]}
    return {
        name: kp.metrics.point_distances(test, np.broadcast_to(answer, test.shape), SENSOR)
        for name, answer in answers.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="folder with train/SESSION/SESSION.h5")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/four_sessions"))
    arguments = parser.parse_args()
    recipe = kp.training.load_recipe(ZOO / "eye_tracking" / "four_sessions.toml")
    if not (arguments.out / "results.json").exists():
        kp.training.train(recipe, arguments.data, arguments.out, resume=True)
    results = trivial(arguments.data, recipe)
    dt = recipe.model["dt"]
    for other in (dt // 2, dt, dt * 2):
        changed = dataclasses.replace(recipe, model={**recipe.model, "dt": other})
        weights = arguments.out / "last.weights.h5"
        results[f"network, {other / 1000:g} ms"] = kp.training.evaluate(
            changed, weights, arguments.data
        )
    print("| answer | distance (60 x 80) | p10 | p5 | p3 |\n|---|---|---|---|---|")
    for name, row in results.items():
        numbers = " | ".join(f"{row[key]:.2f}" for key in ("distance", "p10", "p5", "p3"))
        print(f"| {name} | {numbers} |")
    write_results(
        "eye_tracking",
        "python -m benchmarks.four_sessions --data DIR",
        "four_sessions_results.json",
        training_cpu_seconds=cpu_seconds(arguments.out),
        test=recipe.data["test"]["sessions"],
        results=results,
    )


if __name__ == "__main__":
    main()

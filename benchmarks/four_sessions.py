"""Eye tracking on the four sessions of 3ET+ at hand, beside the trivial answers.

    python -m benchmarks.four_sessions --data DIR

Trains by zoo/eye_tracking/four_sessions.toml (three sessions to train on, one to test on) unless
that was done already, and tests at the bin size of training and, without fine-tuning, at half and
at double. Results go to zoo/eye_tracking/four_sessions_results.json.
"""

import argparse
import dataclasses
import json
import pathlib

import numpy as np

import keras_pleiades as kp
from keras_pleiades.datasets.eye_3et import SENSOR, find, read_labels
from keras_pleiades.training.checkpoint import write_atomically

ZOO = pathlib.Path(__file__).parent.parent / "zoo" / "eye_tracking"


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
    recipe = kp.training.load_recipe(ZOO / "four_sessions.toml")
    done = arguments.out / "results.json"
    if not done.exists():
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
    seconds = json.loads(done.read_text())["cpu_seconds"]
    table = {
        "command": "python -m benchmarks.four_sessions --data DIR",
        "training_cpu_seconds": seconds,
        "test": recipe.data["test"]["sessions"],
        "results": results,
    }
    text = json.dumps(table, indent=2) + "\n"
    write_atomically(ZOO / "four_sessions_results.json", lambda path: path.write_text(text))


if __name__ == "__main__":
    main()

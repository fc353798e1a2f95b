"""Polynomials of several degrees and free kernels, trained alike on 800 digits of N-MNIST.

    python -m benchmarks.nmnist --data nmnist_1000.zip              # degree 4 and free kernels
    python -m benchmarks.nmnist --data nmnist_1000.zip --ablation   # degrees and intervals

Each is trained by zoo/gesture/nmnist.toml and tested on the other 200 digits, at the bin size of
training and, without fine-tuning, at half and at double. Runs that are complete are not trained
again; ctrl-C and the same command go on. Results go to zoo/gesture/.
"""

import argparse
import json
import pathlib

import keras
import numpy as np

import keras_pleiades as kp
from benchmarks.card import ZOO, cpu_seconds, save_figure, write_results

MAIN = {"degree 4": {}, "free": {"degree": "free"}}
ABLATION = {
    f"degree {degree}, {interval}": {"degree": degree, "interval": list(interval)}
    for interval in ((-1, 1), (0, 1))
    for degree in (2, 4, 8)
} | {"free": {"degree": "free"}}
# DVS128 at 200 ms of latency, figure 5 of the paper: by degree, on [-1, 1].
PAPER = {"degree 2": 55.4, "degree 4": 73.2, "degree 8": 60.2, "free": 52.3}
LATENCY_US = 200_000


def train(name, changes, data, out, epochs):
    """Train one network, or finish its training, and return where its weights are."""
    settings = [f"model.{key}={json.dumps(value)}" for key, value in changes.items()]
    settings += [] if epochs is None else [f"training.epochs={epochs}"]
    recipe = kp.training.load_recipe(ZOO / "gesture" / "nmnist.toml", settings)
    folder = out / name.replace(" ", "_").replace(",", "").replace("(", "").replace(")", "")
    if not (folder / "results.json").exists():
        print(f"{name}: training into {folder}", flush=True)
        kp.training.train(recipe, data, folder, resume=True)
    return recipe, folder / "last.weights.h5", cpu_seconds(folder)


def measure(recipe, weights, data, dt):
    """Return labels and logits of the 200 digits at one bin size."""
    model = kp.training.build_model({**recipe.model, "pretrained": str(weights), "dt": dt})
    test = kp.training.make_dataset(recipe.data, "test", data, model, 50, 0)
    batches = [test[index] for index in range(len(test))]
    logits = [keras.ops.convert_to_numpy(model.predict_on_batch(x)) for x, _ in batches]
    return np.concatenate([y for _, y in batches]), np.concatenate(logits)


def clip_accuracy(labels, logits):
    """Return how often the mode of a clip's decisions is right."""
    votes = keras.utils.to_categorical(logits.argmax(-1), 10).sum(axis=1).argmax(-1)
    return float((votes == labels[:, 0]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="nmnist_1000.zip")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the runs; out/nmnist")
    parser.add_argument("--epochs", type=int, help="in place of the recipe's (ablation: 5)")
    parser.add_argument("--ablation", action="store_true")
    arguments = parser.parse_args()
    name = "nmnist_ablation" if arguments.ablation else "nmnist"
    out = arguments.out or pathlib.Path("out") / name
    epochs = arguments.epochs or (5 if arguments.ablation else None)
    results, curves = {}, {}
    for title, changes in (ABLATION if arguments.ablation else MAIN).items():
        recipe, weights, seconds = train(title, changes, arguments.data, out, epochs)
        row = {"training_cpu_seconds": seconds, "epochs": recipe.training["epochs"]}
        for dt in (recipe.model["dt"] // 2, recipe.model["dt"], recipe.model["dt"] * 2):
            labels, logits = measure(recipe, weights, arguments.data, dt)
            latency, accuracy = kp.metrics.accuracy_latency(labels[:, 0], logits, dt)
            curves[f"{title}, {dt / 1000:g} ms"] = latency, accuracy
            row[f"{dt / 1000:g} ms"] = {
                "clip_accuracy": clip_accuracy(labels, logits),
                "frame_accuracy": float(accuracy.mean()),
                "at_200_ms": float(accuracy[LATENCY_US // dt - 1]),
            }
        results[title] = row
        print(title, json.dumps(row), flush=True)
    print_table(results)
    if arguments.ablation:  # one curve each, at the bin size of training
        curves = {k.rsplit(",", 1)[0]: v for k, v in curves.items() if k.endswith(" 10 ms")}
    figure = kp.plots.accuracy_latency(curves, "N-MNIST, 200 digits not trained on")
    save_figure("gesture", figure, f"{name}.png")
    command = (
        f"python -m benchmarks.nmnist --data nmnist_1000.zip{' --ablation' * arguments.ablation}"
    )
    write_results("gesture", command, f"{name}_results.json", results=results)


def print_table(results) -> None:
    """Print all results beside the paper's."""
    print(
        "\n| kernels | 5 ms | 10 ms | 20 ms | frames, 10 ms | at 200 ms | paper, DVS128 at 200 ms |"
    )
    print("|---|---|---|---|---|---|---|")
    for title, row in results.items():
        clips = " | ".join(
            f"{100 * row[dt]['clip_accuracy']:.1f}" for dt in ("5 ms", "10 ms", "20 ms")
        )
        native = row["10 ms"]
        paper = "" if "(0, 1)" in title else PAPER.get(title.split(",")[0], "")
        print(
            f"| {title} | {clips} | {100 * native['frame_accuracy']:.1f} "
            f"| {100 * native['at_200_ms']:.1f} | {paper} |"
        )


if __name__ == "__main__":
    main()

"""Gestures with and without prefix masking, and with free kernels: three trainings, else alike.

    KERAS_BACKEND=torch python -m benchmarks.gesture_variants [--clips 200]

Trains by zoo/gesture/small.toml (64 x 64 pixels, bins of 20 ms) as it is, without prefix masking,
and with free kernels; then tests on simulated gestures of subjects that no training saw, fed from
their beginning with zeros before it. A run that is complete is not repeated. Writes
variants_results.json and variants.png to zoo/gesture.
"""

import argparse
import pathlib

import keras
import numpy as np

import keras_pleiades as kp
from benchmarks.card import ZOO, cpu_seconds, save_figure, write_results
from benchmarks.gesture_card import score

VARIANTS = {
    "as the recipe": [],
    "no prefix masking": [
        'data.augment=[{name="RandomAffine", degrees=10.0, translate=0.1, scale=[1.0, 1.1]}]'
    ],
    "free kernels": ['model.degree="free"'],
}
LATENCIES_US = (100_000, 200_000, 300_000, 500_000)


def trained(name, settings, out):
    """Return the network of one variant, and the processor's seconds that it took."""
    recipe = kp.training.load_recipe(ZOO / "gesture" / "small.toml", settings)
    folder = out / name.replace(" ", "_")
    if not (folder / "results.json").exists():
        print(f"{name}: training into {folder}", flush=True)
        kp.training.train(recipe, None, folder, resume=True)
    options = {**recipe.model, "pretrained": str(folder / "last.weights.h5")}
    return kp.training.build_model(options), cpu_seconds(folder)


def answers(model, clips, variation):
    """Return classes and logits of whole clips of the test split."""
    data = kp.datasets.SyntheticGestures(
        None, "test", model, recordings=clips, simulation={"variation": variation}, batch_size=8
    )
    batches = [data[index] for index in range(len(data))]
    logits = [keras.ops.convert_to_numpy(model.predict_on_batch(x)) for x, _ in batches]
    return np.concatenate([y[:, 0] for _, y in batches]), np.concatenate(logits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--clips", type=int, default=200, help="to test on, harder kinds among them"
    )
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/variants"))
    arguments = parser.parse_args()
    results, curves = {}, {}
    for name, settings in VARIANTS.items():
        model, seconds = trained(name, settings, arguments.out)
        results[name] = {"training_cpu_seconds": seconds}
        for dt in (model.dt // 2, model.dt, model.dt * 2):
            one = model if dt == model.dt else model.resample(dt)
            labels, logits = answers(one, arguments.clips, "any")
            latency, accuracy = kp.metrics.accuracy_latency(labels, logits, dt)
            curves[f"{name}, {dt // 1000} ms"] = latency, accuracy
            results[name][f"{dt // 1000} ms"] = score(labels, logits, dt) | {
                f"at_{us // 1000}_ms": float(accuracy[us // dt - 1]) for us in LATENCIES_US
            }
        print(name, results[name], flush=True)
    print("| | clips | frames | filtered | at 100 | 200 | 300 | 500 ms |\n|" + "---|" * 8)
    for name, rows in results.items():
        for dt in list(rows)[1:]:
            cells = " | ".join(f"{100 * value:.1f}" for value in rows[dt].values())
            print(f"| {name}, {dt} | {cells} |")
    shown = {name: curve for name, curve in curves.items() if name.endswith(" 20 ms")}
    figure = kp.plots.accuracy_latency(shown, "Simulated gestures, 64 x 64, bins of 20 ms")
    save_figure("gesture", figure, "variants.png")
    write_results(
        "gesture",
        f"python -m benchmarks.gesture_variants --clips {arguments.clips}",
        "variants_results.json",
        clips=arguments.clips,
        results=results,
    )


if __name__ == "__main__":
    main()

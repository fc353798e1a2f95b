"""Every number of zoo/eye_tracking/README.md: the bundled eye-tracking weights.

    python -m benchmarks.eye_card [--weights FILE] [--data DIR] [--held-out 7_4 ...] [--epochs 24]

On simulated eyes of the test split, whose subjects no training saw, at three bin sizes: recordings
of 1.5 s with zeros before them, of which the first 0.27 s, the network's context, do not count
(zoo/eye_tracking/card.toml); and at one on eyes that move as much as the real ones do
(benchmarks/eye_statistics.py). Each frame by itself, and held by `kp.decode.HoldFilter`.
With `--data`, the four sessions of 3ET+, also on those: as the weights are; and, for each session
of `--held-out`, after training on the other three, from the weights and from nothing, both by
zoo/eye_tracking/finetune.toml in bins of 10 ms. Distances are in pixels of 60 x 80. Writes
results.json, p_curves.png and kernels.png to zoo/eye_tracking.
"""

import argparse
import json
import pathlib

import numpy as np

import keras_pleiades as kp
from benchmarks.card import ZOO, save_figure, save_kernels, write_results
from benchmarks.eye_statistics import MOVING

SESSIONS = ("5_1", "7_3", "7_4", "12_2")
NUMBERS = ("distance", "p10", "p5", "p3")
HELD = tuple(f"held_{name}" for name in NUMBERS)
INPUT = np.array([96, 128])


def simulated_recipe(dt, recordings, simulation=None):
    """Return the recipe whose test data are whole recordings of unseen subjects."""
    settings = [f"model.dt={dt}", f"data.test.recordings={recordings}"]
    recipe = kp.training.load_recipe(ZOO / "eye_tracking" / "card.toml", settings)
    if simulation:
        recipe.data["test"]["simulation"] = simulation
    return recipe


def answers(recipe, weights, folder=None):
    """Return true, found and held points, in pixels of the input, of all frames that count."""
    model = kp.training.build_model({**recipe.model, "pretrained": str(weights)})
    data = kp.training.make_dataset(recipe.data, "test", folder, model, 2, 0)
    strides = kp.decode.output_strides(model)
    by = kp.decode.HoldFilter(model.dt, hold_us=recipe.evaluation["hold_us"])
    parts = [], [], []
    for index in range(len(data)):
        x, y, weight = data[index]
        found, scores = kp.decode.points(model.predict_on_batch(x), strides)
        events = x[:, -y.shape[1] :].sum(axis=(2, 3, 4))
        held = kp.decode.hold_clip(found, scores, events, by)
        counts = (weight > 0) & (y[..., 2] < 0.5)
        counts &= np.arange(counts.shape[1]) >= recipe.evaluation["skip_us"] // model.dt
        for part, points in zip(parts, (y[..., :2], found, held), strict=True):
            part.append(points[counts])
    return [np.concatenate(part) for part in parts]


def p_curves(points):
    """Return a picture of the part of held answers within a distance, a line for each name."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    scale = np.array([80, 60]) / INPUT[::-1]
    for name, (true, _, held) in points.items():
        away = np.sort(np.linalg.norm((true - held) * scale, axis=-1))
        axes.plot(away, 100 * np.arange(1, len(away) + 1) / len(away), label=name)
    axes.set(xlim=(0, 15), ylim=(0, 101), xlabel="pixels of 60 x 80", ylabel="frames within (%)")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def of_session(session, *settings):
    """Return the recipe that tests on one session and trains on the other three."""
    others = [one for one in SESSIONS if one != session]
    settings = [
        f"data.train.sessions={others}",
        f"data.test.sessions={[session]}",
        *settings,
    ]
    return kp.training.load_recipe(ZOO / "eye_tracking" / "finetune.toml", settings)


def trained(session, folder, epochs, out, *settings):
    """Return the results of a training on three sessions, which is done only once."""
    done = out / "results.json"
    if not done.exists():
        recipe = of_session(session, f"training.epochs={epochs}", *settings)
        kp.training.train(recipe, folder, out, resume=True)
    results = json.loads(done.read_text())
    last = {name.removeprefix("val_"): value for name, value in results["last"].items()}
    return {name: last[name] for name in NUMBERS + HELD} | {"cpu_seconds": results["cpu_seconds"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weights", help="in place of the bundled ones")
    parser.add_argument("--recordings", type=int, default=100, help="simulated ones to test on")
    parser.add_argument("--data", help="folder with train/SESSION/SESSION.h5")
    parser.add_argument("--held-out", nargs="*", default=SESSIONS, choices=SESSIONS)
    parser.add_argument("--epochs", type=int, default=24, help="of fine-tuning")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/eye_card"))
    arguments = parser.parse_args()
    weights = arguments.weights or "synthetic"  # a preset
    points = {
        f"simulated, {dt / 1000:g} ms": answers(simulated_recipe(dt, arguments.recordings), weights)
        for dt in (2_500, 5_000, 10_000)
    }
    moving = simulated_recipe(5_000, arguments.recordings, MOVING)
    points["simulated, moving more, 5 ms"] = answers(moving, weights)
    for session in SESSIONS if arguments.data else ():
        points[f"{session}, as it is"] = answers(of_session(session), weights, arguments.data)
    save_figure("eye_tracking", p_curves(points), "p_curves.png")
    save_kernels("eye_tracking", kp.zoo.eye_tracking(pretrained=weights))
    results = {}
    for name, (true, found, held) in points.items():
        held = kp.metrics.point_distances(true, held, INPUT)
        results[name] = kp.metrics.point_distances(true, found, INPUT)
        results[name] |= {f"held_{key}": value for key, value in held.items()}
    if arguments.data:
        for name, start in (("fine-tuned", f'"{weights}"'), ("from nothing", "false")):
            for session in arguments.held_out:
                out = arguments.out / f"{session}_{name.replace(' ', '_')}"
                results[f"{session}, {name}"] = trained(
                    session, arguments.data, arguments.epochs, out, f"model.pretrained={start}"
                )
    print("| | distance | p10 | p5 | p3 | held | p10 | p5 | p3 |\n" + "|---" * 9 + "|")
    for name, row in results.items():
        cells = (f"{row[key]:.{2 if 'distance' in key else 1}f}" for key in NUMBERS + HELD)
        print(f"| {name} | " + " | ".join(cells) + " |")
    command = f"--recordings {arguments.recordings}"
    if arguments.data:
        command += " --data DIR"
        held_out = tuple(arguments.held_out)
        command += "" if held_out == SESSIONS else " ".join((" --held-out", *held_out))
        command += f" --epochs {arguments.epochs}" if held_out else ""
    write_results(
        "eye_tracking",
        f"python -m benchmarks.eye_card {command}",
        recordings=arguments.recordings,
        epochs_of_fine_tuning=arguments.epochs,
        results=results,
    )


if __name__ == "__main__":
    main()

"""Every number of zoo/eye_tracking/README.md: the bundled eye-tracking weights.

    python -m benchmarks.eye_card [--weights FILE] [--data DIR] [--held-out 7_4 ...] [--epochs 14]

On simulated eyes of the test split, whose subjects no training saw, at three bin sizes: recordings
of 1.5 s with zeros before them, of which the first 0.27 s, the network's context, do not count.
With `--data`, the four sessions of 3ET+, also on those: as the weights are; and, for each session
of `--held-out`, after training on the other three, from the weights and from nothing, the same
number of epochs, by zoo/eye_tracking/four_sessions.toml in bins of 10 ms. Distances are in pixels
of 60 x 80. Writes results.json to zoo/eye_tracking.
"""

import argparse
import json
import pathlib

import keras_pleiades as kp
from benchmarks.card import ZOO, write_results

SESSIONS = ("5_1", "7_3", "7_4", "12_2")
NUMBERS = ("distance", "p10", "p5", "p3")
DURATION_US, WARM_US = 1_500_000, 270_000


def simulated(weights, recordings):
    """Return the distances on simulated eyes, by bin size."""
    found = {}
    for dt in (2_500, 5_000, 10_000):
        settings = [
            f"model.dt={dt}",
            f"data.test.recordings={recordings}",
            'data.test.split="test"',
            f"data.test.clip_frames={DURATION_US // dt}",
            f"data.test.stride={DURATION_US // dt}",
            f"evaluation.skip_us={WARM_US}",
        ]
        recipe = kp.training.load_recipe(ZOO / "eye_tracking" / "recipe.toml", settings)
        found[f"simulated, {dt / 1000:g} ms"] = kp.training.evaluate(recipe, weights)
    return found


def of_session(session, *settings):
    """Return the recipe that tests on one session and trains on the other three."""
    others = [one for one in SESSIONS if one != session]
    settings = [
        "model.dt=10_000",
        "data.clip_frames=50",
        f"data.train.sessions={others}",
        f"data.test.sessions={[session]}",
        *settings,
    ]
    return kp.training.load_recipe(ZOO / "eye_tracking" / "four_sessions.toml", settings)


def trained(session, folder, epochs, out, *settings):
    """Return the results of a training on three sessions, which is done only once."""
    done = out / "results.json"
    if not done.exists():
        recipe = of_session(session, f"training.epochs={epochs}", *settings)
        kp.training.train(recipe, folder, out, resume=True)
    results = json.loads(done.read_text())
    last = {name.removeprefix("val_"): value for name, value in results["last"].items()}
    return {name: last[name] for name in NUMBERS} | {"cpu_seconds": results["cpu_seconds"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weights", help="in place of the bundled ones")
    parser.add_argument("--recordings", type=int, default=100, help="simulated ones to test on")
    parser.add_argument("--data", help="folder with train/SESSION/SESSION.h5")
    parser.add_argument("--held-out", nargs="*", default=SESSIONS, choices=SESSIONS)
    parser.add_argument("--epochs", type=int, default=14, help="14 are ten minutes of one core")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/eye_card"))
    arguments = parser.parse_args()
    weights = arguments.weights or "synthetic"  # a preset
    results = simulated(weights, arguments.recordings)
    if arguments.data:
        for session in SESSIONS:
            found = kp.training.evaluate(of_session(session), weights, arguments.data)
            results[f"{session}, as it is"] = found
        for name, *settings in (
            ("fine-tuned", f'model.pretrained="{weights}"', "training.learning_rate=3e-4"),
            ("from nothing",),
        ):
            for session in arguments.held_out:
                out = arguments.out / f"{session}_{name.replace(' ', '_')}"
                results[f"{session}, {name}"] = trained(
                    session, arguments.data, arguments.epochs, out, *settings
                )
    print("| | distance | p10 | p5 | p3 |\n|---|---|---|---|---|")
    for name, row in results.items():
        print(f"| {name} | " + " | ".join(f"{row[key]:.2f}" for key in NUMBERS) + " |")
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

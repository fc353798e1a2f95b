"""Every number of zoo/gesture/README.md: the bundled gesture weights on simulated clips.

    python -m benchmarks.gesture_card [--weights FILE] [--authors dvs128_ckpt.pt] [--free FILE]

Clips are of the test split, whose subjects no training saw. They are fed from their beginning, with
zeros before it. `frames` counts answers from 0.45 s on, when every layer has seen real frames;
`filtered` all answers of the 0.15 s majority filter from there on; `clips` the mode of a clip.
Writes results.json, confusion.png, latency.png and kernels.png to zoo/gesture.
"""

import argparse

import keras
import numpy as np

import keras_pleiades as kp
from benchmarks.card import save_figure, save_kernels, write_results
from keras_pleiades.datasets.synthetic import gestures

WARM_US, WINDOW_US = 450_000, 150_000


def answers(models, clips, variation=None, folder=None):
    """Return the classes of clips, and each model's logits of them."""
    labels, found = [], {name: [] for name in models}
    simulation = {} if variation is None else {"variation": variation}
    sets = {
        name: kp.datasets.SyntheticGestures(
            folder, "test", model, recordings=clips, simulation=simulation, batch_size=4
        )
        for name, model in models.items()
    }
    for index in range(-(-clips // 4)):
        for name, model in models.items():
            x, y = sets[name][index]
            found[name].append(keras.ops.convert_to_numpy(model.predict_on_batch(x)))
        labels.append(y[:, 0])
    return np.concatenate(labels), {name: np.concatenate(parts) for name, parts in found.items()}


def score(labels, logits, dt):
    """Return the accuracies of clips, of frames and of filtered answers."""
    warm = WARM_US // dt
    decisions = logits.argmax(-1)
    filtered = kp.decode.filter_clip(logits, kp.decode.MajorityFilter(WINDOW_US, dt))
    return {
        "clips": float((mode(decisions[:, warm:]) == labels).mean()),
        "frames": float((decisions[:, warm:] == labels[:, None]).mean()),
        "filtered": float((filtered[:, warm:] == labels[:, None]).mean()),
    }


def mode(decisions):
    """Return the most frequent decision of each clip."""
    return np.array([np.bincount(one, minlength=10).argmax() for one in decisions])


def confusion_plot(labels, decisions):
    """Return a picture of which class was taken for which."""
    from matplotlib.figure import Figure

    table = np.zeros((10, 10), int)
    np.add.at(table, (labels, decisions), 1)
    figure = Figure(figsize=(7, 6), layout="constrained")
    axes = figure.add_subplot()
    axes.imshow(table, cmap="Blues")
    for (row, column), count in np.ndenumerate(table):
        if count:
            dark = count > table.max() / 2
            axes.text(column, row, count, ha="center", va="center", color="w" if dark else "k")
    axes.set_xticks(range(10), gestures.CLASSES, rotation=45, ha="right")
    axes.set_yticks(range(10), gestures.CLASSES)
    axes.set_xlabel("answer")
    axes.set_ylabel("gesture")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weights", help="in place of the bundled ones")
    parser.add_argument("--authors", help="the authors' dvs128_ckpt.pt, judged on the same clips")
    parser.add_argument("--free", help="weights of free kernels, trained the same way")
    parser.add_argument("--clips", type=int, default=500)
    parser.add_argument("--hard", type=int, default=200, help="clips of each harder kind")
    parser.add_argument("--folder", help="where simulated recordings are kept")
    arguments = parser.parse_args()

    ours = kp.zoo.gesture(pretrained=arguments.weights or True)
    models = {"ours": ours}
    if arguments.authors:
        models["authors"] = kp.zoo.gesture(pretrained=arguments.authors)
    if arguments.free:
        models["free"] = kp.zoo.gesture(pretrained=arguments.free)
    results, curves = {}, {}
    labels, logits = answers(models, arguments.clips, folder=arguments.folder)
    for name, one in logits.items():
        results[name] = {"as it is": score(labels, one, ours.dt)}
        curves[f"{name}, 10 ms"] = kp.metrics.accuracy_latency(labels, one, ours.dt)
    confused = confusion_plot(labels, mode(logits["ours"].argmax(-1)[:, 45:]))
    save_figure("gesture", confused, "confusion.png")
    if "authors" in logits:
        agreement = logits["ours"].argmax(-1) == logits["authors"].argmax(-1)
        results["agreement with the authors' network"] = float(agreement[:, 45:].mean())
    for dt in (5_000, 20_000):
        other = ours.resample(dt)
        labels, logits = answers({"ours": other}, arguments.clips, folder=arguments.folder)
        results["ours"][f"at {dt // 1000} ms"] = score(labels, logits["ours"], dt)
        curves[f"ours, {dt // 1000} ms"] = kp.metrics.accuracy_latency(labels, logits["ours"], dt)
    figure = kp.plots.accuracy_latency(curves, "Simulated gestures of unseen subjects")
    save_figure("gesture", figure, "latency.png")
    for variation in gestures.VARIATIONS if arguments.hard else ():
        labels, logits = answers(models, arguments.hard, variation, arguments.folder)
        for name, one in logits.items():
            results[name][variation] = score(labels, one, ours.dt)
        print(
            variation, {name: results[name][variation]["filtered"] for name in models}, flush=True
        )
    print("| clips | " + " | ".join(f"{name}: clips, frames, filtered" for name in models) + " |")
    print("|---" * (len(models) + 1) + "|")
    for kind in results["ours"]:
        row = [results[name].get(kind) for name in models]
        cells = [
            "" if one is None else ", ".join(f"{100 * value:.1f}" for value in one.values())
            for one in row
        ]
        print(f"| {kind} | " + " | ".join(cells) + " |")
    command = f"--clips {arguments.clips} --hard {arguments.hard}"
    command += " --authors dvs128_ckpt.pt" if arguments.authors else ""
    save_kernels("gesture", ours)
    write_results(
        "gesture",
        f"python -m benchmarks.gesture_card {command}",
        clips=arguments.clips,
        clips_of_each_harder_kind=arguments.hard,
        results=results,
    )


if __name__ == "__main__":
    main()

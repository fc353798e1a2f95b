"""Every number of zoo/detector/README.md: the bundled detector on simulated road scenes.

    python -m benchmarks.detector_card [--weights FILE] [--recordings 64]

Scenes are of the test split, which no training saw: recordings of 1.5 s, scored from 0.5 s on,
when the network has seen its whole context. Both measures, the paper's and COCO's, over all seven
classes, over cars and pedestrians (as the paper), and class by class; in bins of 10 and 20 ms.
Writes results.json, detections.png and kernels.png to zoo/detector.
"""

import argparse

import numpy as np

import keras_pleiades as kp
from benchmarks.card import save_figure, save_kernels, write_results
from keras_pleiades.plots._render import render

FROM_US, CLIP_US = 500_000, 500_000
CLASSES = kp.datasets.SyntheticRoads.class_names
PAPER = (CLASSES.index("pedestrian"), CLASSES.index("car"))
SHOWN_FRAMES = 3  # one alone shows little
SHOWN = 0.3  # boxes of a lower score are not drawn


def answers(model, recordings):
    """Yield each scene's last frames, summed, and true and found boxes of each labelled frame."""
    frames = CLIP_US // model.dt
    data = kp.datasets.SyntheticRoads(
        None, "test", model, recordings=recordings, clip_frames=frames, stride=frames
    )
    strides = kp.decode.output_strides(model)
    for number, clip in enumerate(data.clips):
        if clip.start_us < FROM_US:
            continue
        x, y, weight = data[number]
        outputs = model.predict_clip(x)  # in bounded memory
        truth, found = kp.metrics.labelled_frames(y, outputs, weight, model.num_classes, strides)
        yield x[0, -SHOWN_FRAMES:].sum(axis=0), truth, found


def scores(truth, found):
    """Return both measures, for all classes, for the paper's two and for each."""
    kinds = {"all seven classes": None, "car and pedestrian": PAPER}
    kinds |= {name: (number,) for number, name in enumerate(CLASSES)}
    return {
        name: {
            "mAP_paper": kp.metrics.paper_map(truth, found, classes),
            **{f"{k}_coco": v for k, v in kp.metrics.coco_map(truth, found, classes).items()},
        }
        for name, classes in kinds.items()
    }


def picture(scenes):
    """Return a sheet of scenes: the truth in grey and dashed, answers in colour."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    figure = Figure(figsize=(14, 2 * len(scenes)), layout="constrained")
    for axes, (shown, truth, found) in zip(
        figure.subplots(-(-len(scenes) // 2), 2).flat, scenes, strict=False
    ):
        height, width = shown.shape[:2]
        axes.imshow(render(shown[None])[0], extent=(0, width, height, 0), interpolation="nearest")
        best = found[-1][found[-1][:, 5] >= SHOWN]
        for box, colour, style in [(b, "0.6", "--") for b in truth[-1]] + [
            (b, f"C{int(b[4])}", "-") for b in best
        ]:
            y, x, high, wide = box[:4]
            corner = x - wide / 2, y - high / 2
            axes.add_patch(Rectangle(corner, wide, high, fill=False, ec=colour, ls=style, lw=1.5))
            if style == "-":
                text = f"{CLASSES[int(box[4])]} {box[5]:.2f}"
                axes.text(*corner, text, color=colour, fontsize=8, va="bottom", clip_on=True)
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.set_axis_off()
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weights", help="in place of the bundled ones")
    parser.add_argument("--recordings", type=int, default=64)
    arguments = parser.parse_args()
    model = kp.zoo.detector(pretrained=arguments.weights or True)
    results = {}
    for dt in (10_000, 20_000):
        one = model if dt == model.dt else model.resample(dt)
        scenes = list(answers(one, arguments.recordings))
        truth, found = ([f for scene in scenes for f in scene[k]] for k in (1, 2))
        results[f"{dt // 1000} ms"] = scores(truth, found)
        if one is model:
            save_figure("detector", picture(scenes[:16:2]), "detections.png")
            frames, classes = len(truth), np.concatenate(truth)[:, 4].astype(int)
        print(f"{dt // 1000} ms, {len(truth)} labelled frames")
        print("| | mAP, the paper's | COCO mAP | COCO mAP50 |\n|---|---|---|---|")
        for name, row in results[f"{dt // 1000} ms"].items():
            numbers = [row[key] for key in ("mAP_paper", "mAP_coco", "mAP50_coco")]
            print(f"| {name} | " + " | ".join(f"{v:.3f}" for v in numbers) + " |", flush=True)
    boxes = np.bincount(classes, minlength=len(CLASSES))
    save_kernels("detector", model)
    write_results(
        "detector",
        f"python -m benchmarks.detector_card --recordings {arguments.recordings}",
        recordings=arguments.recordings,
        labelled_frames=frames,
        true_boxes=dict(zip(CLASSES, boxes.tolist(), strict=True)),
        results=results,
    )


if __name__ == "__main__":
    main()

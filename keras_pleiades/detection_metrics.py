"""Average precision of boxes: the paper's, and COCO's. Use them as `keras_pleiades.metrics`.

Both take two lists with one entry for each labelled frame: `truth`, arrays `(boxes, 5)` of y and x
of the center, height, width, class; and `found`, arrays `(boxes, 6)` with a score behind, as
`decode.boxes` gives them. A box can only match one of its own frame, which is one bin of time:
there is no tolerance in time to choose. `labelled_frames` makes both lists.
"""

import contextlib
import io

import numpy as np

from keras_pleiades import decode

THRESHOLDS = np.arange(1, 20) / 20  # 0.05 to 0.95 in steps of 0.05


def labelled_frames(
    y_true: np.ndarray,
    outputs: np.ndarray,
    sample_weight: np.ndarray | None,
    num_classes: int,
    strides: int,
    **kwargs,
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the boxes of the frames that carry labels: the true ones and those found.

    Args:
        y_true: `(batch, time, boxes, 5)`, class -1 for an empty row: what `CenterNetLoss` takes.
        outputs: `(batch, time, height', width', num_classes + 4)`, of the same frames.
        sample_weight: `(batch, time)`, above 0 in frames that carry labels; `None` for all.
        num_classes: Number of heatmaps.
        strides: Pixels to a cell.
        **kwargs: `top_k` and `min_score` of `decode.boxes`.

    Example:
        >>> y_true = np.full((1, 3, 1, 5), -1.0)
        >>> y_true[0, 1, 0] = 9.0, 22.0, 8.0, 12.0, 1
        >>> outputs = np.full((1, 3, 8, 8, 2 + 4), -9.0, "float32")
        >>> truth, found = labelled_frames(y_true, outputs, [[0, 1, 0]], num_classes=2, strides=4)
        >>> len(truth), truth[0].shape, found[0].shape
        (1, (1, 5), (0, 6))
    """
    y_true, outputs = np.asarray(y_true), np.asarray(outputs)
    if y_true.shape[:2] != outputs.shape[:2]:
        raise ValueError(
            "Labels and predictions must be of the same frames, (batch, time). "
            f"Received: y_true.shape={y_true.shape}, outputs.shape={outputs.shape}"
        )
    weight = np.ones(y_true.shape[:2]) if sample_weight is None else np.asarray(sample_weight)
    truth, found = [], []
    for b, t in np.argwhere(weight > 0):
        truth.append(y_true[b, t][y_true[b, t, :, 4] >= 0])
        found.append(decode.boxes(outputs[b, t], num_classes, strides, **kwargs))
    return truth, found


def paper_map(
    truth: list[np.ndarray],
    found: list[np.ndarray],
    classes: tuple[int, ...] | None = None,
    min_iou: float = 0.5,
) -> float:
    """Return the mean average precision as the paper measures it: not COCO's.

    For each class, precision and recall at confidence thresholds 0.05, 0.10, ... 0.95, and the area
    under precision over recall by the trapezoid rule; then the mean over classes. The paper leaves
    open what a match is and where the curve begins. Here a box matches the true box of its frame
    and class with which it overlaps most, among those not yet taken by a box of higher score, if
    they overlap (IoU) by `min_iou`; and the curve begins at recall 0 with the precision of the
    strictest threshold that keeps any box, so that the truth itself scores 1 and nothing scores 0.

    Args:
        truth: For each labelled frame `(boxes, 5)`.
        found: For each labelled frame `(boxes, 6)`.
        classes: The classes to average over, such as cars and pedestrians in the paper; by default
            all that occur in `truth`. One that does not is left out.
        min_iou: Overlap that makes a match.

    Returns:
        From 0 to 1; NaN where `truth` is empty.

    Example:
        Two cars, three boxes found: one right with score 0.9, one wrong with 0.6, one right with
        0.3. Thresholds to 0.30 keep all three: precision 2/3, recall 1. Those to 0.60 keep two:
        precision 1/2, recall 1/2. Those to 0.90 keep one: precision 1, recall 1/2. 0.95 keeps
        none. The curve goes (0, 1), (1/2, 1), (1/2, 1/2), (1, 2/3), and the area under it is
        1/2 * 1 + 0 + 1/2 * (1/2 + 2/3) / 2 = 0.7917.

        >>> cars = np.array([[10.0, 10, 8, 8, 0], [40.0, 40, 8, 8, 0]])
        >>> boxes = np.array(
        ...     [[10.0, 10, 8, 8, 0, 0.9], [70, 70, 8, 8, 0, 0.6], [40, 40, 8, 8, 0, 0.3]]
        ... )
        >>> round(paper_map([cars], [boxes]), 4)
        0.7917
    """
    classes = _check(truth, found, classes)
    areas = [_paper_ap(truth, found, one, min_iou) for one in classes]
    return float(np.mean(areas)) if areas else float("nan")


def coco_map(
    truth: list[np.ndarray],
    found: list[np.ndarray],
    classes: tuple[int, ...] | None = None,
) -> dict[str, float]:
    """Return COCO's average precisions, computed by pycocotools (the extra `[detection]`).

    Args:
        truth: For each labelled frame `(boxes, 5)`.
        found: For each labelled frame `(boxes, 6)`; COCO looks at the best 100.
        classes: The classes to average over; by default all that occur in `truth`.

    Returns:
        "mAP" over overlaps 0.50 to 0.95, "mAP50" and "mAP75"; NaN where `truth` is empty.

    Example:
        >>> box = np.array([[20.0, 30.0, 10.0, 10.0, 2.0]])  # y, x, height, width, class
        >>> found = np.insert(box, 5, 0.9, axis=1)  # and its score
        >>> round(coco_map([box], [found])["mAP"], 3)
        1.0
    """
    try:
        from pycocotools.coco import COCO
        from pycocotools.cocoeval import COCOeval
    except ImportError as error:
        raise ImportError(
            "COCO's mAP needs pycocotools: pip install 'keras-pleiades[detection]'"
        ) from error
    names = ("mAP", "mAP50", "mAP75")
    classes = _check(truth, found, classes)
    if not classes:
        return dict.fromkeys(names, float("nan"))
    wanted = [frame[np.isin(frame[:, 4], classes)] for frame in found]
    if not sum(map(len, wanted)):
        return dict.fromkeys(names, 0.0)
    with contextlib.redirect_stdout(io.StringIO()):  # it prints its progress
        answers = []
        for frames in (truth, wanted):
            answer = COCO()
            answer.dataset = _coco_dataset(frames, classes)
            answer.createIndex()
            answers.append(answer)
        evaluation = COCOeval(*answers, iouType="bbox")
        evaluation.params.catIds = list(classes)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return dict(zip(names, map(float, evaluation.stats[:3]), strict=True))


def box_iou(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the overlap, intersection over union, of boxes `(n, 4+)` and `(m, 4+)`: `(n, m)`.

    Example:
        >>> a = np.array([[5.0, 5.0, 10.0, 10.0]])  # y and x of the center, height, width
        >>> box_iou(a, np.array([[5.0, 10.0, 10.0, 10.0]])).round(3).tolist()  # 50 of 150
        [[0.333]]
    """
    a, b = np.asarray(a, np.float64)[:, None, :4], np.asarray(b, np.float64)[None, :, :4]
    low = np.maximum(a[..., :2] - a[..., 2:] / 2, b[..., :2] - b[..., 2:] / 2)
    high = np.minimum(a[..., :2] + a[..., 2:] / 2, b[..., :2] + b[..., 2:] / 2)
    both = np.prod(np.maximum(high - low, 0), axis=-1)
    either = np.prod(a[..., 2:], axis=-1) + np.prod(b[..., 2:], axis=-1) - both
    return both / np.maximum(either, 1e-12)


def _check(truth, found, classes):
    """Return the classes to average over: those asked for that occur."""
    if len(truth) != len(found):
        raise ValueError(
            "`truth` and `found` must each have one entry for every labelled frame. "
            f"Received: {len(truth)} and {len(found)}"
        )
    occurring = {int(label) for frame in truth for label in frame[:, 4]}
    return tuple(sorted(occurring if classes is None else occurring.intersection(classes)))


def _paper_ap(truth, found, label, min_iou):
    """Return the area under precision over recall of one class."""
    scores, right = [], []
    for true, boxes in zip(truth, found, strict=True):
        true, boxes = true[true[:, 4] == label], boxes[boxes[:, 4] == label]
        boxes = boxes[np.argsort(-boxes[:, 5], kind="stable")]
        overlap = box_iou(boxes, true)
        for row, score in zip(overlap, boxes[:, 5], strict=True):
            best = row.argmax() if len(row) else None
            hit = best is not None and row[best] >= min_iou
            if hit:
                overlap[:, best] = -1  # taken
            scores.append(score)
            right.append(hit)
    scores, right = np.array(scores), np.array(right, bool)
    total = sum(int((frame[:, 4] == label).sum()) for frame in truth)
    curve = []
    for threshold in THRESHOLDS[::-1]:
        # Half a float32 step: a score written as 0.3 passes the threshold 0.3.
        kept = scores >= threshold - 1e-7
        if kept.any():
            curve.append((right[kept].sum() / total, right[kept].mean()))
    if not curve:
        return 0.0
    recall, precision = np.array([(0.0, curve[0][1]), *curve]).T
    return float(np.sum(np.diff(recall) * (precision[1:] + precision[:-1]) / 2))


def _coco_dataset(frames, classes):
    """Return frames as COCO's dictionary: boxes are left, top, width, height."""
    rows = []
    for image, frame in enumerate(frames):
        for y, x, height, width, label, *score in frame[:, :6].astype(float).tolist():
            row = {
                "id": len(rows) + 1,
                "image_id": image,
                "category_id": int(label),
                "bbox": [x - width / 2, y - height / 2, width, height],
                "area": width * height,
                "iscrowd": 0,
            }
            rows.append({**row, "score": score[0]} if score else row)
    return {
        "images": [{"id": image} for image in range(len(frames))],
        "annotations": rows,
        "categories": [{"id": label} for label in classes],
    }

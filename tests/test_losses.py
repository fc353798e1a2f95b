"""Losses and the activity penalty, against loops."""

import keras
import numpy as np
import pytest
from keras import ops

import keras_pleiades as kp
from keras_pleiades.losses import CenterNetLoss, CenterPointLoss, FrameCrossentropy
from tests.backends import compiled_gradient, graph, to_numpy

B, T, H, W, K, STRIDES = 2, 3, 6, 9, 3, 4


def log_sigmoid(x):
    return -np.logaddexp(0, -x)


def slow_focal(target, logits):
    total, centers = 0.0, 0
    for at in np.ndindex(target.shape):
        p, y = 1 / (1 + np.exp(-logits[at])), target[at]
        if y == 1:
            total -= (1 - p) ** 2 * log_sigmoid(logits[at])
            centers += 1
        else:
            total -= (1 - y) ** 4 * p**2 * log_sigmoid(-logits[at])
    return total, centers


def slow_radius(height, width, overlap):
    """Search: the largest shift of the corners that keeps the overlap, the least of three."""

    def iou(r, kind):
        area = height * width
        if kind == "same":
            both = (height - r) * (width - r)
            return both / (2 * area - both)
        other = (height + 2 * r * kind) * (width + 2 * r * kind)
        return min(area, other) / max(area, other)

    found = []
    for kind in ("same", 1, -1):
        low, high = 0.0, min(height, width) / 2 * (2 if kind == "same" else 1) if kind != 1 else 99
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if iou(middle, kind) >= overlap else (low, middle)
        found.append(low)
    return min(found)


def slow_center_net(boxes, outputs, weight, offset_loss):
    heat = centers = sizes = offsets = objects = 0.0
    for b, t in np.ndindex(weight.shape):
        target = np.zeros((H, W, K))
        for y, x, h, w, label in boxes[b, t]:
            if label < 0:
                continue
            row, column = int(y // STRIDES), int(x // STRIDES)
            sigma = (2 * slow_radius(h / STRIDES, w / STRIDES, 0.3) + 1) / 6
            for i, j in np.ndindex(H, W):
                value = np.exp(-((i - row) ** 2 + (j - column) ** 2) / (2 * sigma**2))
                target[i, j, int(label)] = max(target[i, j, int(label)], value)
            ph, pw, px, py = outputs[b, t, row, column, K:]
            sizes += weight[b, t] * (abs(h / STRIDES - ph) + abs(w / STRIDES - pw)) / 2
            for true, found in ((x / STRIDES - column, px), (y / STRIDES - row, py)):
                error = abs(true - found)
                smooth = 0.5 * error**2 if error < 1 else error - 0.5
                offsets += weight[b, t] * (smooth if offset_loss == "smooth_l1" else error) / 2
            objects += weight[b, t]
        loss, count = slow_focal(target, outputs[b, t, :, :, :K])
        heat += weight[b, t] * loss
        centers += weight[b, t] * count
    return heat / max(centers, 1) + (offsets + 0.1 * sizes) / max(objects, 1)


def random_boxes(rng):
    boxes = np.full((B, T, 5, 5), -1.0)
    for b, t in np.ndindex(B, T):
        n = rng.integers(0, 5)
        boxes[b, t, :n, :2] = rng.uniform(0, 1, (n, 2)) * (H * STRIDES, W * STRIDES)
        boxes[b, t, :n, 2:4] = rng.uniform(2, 30, (n, 2))
        boxes[b, t, :n, 4] = rng.integers(0, K, n)
    # Two boxes of one class in one cell: two objects, one center.
    boxes[0, 0, :2] = (9.0, 9.5, 6.0, 7.0, 1), (10.0, 11.0, 12.0, 5.0, 1)
    return boxes


@pytest.mark.parametrize("offset_loss", ["l1", "smooth_l1"])
def test_center_net_equals_a_loop(offset_loss):
    rng = np.random.default_rng(0)
    boxes, weight = random_boxes(rng), np.array([[1.0, 0, 1], [1, 1, 0]])
    outputs = rng.normal(size=(B, T, H, W, K + 4)) * 2
    loss = graph(CenterNetLoss(K, STRIDES, offset_loss))
    for each in (weight, np.ones((B, T)), np.zeros((B, T))):
        expected = slow_center_net(boxes, outputs, each, offset_loss)
        found = float(loss(boxes, outputs.astype("float32"), each))
        np.testing.assert_allclose(found, expected, rtol=1e-5)  # float32 sums
    # No weights are weights of one; one a clip is that one in each of its frames.
    everything = slow_center_net(boxes, outputs, np.ones((B, T)), offset_loss)
    np.testing.assert_allclose(float(loss(boxes, outputs)), everything, rtol=1e-5)
    first = np.array([[1.0] * T, [0.0] * T])
    np.testing.assert_allclose(
        float(loss(boxes, outputs, np.array([1.0, 0.0]))),
        slow_center_net(boxes, outputs, first, offset_loss),
        rtol=1e-5,
    )


def test_what_empty_rows_and_unlabelled_frames_hold_does_not_matter():
    rng = np.random.default_rng(1)
    boxes, outputs = random_boxes(rng), rng.normal(size=(B, T, H, W, K + 4)).astype("float32")
    weight = np.array([[1.0, 0, 1], [1, 1, 0]])
    loss = graph(CenterNetLoss(K, STRIDES))
    expected = float(loss(boxes, outputs, weight))
    boxes[..., :4][boxes[..., 4] < 0] = 1e6
    boxes[0, 1] = 3.0, 3.0, 5.0, 5.0, 0
    outputs[1, 2] = 7.0
    np.testing.assert_allclose(float(loss(boxes, outputs, weight)), expected, rtol=1e-6)


@pytest.mark.parametrize("offset_loss", ["l1", "smooth_l1"])
def test_center_point_equals_a_loop(offset_loss):
    rng = np.random.default_rng(0)
    points = rng.uniform(0, 1, (B, T, 3)) * (W * STRIDES, H * STRIDES, 0)
    points[0, 1, 2] = points[1, 0, 2] = 1  # closed
    points[1, 0, :2] = np.nan
    weight = np.array([[1.0, 1, 0.5], [1, 1, 0]])
    outputs = rng.normal(size=(B, T, H, W, 3)) * 2
    total = count = 0.0
    for b, t in np.ndindex(B, T):
        x, y, closed = points[b, t]
        if closed:
            continue
        row, column = int(y // STRIDES), int(x // STRIDES)
        target = np.zeros((H, W, 1))
        for i, j in np.ndindex(H, W):
            target[i, j] = np.exp(-((i - row) ** 2 + (j - column) ** 2) / (2 * 0.5**2))
        each, _ = slow_focal(target, outputs[b, t, :, :, :1])
        for true, found in (
            (x / STRIDES - column, outputs[b, t, row, column, 1]),
            (y / STRIDES - row, outputs[b, t, row, column, 2]),
        ):
            error = abs(true - found)
            smooth = 0.5 * error**2 if error < 1 else error - 0.5
            each += (smooth if offset_loss == "smooth_l1" else error) / 2
        total += weight[b, t] * each
        count += weight[b, t]
    found = float(graph(CenterPointLoss(STRIDES, offset_loss))(points, outputs, weight))
    np.testing.assert_allclose(found, total / count, rtol=1e-5)


def test_center_point_teaches_cells_around_the_point():
    rng = np.random.default_rng(0)
    points = rng.uniform(0, 1, (B, T, 3)) * (W * STRIDES, H * STRIDES, 0)
    outputs = rng.normal(size=(B, T, H, W, 3))
    expected = 0.0
    for b, t in np.ndindex(B, T):
        x, y = points[b, t, :2] / STRIDES
        weights, errors = [], []
        for i, j in np.ndindex(H, W):
            distance = (y - i - 0.5) ** 2 + (x - j - 0.5) ** 2
            weights.append(np.exp(-distance / (2 * 0.7**2)))
            errors.append(abs(x - j - outputs[b, t, i, j, 1]) / 2)
            errors[-1] += abs(y - i - outputs[b, t, i, j, 2]) / 2
        expected += np.average(errors, weights=weights) / (B * T)
    only_heat = {"offset_loss": "l1", "offset_weight": 0.0}
    heat = float(graph(CenterPointLoss(STRIDES, **only_heat))(points, outputs))
    loss = CenterPointLoss(STRIDES, "l1", offset_sigma=0.7)
    found = float(graph(loss)(points, outputs)) - heat
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    # Cells that all know the point cost nothing, whichever has the higher score.
    row, column = np.mgrid[:H, :W]
    outputs[..., 1] = (points[..., 0] / STRIDES)[..., None, None] - column
    outputs[..., 2] = (points[..., 1] / STRIDES)[..., None, None] - row
    np.testing.assert_allclose(float(graph(loss)(points, outputs)), heat, rtol=1e-5)
    xy, _ = kp.decode.points(outputs, STRIDES)
    np.testing.assert_allclose(xy, points[..., :2], atol=1e-4)


def test_crossentropy_equals_a_loop():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(B, T, K)) * 3
    labels = rng.integers(0, K, (B, T))
    weight = np.array([[1.0, 0, 2], [1, 1, 1]])

    def slow(labels, weight, smoothing):
        total = 0.0
        for b, t in np.ndindex(B, T):
            log_p = logits[b, t] - np.log(np.exp(logits[b, t]).sum())
            target = np.full(K, smoothing / K)
            target[labels[b, t]] += 1 - smoothing
            total -= weight[b, t] * (target * log_p).sum()
        return total / weight.sum()

    for smoothing in (0.0, 0.1):
        loss = graph(FrameCrossentropy(smoothing))
        expected = slow(labels, weight, smoothing)
        np.testing.assert_allclose(float(loss(labels, logits, weight)), expected, rtol=1e-6)
        one_a_clip = slow(np.repeat(labels[:, :1], T, axis=1), np.ones((B, T)), smoothing)
        np.testing.assert_allclose(float(loss(labels[:, 0], logits)), one_a_clip, rtol=1e-6)
    keras_loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    np.testing.assert_allclose(
        float(FrameCrossentropy()(labels, logits)), float(keras_loss(labels, logits)), rtol=1e-6
    )


def cases():
    rng = np.random.default_rng(2)
    outputs = rng.normal(size=(B, T, H, W, K + 4)) * 20  # far out: probabilities of 1e-20
    points = rng.uniform(0, 20, (B, T, 3)) * (1, 1, 0)
    return {
        "center_net": (CenterNetLoss(K, STRIDES), random_boxes(rng), outputs),
        "center_point": (CenterPointLoss(STRIDES), points, outputs[..., :3]),
        "around": (CenterPointLoss(STRIDES, offset_sigma=0.6), points, outputs[..., :3]),
        "crossentropy": (FrameCrossentropy(), rng.integers(0, K, B), outputs[:, :, 0, 0, :K]),
    }


each_loss = pytest.mark.parametrize(
    "name", ["center_net", "center_point", "around", "crossentropy"]
)


@each_loss
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_gradients_are_finite_in_half_precision(name, dtype):
    loss, y_true, outputs = cases()[name]
    outputs = ops.cast(ops.convert_to_tensor(outputs.astype("float32")), dtype)
    value, gradient = compiled_gradient(lambda x: loss(y_true, x), outputs)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    assert abs(gradient).max() > 0
    exact, _ = compiled_gradient(lambda x: loss(y_true, x), ops.cast(outputs, "float32"))
    # The loss itself is computed in float32 whatever comes in.
    np.testing.assert_allclose(value, exact, rtol=1e-5)


@each_loss
def test_gradient_is_that_of_small_steps(name):
    loss, y_true, outputs = cases()[name]
    outputs = (outputs / 20).astype("float32")
    _, gradient = compiled_gradient(lambda x: loss(y_true, x), ops.convert_to_tensor(outputs))
    step = np.random.default_rng(0).normal(size=outputs.shape).astype("float32") * 1e-2
    loss = graph(loss)
    found = float(loss(y_true, outputs + step)) - float(loss(y_true, outputs - step))
    # Second order in a step of 1e-2, and float32 differences.
    np.testing.assert_allclose(found, 2 * (gradient * step).sum(), rtol=2e-2, atol=2e-4)


@each_loss
def test_config_and_compile(name):
    loss, y_true, outputs = cases()[name]
    again = keras.losses.deserialize(keras.losses.serialize(loss))
    assert again.get_config() == loss.get_config()
    assert float(graph(again)(y_true, outputs)) == float(graph(loss)(y_true, outputs))


def test_bad_arguments():
    with pytest.raises(ValueError, match="offset_loss='l2'"):
        CenterNetLoss(3, offset_loss="l2")
    with pytest.raises(ValueError, match=r"above 0.*offset_sigma=0"):
        CenterPointLoss(32, offset_sigma=0)


def small_model(**kwargs):
    return kp.models.PleiadesClassifier(
        3, [(4, 8, False), (8, 8, False)], 8, (None, 8, 8, 2), **kwargs
    )


def test_activity_has_a_price():
    model = small_model()
    x = np.random.default_rng(0).poisson(0.5, (2, 20, 8, 8, 2)).astype("float32")
    before = model.predict(x, verbose=0)
    model(x)
    assert model.losses == []
    assert kp.regularizers.penalize_activity(model, {"block_1": 0.5, "block_2": 2.0}) == [
        "block_1",
        "block_2",
    ]
    first = model.get_layer("block_1")(x)
    second = model.get_layer("block_2")(first)
    expected = [0.5 * to_numpy(first).mean(), 2.0 * to_numpy(second).mean()]
    model(x)
    np.testing.assert_allclose([float(to_numpy(one)) for one in model.losses], expected, rtol=1e-5)
    np.testing.assert_array_equal(model.predict(x, verbose=0), before)
    with pytest.raises(ValueError, match="block_9"):
        kp.regularizers.penalize_activity(model, {"block_9": 1.0})


def test_a_price_on_activity_makes_it_less():
    x = np.random.default_rng(0).poisson(0.5, (4, 20, 8, 8, 2)).astype("float32")
    y = np.array([0, 1, 2, 0])
    activity = []
    for weight in (0.0, 100.0):
        keras.utils.set_random_seed(0)
        model = small_model()
        if weight:
            kp.regularizers.penalize_activity(model, weight)
        compiled = keras.backend.backend() == "jax"  # elsewhere compiling takes longer than this
        model.compile(keras.optimizers.AdamW(1e-2), FrameCrossentropy(), jit_compile=compiled)
        model.fit(x, y, epochs=12, verbose=0)
        activity.append(to_numpy(model.get_layer("block_1")(x)).mean())
    assert activity[1] < 0.8 * activity[0]

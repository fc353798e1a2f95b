"""Augmentation: what each function does, that labels follow, that nothing is written over."""

import makers
import numpy as np
import pytest

from keras_pleiades.events import EVENT_DTYPE, augment, make_events
from keras_pleiades.events.augment import Labels

SENSOR = (100, 120)
LABELS = Labels(
    class_id=1,
    points=[[10, 20], [110, 90]],
    points_t=[1000, 150_000],
    boxes=[[10, 20, 30, 50], [50, 5, 60, 9]],
    boxes_t=[0, 100_000],
    box_classes=[1, 7],
)
ON_EVENTS = {
    "affine": lambda e, r, la: augment.affine(e, SENSOR, r, la),
    "flip_horizontal": lambda e, r, la: augment.flip_horizontal(e, SENSOR, la),
    "flip_vertical": lambda e, r, la: augment.flip_vertical(e, SENSOR, la),
    "reverse_time": lambda e, r, la: augment.reverse_time(e, la),
    "scale_time": lambda e, r, la: augment.scale_time(e, r, la),
    "jitter_time": lambda e, r, la: augment.jitter_time(e, r, la),
    "flip_polarity": lambda e, r, la: augment.flip_polarity(e, la),
    "drop_events": lambda e, r, la: augment.drop_events(e, r, la),
    "add_noise": lambda e, r, la: augment.add_noise(e, SENSOR, r, la, rate_hz=1.0),
}


def recording(count=3000):
    return makers.random_events(count, height=SENSOR[0], width=SENSOR[1])


def as_tuple(labels):
    return [None if v is None else np.asarray(v).tolist() for v in vars(labels).values()]


@pytest.mark.parametrize("name", ON_EVENTS)
def test_pure_seeded_and_inside(name):
    events = recording()
    before = events.copy()
    events.setflags(write=False)
    labels_before = as_tuple(LABELS)
    one, labels = ON_EVENTS[name](events, np.random.default_rng(5), LABELS)
    two, labels_two = ON_EVENTS[name](events, np.random.default_rng(5), LABELS)
    assert np.array_equal(events, before)
    assert as_tuple(LABELS) == labels_before
    assert makers.same(one, two)
    assert as_tuple(labels) == as_tuple(labels_two)
    assert not np.shares_memory(one, events)
    assert one.flags.writeable
    assert one.dtype == EVENT_DTYPE
    assert one["x"].max() < SENSOR[1]
    assert one["y"].max() < SENSOR[0]
    assert np.all(np.diff(one["t"]) >= 0)


@pytest.mark.parametrize("name", ON_EVENTS)
def test_without_events_or_labels(name):
    events, labels = ON_EVENTS[name](recording(0), np.random.default_rng(0), None)
    assert len(events) == 0
    assert labels is None


@pytest.mark.parametrize(
    "name", ["affine", "scale_time", "jitter_time", "drop_events", "add_noise"]
)
def test_another_seed_gives_another_result(name):
    one, _ = ON_EVENTS[name](recording(), np.random.default_rng(1), None)
    two, _ = ON_EVENTS[name](recording(), np.random.default_rng(2), None)
    assert not makers.same(one, two)


@pytest.mark.parametrize(
    "name", ["flip_horizontal", "flip_vertical", "reverse_time", "flip_polarity"]
)
def test_twice_is_nothing(name):
    events = recording()
    events["t"] = np.unique(np.arange(len(events)) * 7)  # equal times may change places
    once, labels = ON_EVENTS[name](events, None, LABELS)
    twice, labels = ON_EVENTS[name](once, None, labels)
    assert not makers.same(once, events)
    assert makers.same(twice, events)
    assert as_tuple(labels) == as_tuple(LABELS)


def test_a_labelled_point_follows_its_event():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        events = make_events([5], [70], [40], [1])
        moved, labels = augment.affine(
            events, SENSOR, rng, Labels(points=[[70, 40]]), degrees=30, scale=(0.7, 1.3)
        )
        if len(moved):
            at = [moved["x"][0], moved["y"][0]]
            np.testing.assert_allclose(labels.points[0], at, atol=0.5)  # rounded to a pixel


def test_affine_about_the_middle():
    labels = Labels(points=[[59.5, 49.5], [60.5, 49.5]])
    still = {"translate": 0.0, "scale": (2, 2)}
    _, found = augment.affine(recording(1), SENSOR, np.random.default_rng(0), labels, 0.0, **still)
    np.testing.assert_allclose(found.points, [[59.5, 49.5], [61.5, 49.5]])


def test_affine_quarter_turn_is_clockwise():
    class Quarter:
        def uniform(self, low, high, size=None):
            return (
                90.0
                if size is None and high == 90.0
                else np.ones(size or 1)[0] * (np.zeros(size) if size else 1.0)
            )

    events = make_events([0], [9], [0], [1])  # top right
    moved, _ = augment.affine(events, (10, 10), Quarter(), degrees=90.0, scale=(1, 1))
    assert (moved["x"][0], moved["y"][0]) == (9, 9)  # bottom right


def test_boxes_are_cut_and_dropped_at_the_edge():
    labels = Labels(boxes=[[0, 0, 20, 20], [100, 80, 119, 99]], box_classes=[3, 4], boxes_t=[1, 2])
    rng = np.random.default_rng(0)
    zoom = {"degrees": 0.0, "translate": 0.0, "scale": (3, 3)}
    _, found = augment.affine(recording(10), SENSOR, rng, labels, **zoom)
    assert len(found.boxes) == len(found.box_classes) == len(found.boxes_t) == 0
    labels = Labels(boxes=[[50, 40, 70, 60]])
    _, found = augment.affine(recording(10), SENSOR, rng, labels, **zoom)
    np.testing.assert_allclose(found.boxes, [[31, 21, 91, 81]])


def test_flips_move_labels():
    _, labels = augment.flip_horizontal(recording(1), SENSOR, LABELS, {1: 2, 2: 1})
    assert labels.class_id == 2
    assert labels.box_classes.tolist() == [2, 7]
    assert labels.points.tolist() == [[109, 20], [9, 90]]
    assert labels.boxes[0].tolist() == [89, 20, 109, 50]
    _, labels = augment.flip_vertical(recording(1), SENSOR, LABELS)
    assert labels.class_id == 1
    assert labels.boxes[0].tolist() == [10, 49, 30, 79]
    with pytest.raises(ValueError, match="outside the sensor"):
        augment.flip_horizontal(make_events([0], [200], [0], [0]), SENSOR)


def test_reverse_time_reverses_labels():
    events = make_events([100, 200], [0, 1], [0, 0], [1, 0])
    labels = Labels(class_id=3, points=[[1, 1], [2, 2]], points_t=[110, 150])
    events, labels = augment.reverse_time(events, labels, {3: 4, 4: 3})
    assert events.tolist() == [(100, 1, 0, True), (200, 0, 0, False)]
    assert labels.points_t.tolist() == [150, 190]
    assert labels.points.tolist() == [[2, 2], [1, 1]]
    assert labels.class_id == 4


def test_scale_time_scales_labels():
    events = make_events([100, 200], [0, 1], [0, 0], [1, 0])
    labels = Labels(boxes=[[0, 0, 1, 1]], boxes_t=[150])
    rng = np.random.default_rng(0)
    events, labels = augment.scale_time(events, rng, labels, scale=(0.5, 0.5))
    assert events["t"].tolist() == [100, 150]
    assert labels.boxes_t.tolist() == [125]


def test_amounts():
    events = recording(20_000)
    kept, _ = augment.drop_events(events, np.random.default_rng(0), fraction=0.25)
    assert abs(len(kept) - 15_000) < 300  # 5 standard deviations
    assert len(augment.drop_events(events, np.random.default_rng(0), fraction=1.0)[0]) == 0
    assert len(augment.drop_events(events, np.random.default_rng(0), fraction=0.0)[0]) == 20_000
    noisy, _ = augment.add_noise(events, SENSOR, np.random.default_rng(0), rate_hz=2.0)
    assert abs(len(noisy) - 20_000 - 2 * 12_000 * 0.2) < 350
    shaken, _ = augment.jitter_time(events, np.random.default_rng(0), std_us=50.0)
    assert 30 < np.std(np.sort(shaken["t"]) - np.sort(events["t"])) + 40 < 60


def test_mask_prefix():
    frames = np.ones((10, 4, 4, 2), np.float32)
    frames.setflags(write=False)
    lengths = set()
    for seed in range(200):
        found = augment.mask_prefix(frames, np.random.default_rng(seed))
        shown = found[:, 0, 0, 0]
        assert np.all(np.diff(shown) >= 0)
        lengths.add(int((shown == 0).sum()))
    assert lengths == {0, 1, 2, 3, 4, 5}
    never = augment.mask_prefix(frames, np.random.default_rng(0), probability=0.0)
    assert never.sum() == frames.sum()
    assert not np.shares_memory(never, frames)
    assert augment.mask_prefix(frames[:1], np.random.default_rng(0), 1.0).sum() == 32


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"points": [1, 2]}, r"`points` must have the shape \(N, 2\)"),
        ({"boxes": [[1, 2, 3]]}, r"`boxes` must have the shape \(N, 4\)"),
        ({"boxes": [[1, 2, 3, 4]], "box_classes": [1, 2]}, "one entry for each of `boxes`"),
        ({"points_t": [1]}, "one entry for each of `points`"),
    ],
)
def test_labels_are_checked(values, message):
    with pytest.raises(ValueError, match=message):
        Labels(**values)


def test_bad_arguments():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="`fraction`"):
        augment.drop_events(recording(), rng, fraction=1.5)
    with pytest.raises(ValueError, match="`scale`"):
        augment.scale_time(recording(), rng, scale=(0, 1))
    with pytest.raises(ValueError, match="`rate_hz`"):
        augment.add_noise(recording(), SENSOR, rng, rate_hz=-1)

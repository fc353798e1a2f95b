"""Simulated roads: boxes around what is drawn, nearer things in front, expansion by depth."""

import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades.datasets.synthetic import _sprites as sprites
from keras_pleiades.datasets.synthetic import roads
from keras_pleiades.datasets.synthetic._road_image import _means

SHORT = 60_000
COUNTS = ("cars", "trucks", "buses", "pedestrians", "two_wheelers", "signs", "lights")
EMPTY = dict.fromkeys((*COUNTS, "buildings", "trees", "poles"), -1.0)
STILL = {"speed": 0.0, "yaw": 0.0, "pitch": 0.0, "shake": 0.0, "aside": 0.0}


def scene(things, **changes):
    made = roads.Scene(0, "train", SHORT, {**EMPTY, **STILL, **changes})
    made.things = things
    made.painter = roads.Painter([thing.sprite for thing in things])
    made.across[:] = 0
    made._place(made.t * 1e-6)
    return made


def sprite(make, *arguments, seed=0):
    return make(np.random.default_rng(seed), *arguments)


def test_a_clip_is_a_pure_function_of_its_arguments():
    events, labels = roads.clip(4, "train", duration_us=SHORT)
    again, same = roads.clip(4, "train", duration_us=SHORT)
    np.testing.assert_array_equal(events, again)
    np.testing.assert_array_equal(labels.boxes, same.boxes)
    assert events.dtype == kp.events.EVENT_DTYPE
    assert (np.diff(events["t"]) >= 0).all()
    assert events["t"].max() < SHORT
    assert events["x"].max() < 320
    assert events["y"].max() < 180
    assert set(labels.boxes_t) <= set(range(10_000, SHORT + 1, 10_000))
    left, top, right, bottom = labels.boxes.T
    assert (right > left).all()
    assert (bottom > top).all()
    assert min(left.min(), top.min()) >= 0
    assert right.max() <= 320
    assert bottom.max() <= 180
    for other in ((4, "test"), (5, "train")):
        assert not np.array_equal(events, roads.clip(*other, duration_us=SHORT)[0])


MAKERS = [
    (0, sprites.pedestrian, ()),
    (1, sprites.two_wheeler, (True,)),
    (1, sprites.two_wheeler, (False,)),
    (2, sprites.car, (False,)),
    (2, sprites.car, (True,)),
    (3, sprites.truck, (False,)),
    (3, sprites.truck, (True,)),
    (4, sprites.bus, (False,)),
    (4, sprites.bus, (True,)),
    (5, sprites.traffic_sign, ()),
    (6, sprites.traffic_light, ()),
]


@pytest.mark.parametrize(("class_id", "make", "arguments"), MAKERS)
def test_the_box_is_around_what_is_drawn(class_id, make, arguments):
    one = sprite(make, *arguments)
    assert one.class_id == class_id
    thing = roads.Thing(one, 0.3, 14.0, vx=0.01)
    whole, seen = scene([thing]).image(0, with_boxes=True)
    bare, _ = scene([roads.Thing(one, 0.3, -9.0)]).image(0)
    ((box, found, visible),) = seen
    assert found == class_id
    assert visible > 0.8
    y, x = np.nonzero(np.abs(whole - bare) > 1e-3)
    inside = y < box[3] + 1  # a sign's pole stands below its box
    assert abs(x[inside].min() - box[0]) < 0.25 * (box[2] - box[0]) + 1.5
    assert abs(x[inside].max() + 1 - box[2]) < 0.25 * (box[2] - box[0]) + 1.5
    assert abs(y.min() - box[1]) < 2
    if class_id < 5:
        assert abs(y.max() + 1 - box[3]) < 2.5
    size = make(np.random.default_rng(0), *arguments)
    focal = scene([thing]).p["focal"]
    part = size.box[3] - size.box[1]
    assert abs((box[3] - box[1]) - focal * size.height * part / 14) < 0.5


def test_nearer_things_hide_farther_ones():
    bus, car = sprite(sprites.bus), sprite(sprites.car)
    behind = [roads.Thing(car, 0.0, 30.0), roads.Thing(bus, 0.0, 12.0)]
    for things in (behind, behind[::-1]):  # in whatever order they are listed
        seen = scene(things).image(0, with_boxes=True)[1]
        visible = {class_id: part for _, class_id, part in seen}
        assert visible[4] > 0.9
        assert visible[2] == 0
    aside = [roads.Thing(car, 5.0, 30.0), roads.Thing(bus, -2.0, 12.0)]
    visible = {class_id: part for _, class_id, part in scene(aside).image(0, True)[1]}
    assert min(visible.values()) > 0.9


def test_things_grow_as_the_camera_comes_near():
    car = sprite(sprites.car)
    made = scene([roads.Thing(car, 0.5, 20.0)], speed=10.0)
    for index in (0, 30, 60):
        ((box, _, _),) = made.image(index, with_boxes=True)[1]
        depth = 20.0 - 10.0 * made.t[index] * 1e-6
        np.testing.assert_allclose(box[2] - box[0], made.p["focal"] * car.width / depth, rtol=1e-5)


def test_cut_off_things():
    car = sprite(sprites.car)
    focal = scene([roads.Thing(car, 0.0, 10.0)]).p["focal"]
    edge = 160 / focal * 10.0  # metres to the picture's edge at 10 m
    ((box, _, visible),) = scene([roads.Thing(car, edge, 10.0)]).image(0, with_boxes=True)[1]
    assert box[2] == 320
    assert 0.3 < visible < 0.7
    assert not scene([roads.Thing(car, 3 * edge, 10.0)]).image(0, with_boxes=True)[1]


def test_a_resting_scene_gives_noise_only():
    events, _ = roads.clip(0, duration_us=SHORT, shot_hz=0.0, hot_pixels=0, **EMPTY, **STILL)
    assert len(events) < 20


def test_all_classes_come_often():
    found = np.zeros(7, int)
    for seed in range(12):
        _, labels = roads.clip(seed, duration_us=2_000, label_us=2_000)
        diagonal = np.hypot(*(labels.boxes[:, 2:] - labels.boxes[:, :2]).T)
        found += np.bincount(labels.box_classes[diagonal > roads.MIN_DIAGONAL], minlength=7)
    assert (found >= 3).all(), found


def test_scaling_keeps_the_mean():
    """Each pixel is the mean of what it covers: light is kept, whatever the size."""
    rng = np.random.default_rng(0)
    cells = rng.random(37)
    for low, high in ((3.2, 8.9), (0.0, 37.0), (1.5, 90.25)):
        weights = _means(0, 100, low, high, 37)
        slow = np.zeros(100)
        edges = low + (high - low) * np.arange(38) / 37
        for i in range(100):
            for j in range(37):
                overlap = min(i + 1, edges[j + 1]) - max(i, edges[j])
                slow[i] += max(overlap, 0) * cells[j]
        np.testing.assert_allclose(weights @ cells, slow, atol=2e-5)


def test_errors():
    with pytest.raises(ValueError, match="'weather' is none"):
        roads.clip(0, weather=1)
    with pytest.raises(ValueError, match=r"label_us=0\.01"):
        roads.clip(0, label_us=0.01)

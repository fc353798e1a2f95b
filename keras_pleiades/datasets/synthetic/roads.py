"""Simulated road scenes with the seven classes of Prophesee's GEN4 set.

Scenes are drawn and their events given at a quarter of GEN4's 720x1280: the sensor is 180x320, and
so are the boxes. A network for 160x320 input bins these events as it would those of 720x1280
(`model.to_frames(events, sensor=roads.SENSOR)`), but finds about a sixteenth of the events, for
each pixel here stands for sixteen there. GEN4's rule to leave out boxes under 60 pixels of diagonal
is 15 pixels here.
"""

from dataclasses import dataclass

import numpy as np

from keras_pleiades._checks import check_dt
from keras_pleiades.datasets.class_names import ROAD_USERS
from keras_pleiades.datasets.synthetic import _sprites as sprites
from keras_pleiades.datasets.synthetic._camera import pixel_model
from keras_pleiades.datasets.synthetic._random import (
    check_changes,
    draw,
    frame_times,
    generator,
    smooth_noise,
)
from keras_pleiades.datasets.synthetic._road_image import (
    FAR,
    MARGIN,
    NEAR,
    Ground,
    Painter,
    distant,
)
from keras_pleiades.datasets.synthetic._shapes import shifted
from keras_pleiades.events.augment import Labels
from keras_pleiades.events.dtype import EVENT_DTYPE
from keras_pleiades.events.pixel_model import EventSimulator

SENSOR = (180, 320)
CLASSES = ROAD_USERS
MIN_DIAGONAL = 15.0
STEP, LONGEST_US = 2.5, 10_000  # motion and time between rendered frames
# A pair is a range to draw from; lengths in metres, speeds in metres a second.
CAMERA = {
    "focal": (230, 300),  # pixels
    "horizon": (72, 100),  # row
    "camera_height": (1.2, 1.7),
    "speed": (0.0, 14.0),
    "yaw": (0.0, 8.0),  # pixels
    "pitch": (0.1, 1.5),  # pixels
    "shake": (0.02, 0.3),  # pixels, fast
    "aside": (-1.0, 1.0),
    "threshold": (0.15, 0.3),
    "balance": (0.85, 1.15),
    "mismatch": (0.05, 0.15),
    "refractory_us": (100, 1000),
    "cutoff_hz": (50.0, 300.0),
    "shot_hz": (0.01, 0.3, "log"),
    "hot_pixels": (0, 10),
}
SCENE = {
    "lanes": (2, 5),
    "road_half_width": (3.6, 7.5),
    "dash": (6.0, 12.0),
    "road": (0.12, 0.35),
    "verge": (0.12, 0.5),
    "mark": (0.5, 0.95),
    "road_texture": (0.02, 0.12),
    "sky": (0.4, 1.0),
    "clouds": (0.0, 0.08),
    "skyline": (4, 22),  # pixels
    "cars": (1, 7),
    "trucks": (0, 2.5),
    "buses": (0, 2.2),
    "pedestrians": (0, 6),
    "two_wheelers": (0, 4),
    "signs": (0, 5),
    "lights": (0, 4),
    "buildings": (0, 9),
    "trees": (0, 10),
    "poles": (0, 4),
}


@dataclass(frozen=True)
class Thing:
    """Something in the scene: its sprite, place and speed relative to the world.

    Attributes:
        sprite: What it looks like.
        x: Metres to the right of the road's middle, at time 0.
        z: Metres ahead of where the camera is at time 0.
        vx: Metres a second to the right.
        vz: Metres a second ahead.
        cycle: Metres that it moves in one cycle of its sprite.
    """

    sprite: sprites.Sprite
    x: float
    z: float
    vx: float = 0.0
    vz: float = 0.0
    cycle: float = 1.5


def clip(
    seed: int,
    split: str = "train",
    duration_us: int = 1_000_000,
    label_us: int = 10_000,
    least_visible: float = 0.35,
    **changes,
) -> tuple[np.ndarray, Labels]:
    """Returns the events of one road scene and its boxes: a pure function of its arguments.

    Each seed is another scene; no scene is in two splits.

    Args:
        seed: Which scene, from 0.
        split: "train", "validation" or "test".
        duration_us: Length of the recording.
        label_us: Time from one set of boxes to the next; the first set is at `label_us`.
        least_visible: Boxes are given of what is seen by at least this part: not hidden by nearer
            things, nor outside the picture.
        **changes: Values or (low, high) ranges in place of those in `CAMERA` and `SCENE`.

    Returns:
        `(events, labels)`; `labels.boxes` are left, top, right, bottom in pixels of `SENSOR`, cut
        off at its edge, `labels.boxes_t` their times, `labels.box_classes` indices into `CLASSES`.

    Example:
        >>> events, labels = clip(0, "test", duration_us=30_000, cars=(3, 4))
        >>> sorted({CLASSES[c] for c in labels.box_classes})[0], labels.boxes.shape[1]
        ('car', 4)
    """
    duration_us = check_dt(duration_us, "duration_us")
    label_us = check_dt(label_us, "label_us")
    scene = Scene(seed, split, duration_us, changes)
    p, t = scene.p, scene.t
    # At the last fine time before each label's: the bin that it closes ends there.
    at = np.searchsorted(t, np.arange(label_us, duration_us + 1, label_us)) - 1
    times = {int(index): label_us * (k + 1) for k, index in enumerate(at)}
    noise = {"shot_hz": p["shot_hz"], "hot_pixels": int(p["hot_pixels"])}
    camera = EventSimulator(SENSOR, pixel_model(p, **noise), scene.rng)
    parts, boxes, boxes_t, classes = [np.empty(0, EVENT_DTYPE)], [], [], []
    for index in np.union1d(frame_times(t, scene.moved, STEP, LONGEST_US), at):
        image, seen = scene.image(index, with_boxes=index in times)
        parts.append(camera(image, t[index]))
        for box, class_id, visible in seen:
            if visible >= least_visible:
                boxes.append(box)
                classes.append(class_id)
                boxes_t.append(times[index])
    labels = Labels(
        boxes=np.reshape(boxes, (-1, 4)),
        boxes_t=np.array(boxes_t, np.int64),
        box_classes=np.array(classes, np.int64),
    )
    return np.concatenate(parts), labels


class Scene:
    """One scene over time: where everything is, and its pictures."""

    def __init__(self, seed: int, split: str, duration_us: int, changes: dict):
        self.rng = rng = generator("roads", split, seed)
        check_changes(changes, CAMERA, SCENE)
        ranges = {**CAMERA, **SCENE}
        self.p = p = draw({name: changes.get(name, value) for name, value in ranges.items()}, rng)
        self.t = np.linspace(0, duration_us - 1, max(2, duration_us // 1000 + 1))
        seconds = self.t * 1e-6
        if rng.random() < 0.15 and "speed" not in changes:
            p["speed"] = 0.0  # waiting
        sway = smooth_noise(rng, seconds, 1.0, 2) * [p["yaw"], p["pitch"]]
        self.turn = sway + p["shake"] * smooth_noise(rng, seconds, 12.0, 2)
        self.turn = np.clip(self.turn, 2 - MARGIN, MARGIN - 2)
        self.along = p["speed"] * seconds
        # A car changes its place across the road only as it moves along.
        drift = 0.1 * min(p["speed"] / 5, 1.0)
        self.across = p["aside"] + drift * smooth_noise(rng, seconds, 0.5)[:, 0]
        self.ground = Ground(p, rng)
        self.distant = distant(p, SENSOR, rng)
        self.things = populate(p, rng, float(self.along[-1]))
        self.painter = Painter([thing.sprite for thing in self.things])
        self._place(seconds)

    def _place(self, seconds):
        """Rectangles of all things at all times: (things, T, 4) left, top, right, bottom."""
        p = self.p
        columns = zip(
            *((o.x, o.z, o.vx, o.vz, o.sprite.height, o.sprite.width) for o in self.things),
            strict=True,
        )
        x, z, vx, vz, high, wide = (np.array(column)[:, None] for column in columns)
        self.depth = z + vz * seconds - self.along
        scale = p["focal"] / np.maximum(self.depth, 0.5)
        middle = SENSOR[1] / 2 + self.turn[:, 0] + scale * (x + vx * seconds - self.across)
        bottom = p["horizon"] + self.turn[:, 1] + scale * p["camera_height"]
        half = scale * wide / 2
        self.boxes = np.stack([middle - half, bottom - scale * high, middle + half, bottom], -1)
        self.shown = (self.depth > NEAR) & (self.depth < FAR)
        self.shown &= (self.boxes[..., 2] > 0) & (self.boxes[..., 0] < SENSOR[1])
        steps = np.abs(np.diff(self.boxes, axis=1, prepend=self.boxes[:, :1])).max(axis=-1)
        # The road runs fastest at the bottom of the picture.
        road = (SENSOR[0] - p["horizon"]) ** 2 / (p["focal"] * p["camera_height"]) * p["speed"]
        self.moved = np.maximum(
            np.where(self.shown, steps, 0).max(axis=0), road * np.diff(seconds, prepend=0)
        )
        self.moved[0] = 0

    def image(self, index: int, with_boxes: bool = False):
        """Returns the picture at a time and, if wanted, [(box, class, visible part), ...]."""
        p, (yaw, pitch) = self.p, self.turn[index]
        image = shifted(self.distant, MARGIN - yaw, MARGIN - pitch, *SENSOR)
        centre, horizon = SENSOR[1] / 2 + yaw, p["horizon"] + pitch
        self.ground.draw(image, horizon, centre, self.along[index], self.across[index])
        order = np.flatnonzero(self.shown[:, index])
        order = order[np.argsort(-self.depth[order, index])]
        owner = np.full(SENSOR, -1, np.int32) if with_boxes else None
        for number in order:
            thing = self.things[number]
            gone = np.hypot(thing.vx, thing.vz) * self.t[index] * 1e-6 + thing.x
            painted = self.painter.paint(
                image,
                number,
                gone / thing.cycle,
                thing.vx < 0,
                *self.boxes[number, index],
            )
            if with_boxes and painted is not None:
                rows, columns, cover = painted
                owner[rows, columns][cover > 0.5] = number
        return image, self._seen(order, index, owner) if with_boxes else []

    def _seen(self, order, index, owner):
        found = []
        for number in order:
            sprite = self.things[number].sprite
            if sprite.class_id < 0:
                continue
            left, top, right, bottom = self.boxes[number, index]
            part = np.array(sprite.box)
            if self.things[number].vx < 0:
                part = np.array([1 - part[2], part[1], 1 - part[0], part[3]])
            wide, high = right - left, bottom - top
            box = np.array([left, top, left, top]) + part * [wide, high, wide, high]
            filled = sprite.pictures[0, ..., 1]
            rows, columns = filled.shape
            inner = filled[
                int(part[1] * rows) : max(int(part[3] * rows), 1),
                int(part[0] * columns) : max(int(part[2] * columns), 1),
            ]
            whole = inner.mean() * np.prod(box[2:] - box[:2])  # pixels, if nothing hid it
            cut = np.clip(box, 0, [SENSOR[1], SENSOR[0]] * 2)
            x0, y0, x1, y1 = np.rint(cut).astype(int)
            visible = (owner[y0:y1, x0:x1] == number).sum() / max(whole, 1)
            if (cut[2:] - cut[:2] > 1).all():
                found.append((cut, sprite.class_id, min(visible, 1.0)))
        return found


def populate(p: dict, rng: np.random.Generator, travelled: float) -> list[Thing]:
    """Draws what is in the scene; things stand along the way that the camera goes."""
    half = p["road_half_width"]
    lane = 2 * half / max(int(p["lanes"]), 1)

    def count(name):
        return int(p[name] + rng.random())

    def ahead(low=7.0, high=45.0):
        """A distance, nearer ones more often: they look large."""
        return float(np.exp(rng.uniform(np.log(low), np.log(high)))) + rng.random() * travelled

    def either(value):
        return value if rng.random() < 0.5 else -value

    things = []

    def vehicle(make, low, high):
        way = rng.random()
        if way < 0.3:  # crossing
            speed = either(rng.uniform(2, 10))
            z = ahead(low + 3, high)
            x = rng.uniform(-0.7, 0.5) * np.sign(speed) * z * 0.6
            things.append(Thing(make(rng, True), x, z, vx=speed, cycle=2.0))
        elif way < 0.55:  # standing at the kerb
            x = either(half + rng.uniform(-1.3, 1.5))
            things.append(Thing(make(rng), x, ahead(low, high)))
        elif way < 0.8:  # ahead, the same way
            x = lane * (rng.integers(1, int(p["lanes"]) + 1) - 0.5) - half
            speed = p["speed"] * rng.uniform(0.5, 1.15) + rng.uniform(0, 2)
            z = float(np.exp(rng.uniform(np.log(low), np.log(high))))
            things.append(Thing(make(rng), x, z, vz=speed))
        else:  # towards the camera
            x = -rng.uniform(0.4, 0.9) * half
            things.append(Thing(make(rng), x, ahead(low + 4, high), vz=-rng.uniform(2, 12)))

    for _ in range(count("cars")):
        vehicle(sprites.car, 7, 45)
    for _ in range(count("trucks")):
        vehicle(sprites.truck, 11, 60)
    for _ in range(count("buses")):
        vehicle(sprites.bus, 11, 60)
    for _ in range(count("pedestrians")):
        z, speed = ahead(5.5, 28), rng.uniform(0.7, 1.9)
        if rng.random() < 0.55:
            x = rng.uniform(-0.5, 0.5) * z
            things.append(Thing(sprites.pedestrian(rng), x, z, vx=either(speed), cycle=1.5))
        else:
            x = either(half + rng.uniform(0.4, 3))
            things.append(Thing(sprites.pedestrian(rng), x, z, vz=either(speed), cycle=1.5))
    for _ in range(count("two_wheelers")):
        z, speed = ahead(6, 30), rng.uniform(2.5, 9)
        if rng.random() < 0.5:
            x = rng.uniform(-0.4, 0.4) * z
            one = Thing(sprites.two_wheeler(rng), x, z, vx=either(speed), cycle=3.0)
        else:
            x, along = either(half - rng.uniform(0.3, 2)), p["speed"] * rng.uniform(0.3, 1.1)
            one = Thing(sprites.two_wheeler(rng, False), x, z, vz=along + 1, cycle=3.0)
        things.append(one)
    for name, make, low, high in (
        ("signs", sprites.traffic_sign, 5, 22),
        ("lights", sprites.traffic_light, 6, 26),
        ("poles", sprites.pole, 8, 60),
    ):
        for _ in range(count(name)):
            things.append(Thing(make(rng), either(half + rng.uniform(0.5, 2.5)), ahead(low, high)))
    for _ in range(count("trees")):
        x = either(half + rng.uniform(3, 9))
        things.append(Thing(sprites.tree(rng), x, ahead(8, 90)))
    for _ in range(count("buildings")):
        one = sprites.building(rng)
        x = either(half + one.width / 2 + rng.uniform(3, 9))
        things.append(Thing(one, x, ahead(18, 110)))
    if not things:
        things.append(Thing(sprites.tree(rng), half + 4, 30.0))
    return things

"""Things on a road as small pictures (sprites): drawn once, scaled and blended as often as needed.

A sprite is (phases, height, width, 2): luminance times cover, and cover, both 0 to 1. Its phases
are one cycle of motion, such as two steps of a pedestrian.
"""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter

PIXELS = 96  # rows of a sprite


@dataclass(frozen=True)
class Sprite:
    """A thing to draw: its pictures and its size in metres.

    Attributes:
        pictures: (phases, rows, columns, 2) float32.
        height: Metres.
        width: Metres.
        class_id: Of `roads.CLASSES`, or -1 for what is no object.
        above: Height of its lower edge over the road, metres.
        box: (left, top, right, bottom) as parts of the picture: where the object is, without the
            pole it may hang on.
    """

    pictures: np.ndarray
    height: float
    width: float
    class_id: int = -1
    above: float = 0.0
    box: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)


class Canvas:
    """A picture under way; places in parts of its width (x, to the right) and height (y, down)."""

    def __init__(self, height: float, width: float):
        rows, self.aspect = PIXELS, width / height
        columns = max(8, round(rows * self.aspect))
        self.light = np.zeros((rows, columns))
        self.cover = np.zeros((rows, columns))
        # Places in heights of the picture, so that circles are round.
        self.y = (np.arange(rows)[:, None] + 0.5) / rows
        self.x = (np.arange(columns)[None] + 0.5) / rows
        self.edge = 1.5 / rows

    def _blend(self, distance, light):
        alpha = np.clip(-distance / self.edge + 0.5, 0, 1)
        self.light += alpha * (light - self.light)
        self.cover += alpha * (1 - self.cover)

    def box(self, left, top, right, bottom, light, round_=0.0):
        """A rectangle with rounded corners."""
        a = self.aspect
        cx, cy = (left + right) / 2 * a, (top + bottom) / 2
        dx = np.abs(self.x - cx) - (right - left) / 2 * a + round_
        dy = np.abs(self.y - cy) - (bottom - top) / 2 + round_
        outside = np.hypot(np.maximum(dx, 0), np.maximum(dy, 0))
        self._blend(outside + np.minimum(np.maximum(dx, dy), 0) - round_, light)

    def disc(self, x, y, radius, light, inner=0.0):
        """A disc or ring; its radius in heights of the picture."""
        r = np.hypot(self.x - x * self.aspect, self.y - y)
        self._blend(np.maximum(r - radius, inner - r), light)

    def line(self, x0, y0, x1, y1, width, light):
        """A thick line; its width in heights of the picture."""
        x0, x1 = x0 * self.aspect, x1 * self.aspect
        dx, dy = x1 - x0, y1 - y0
        h = np.clip(((self.x - x0) * dx + (self.y - y0) * dy) / (dx * dx + dy * dy + 1e-9), 0, 1)
        self._blend(np.hypot(self.x - x0 - h * dx, self.y - y0 - h * dy) - width / 2, light)

    def polygon(self, points, light):
        """A convex polygon, its corners clockwise to the eye."""
        points = np.array(points, float) * [self.aspect, 1]
        inside = -np.inf
        for (x0, y0), (x1, y1) in zip(points, np.roll(points, -1, axis=0), strict=True):
            length = np.hypot(x1 - x0, y1 - y0)
            away = ((self.x - x0) * (y1 - y0) - (self.y - y0) * (x1 - x0)) / length
            inside = np.maximum(inside, away)
        self._blend(inside, light)

    def shade(self, rng, size, smooth=3.0):
        """Makes what is drawn so far uneven."""
        noise = gaussian_filter(rng.normal(size=self.light.shape), smooth)
        self.light *= np.clip(1 + size * noise / noise.std(), 0.3, 1.7)

    def done(self):
        """Returns the picture, (rows, columns, 2)."""
        return np.stack([self.light * self.cover, self.cover], axis=-1).astype(np.float32)


def _tones(rng):
    """A body, and a tone that can be told from it."""
    body = float(np.exp(rng.uniform(np.log(0.05), np.log(0.9))))
    return body, body * 0.35 if body > 0.25 else body * 3 + 0.1


def car(rng: np.random.Generator, side: bool = False) -> Sprite:
    """A car from behind or in front, or from the side."""
    body, _ = _tones(rng)
    glass, lamp = rng.uniform(0.03, 0.15), rng.uniform(0.5, 1.2)
    if side:
        height, width = rng.uniform(1.35, 1.6), rng.uniform(3.8, 4.7)
        pictures = []
        high = rng.uniform(0.4, 0.5)
        for phase in range(4):
            c = Canvas(height, width)
            c.polygon([(0.2, high), (0.33, 0.03), (0.68, 0.03), (0.86, high)], body)
            c.polygon([(0.25, high - 0.02), (0.35, 0.1), (0.49, 0.1), (0.49, high - 0.02)], glass)
            c.polygon([(0.52, high - 0.02), (0.52, 0.1), (0.66, 0.1), (0.8, high - 0.02)], glass)
            c.box(0.01, high - 0.04, 0.99, 0.82, body, 0.08)
            c.line(0.5, high, 0.5, 0.8, 0.015, body * 0.6)
            c.box(0.0, high + 0.05, 0.035, high + 0.15, lamp)
            _wheels(c, (0.2, 0.8), 0.8, 0.195, phase * np.pi / 8)
            pictures.append(c.done())
        return Sprite(np.stack(pictures), height, width, 2)
    height, width = rng.uniform(1.4, 1.65), rng.uniform(1.7, 1.95)
    c = Canvas(height, width)
    c.box(0.06, 0.75, 0.24, 1.0, 0.03, 0.04)
    c.box(0.76, 0.75, 0.94, 1.0, 0.03, 0.04)
    c.polygon([(0.08, 0.45), (0.2, 0.03), (0.8, 0.03), (0.92, 0.45)], body)
    c.polygon([(0.15, 0.4), (0.24, 0.09), (0.76, 0.09), (0.85, 0.4)], glass)
    c.box(0.01, 0.38, 0.99, 0.86, body, 0.08)
    c.box(0.04, 0.46, 0.2, 0.58, lamp, 0.02)
    c.box(0.8, 0.46, 0.96, 0.58, lamp, 0.02)
    c.box(0.36, 0.6, 0.64, 0.7, 0.8)
    c.box(0.05, 0.76, 0.95, 0.84, body * 0.4)
    return Sprite(c.done()[None], height, width, 2)


def _wheels(c, places, y, radius, turn):
    for x in places:
        c.disc(x, y, radius, 0.03)
        c.disc(x, y, radius * 0.62, 0.45)
        for k in range(4):
            angle = turn + k * np.pi / 4
            dx, dy = np.cos(angle) * radius * 0.6 / c.aspect, np.sin(angle) * radius * 0.6
            c.line(x - dx, y - dy, x + dx, y + dy, radius * 0.12, 0.12)


def truck(rng: np.random.Generator, side: bool = False) -> Sprite:
    """A lorry with a box body."""
    box, _ = rng.uniform(0.25, 0.95), 0
    cab, _ = _tones(rng)
    if side:
        height, width = rng.uniform(3.0, 3.8), rng.uniform(7, 10)
        pictures = []
        for phase in range(4):
            c = Canvas(height, width)
            c.box(0.0, 0.0, 0.72, 0.78, box)
            for x in np.linspace(0.08, 0.64, 6):
                c.line(x, 0.04, x, 0.74, 0.01, box * 0.7)
            c.box(0.74, 0.22, 0.99, 0.86, cab, 0.04)
            c.polygon([(0.86, 0.28), (0.965, 0.28), (0.98, 0.5), (0.86, 0.5)], 0.08)
            c.box(0.0, 0.78, 0.98, 0.86, 0.06)
            _wheels(c, (0.12, 0.24, 0.87), 0.88, 0.115, phase * np.pi / 8)
            pictures.append(c.done())
        return Sprite(np.stack(pictures), height, width, 3)
    height, width = rng.uniform(3.0, 3.8), rng.uniform(2.3, 2.6)
    c = Canvas(height, width)
    c.box(0.08, 0.85, 0.28, 1.0, 0.03, 0.02)
    c.box(0.72, 0.85, 0.92, 1.0, 0.03, 0.02)
    if rng.random() < 0.5:  # from behind: two doors
        c.box(0.0, 0.0, 1.0, 0.84, box)
        c.line(0.5, 0.02, 0.5, 0.8, 0.012, box * 0.4)
        c.line(0.06, 0.05, 0.06, 0.8, 0.012, box * 0.5)
        c.line(0.94, 0.05, 0.94, 0.8, 0.012, box * 0.5)
        c.box(0.02, 0.84, 0.98, 0.9, 0.08)
        c.box(0.03, 0.84, 0.13, 0.89, 0.9)
        c.box(0.87, 0.84, 0.97, 0.89, 0.9)
    else:  # in front: the cab under the box
        c.box(0.0, 0.0, 1.0, 0.5, box)
        c.box(0.03, 0.2, 0.97, 0.92, cab, 0.03)
        c.box(0.1, 0.27, 0.9, 0.5, 0.06, 0.02)
        c.box(0.06, 0.74, 0.2, 0.82, 1.0)
        c.box(0.8, 0.74, 0.94, 0.82, 1.0)
        c.box(0.28, 0.58, 0.72, 0.86, 0.15)
    return Sprite(c.done()[None], height, width, 3)


def bus(rng: np.random.Generator, side: bool = False) -> Sprite:
    """A bus: windows all along."""
    body, trim = _tones(rng)
    if side:
        height, width = rng.uniform(2.9, 3.2), rng.uniform(9, 12)
        pictures = []
        for phase in range(4):
            c = Canvas(height, width)
            c.box(0.0, 0.0, 1.0, 0.88, body, 0.05)
            c.box(0.02, 0.66, 0.98, 0.72, trim)
            c.box(0.015, 0.14, 0.985, 0.52, 0.06, 0.02)
            for x in np.linspace(0.02, 0.98, 8)[1:-1]:
                c.line(x, 0.12, x, 0.54, 0.03, body)
            for x in (0.28, 0.9):  # doors
                c.box(x - 0.045, 0.14, x + 0.045, 0.86, 0.1)
                c.line(x, 0.14, x, 0.86, 0.02, body)
            _wheels(c, (0.17, 0.77), 0.87, 0.13, phase * np.pi / 8)
            pictures.append(c.done())
        return Sprite(np.stack(pictures), height, width, 4)
    height, width = rng.uniform(2.9, 3.2), rng.uniform(2.45, 2.6)
    c = Canvas(height, width)
    c.box(0.08, 0.85, 0.26, 1.0, 0.03, 0.02)
    c.box(0.74, 0.85, 0.92, 1.0, 0.03, 0.02)
    c.box(0.0, 0.0, 1.0, 0.94, body, 0.06)
    c.box(0.07, 0.17, 0.93, 0.58, 0.06, 0.04)
    c.box(0.18, 0.04, 0.82, 0.13, 0.9)  # where it goes
    c.line(0.5, 0.18, 0.5, 0.57, 0.015, body)
    c.box(0.05, 0.72, 0.2, 0.8, 1.0, 0.02)
    c.box(0.8, 0.72, 0.95, 0.8, 1.0, 0.02)
    c.box(0.1, 0.62, 0.9, 0.66, trim)
    c.box(0.35, 0.76, 0.65, 0.83, 0.8)
    return Sprite(c.done()[None], height, width, 4)


def pedestrian(rng: np.random.Generator) -> Sprite:
    """A person walking across or along: two steps in eight phases."""
    height = rng.uniform(1.5, 1.9)
    width, stride = 1.1, rng.uniform(0.25, 0.42)
    coat, trousers, skin = _tones(rng)[0], _tones(rng)[0], rng.uniform(0.3, 0.6)
    hair = rng.uniform(0.03, 0.3)
    pictures = []
    for phase in np.arange(8) / 8 * 2 * np.pi:
        c = Canvas(height, width)
        for sign, dim in ((-1, 0.7), (1, 1.0)):  # the far side first
            swing = sign * stride * np.sin(phase)
            lift = max(0, sign * np.cos(phase)) * 0.25
            hip, knee = (0.5, 0.5), (0.5 + 0.5 * swing + 0.08 * lift, 0.73)
            foot = (0.5 + swing - 0.3 * lift, 0.97 - 0.12 * lift)
            c.line(*hip, *knee, 0.085, trousers * dim)
            c.line(*knee, *foot, 0.065, trousers * dim)
            c.line(*foot, foot[0] + 0.12, foot[1] + 0.005, 0.045, 0.05)
            elbow = (0.5 - 0.4 * swing, 0.36)
            hand = (0.5 - 0.75 * swing + 0.06, 0.49)
            if sign < 0:
                c.line(0.5, 0.2, *elbow, 0.055, coat * dim)
                c.line(*elbow, *hand, 0.045, coat * dim)
        c.line(0.5, 0.21, 0.5, 0.47, 0.15, coat)
        c.line(0.5, 0.2, *elbow, 0.055, coat * 1.15)
        c.line(*elbow, *hand, 0.045, coat * 1.15)
        c.disc(0.52, 0.075, 0.06, skin)
        c.polygon([(0.38, 0.075), (0.4, 0.01), (0.62, 0.01), (0.62, 0.05)], hair)
        pictures.append(c.done())
    return Sprite(np.stack(pictures), height, width, 0, box=(0.15, 0.0, 0.85, 1.0))


def two_wheeler(rng: np.random.Generator, side: bool = True) -> Sprite:
    """A cyclist or motorcyclist from the side, or from behind."""
    coat, trousers = _tones(rng)[0], _tones(rng)[0]
    frame, skin = _tones(rng)[0], rng.uniform(0.3, 0.6)
    motor = rng.random() < 0.5
    height = rng.uniform(1.6, 1.85)
    pictures = []
    if not side:
        width = 0.75
        for phase in np.arange(8) / 8 * 2 * np.pi:
            c = Canvas(height, width)
            c.line(0.5, 0.66, 0.5, 0.97, 0.09 if motor else 0.04, 0.04)
            if motor:
                c.box(0.32, 0.5, 0.68, 0.74, frame, 0.05)
                c.disc(0.5, 0.6, 0.03, 1.0)
            c.line(0.1, 0.45, 0.9, 0.45, 0.03, frame)
            for sign in (-1, 1):
                push = 0 if motor else 0.06 * sign * np.sin(phase)
                c.line(0.5 + 0.1 * sign, 0.5, 0.5 + 0.22 * sign, 0.66 + push, 0.075, trousers)
                c.line(
                    0.5 + 0.22 * sign, 0.66 + push, 0.5 + 0.2 * sign, 0.84 + push, 0.06, trousers
                )
                c.line(0.5 + 0.2 * sign, 0.24, 0.5 + 0.36 * sign, 0.42, 0.06, coat)
            c.line(0.5, 0.24, 0.5, 0.5, 0.19, coat)
            c.disc(0.5, 0.08, 0.075, frame if motor else skin)
            pictures.append(c.done())
        return Sprite(np.stack(pictures), height, width, 1)
    width = 1.85
    radius = 0.185 if not motor else 0.175
    for phase in np.arange(8) / 8 * 2 * np.pi:
        c = Canvas(height, width)
        for x in (0.2, 0.8):
            c.disc(x, 0.81, radius, 0.05, inner=radius * (0.84 if not motor else 0.6))
            for k in range(3):
                angle = phase + k * np.pi / 3
                dx, dy = np.cos(angle) * radius * 0.9 / c.aspect, np.sin(angle) * radius * 0.9
                c.line(x - dx, 0.81 - dy, x + dx, 0.81 + dy, 0.01, 0.3)
        if motor:
            c.polygon([(0.22, 0.6), (0.7, 0.52), (0.76, 0.72), (0.35, 0.84)], frame)
            c.line(0.7, 0.5, 0.8, 0.81, 0.05, frame)
        else:
            for a, b in (
                ((0.2, 0.81), (0.45, 0.8)),
                ((0.45, 0.8), (0.38, 0.55)),
                ((0.38, 0.55), (0.7, 0.52)),
                ((0.7, 0.52), (0.45, 0.8)),
                ((0.7, 0.46), (0.8, 0.81)),
            ):
                c.line(*a, *b, 0.025, frame)
        for sign, dim in ((-1, 0.7), (1, 1.0)):
            turn = phase + (0 if sign > 0 else np.pi)
            foot = (
                (0.46, 0.84) if motor else (0.45 + 0.045 * np.cos(turn), 0.83 + 0.08 * np.sin(turn))
            )
            knee = (foot[0] + 0.09, 0.5 * (0.52 + foot[1]) - 0.03)
            c.line(0.37, 0.5, *knee, 0.08, trousers * dim)
            c.line(*knee, *foot, 0.06, trousers * dim)
        c.line(0.38, 0.48, 0.5, 0.22, 0.13, coat)
        c.line(0.5, 0.23, 0.58, 0.38, 0.05, coat * 1.2)
        c.line(0.58, 0.38, 0.71, 0.45, 0.045, coat * 1.2)
        c.disc(0.56, 0.09, 0.075 if motor else 0.062, frame if motor else skin)
        pictures.append(c.done())
    return Sprite(np.stack(pictures), height, width, 1)


def traffic_sign(rng: np.random.Generator) -> Sprite:
    """A sign on its pole: round, triangular, square or an octagon."""
    plate = rng.uniform(0.6, 0.9)
    height, width = rng.uniform(2.4, 3.2), plate
    c = Canvas(height, width)
    part = plate / height  # the plate's height as a part of the picture
    c.line(0.5, part * 0.5, 0.5, 1.0, 0.025, 0.4)
    red, white, ink = rng.uniform(0.15, 0.35), rng.uniform(0.75, 1.0), 0.04
    kind = rng.integers(4)
    middle, radius = part / 2, part / 2 * 0.96
    if kind == 0:
        c.disc(0.5, middle, radius, red)
        c.disc(0.5, middle, radius * 0.72, white)
        c.box(0.32, middle - 0.2 * part, 0.45, middle + 0.2 * part, ink)
        c.disc(0.62, middle, 0.2 * part, ink, inner=0.1 * part)
    elif kind == 1:
        c.polygon([(0.02, part * 0.93), (0.5, part * 0.03), (0.98, part * 0.93)], red)
        c.polygon([(0.2, part * 0.84), (0.5, part * 0.28), (0.8, part * 0.84)], white)
        c.line(0.5, part * 0.45, 0.5, part * 0.68, 0.07 * part, ink)
    elif kind == 2:
        c.box(0.02, part * 0.02, 0.98, part * 0.98, red, part * 0.06)
        c.polygon([(0.2, part * 0.6), (0.5, part * 0.2), (0.8, part * 0.6)], white)
        c.box(0.4, part * 0.55, 0.6, part * 0.85, white)
    else:
        angles = np.pi / 8 + np.arange(8) * np.pi / 4
        c.polygon(
            [(0.5 + 0.49 * np.cos(a) * 1.05, middle + radius * np.sin(a) * 1.05) for a in angles],
            red,
        )
        c.box(0.15, middle - 0.1 * part, 0.85, middle + 0.1 * part, white)
    return Sprite(c.done()[None], height, width, 5, box=(0.0, 0.0, 1.0, part))


def traffic_light(rng: np.random.Generator) -> Sprite:
    """Three lamps in a black case on a pole, one of them lit."""
    case, wide = rng.uniform(0.95, 1.2), rng.uniform(0.36, 0.45)
    height, width = rng.uniform(3.0, 3.8), wide
    c = Canvas(height, width)
    part = case / height
    c.line(0.5, part * 0.5, 0.5, 1.0, 0.03, 0.3)
    c.box(0.0, 0.0, 1.0, part, rng.uniform(0.02, 0.08), 0.02)
    lit = rng.integers(3)
    for k in range(3):
        light = rng.uniform(1.2, 2.5) if k == lit else 0.12
        c.disc(0.5, part * (k + 0.5) / 3, part / 3 * 0.36, light)
    return Sprite(c.done()[None], height, width, 6, box=(0.0, 0.0, 1.0, part))


def building(rng: np.random.Generator) -> Sprite:
    """A front with rows of windows."""
    height, width = rng.uniform(6, 16), rng.uniform(7, 16)
    wall = rng.uniform(0.2, 0.75)
    c = Canvas(height, width)
    c.box(-0.1, -0.1, 1.1, 1.1, wall)
    c.shade(rng, 0.06)
    floors, columns = max(2, int(height / 3)), max(2, int(width / 2.6))
    glass = rng.uniform(0.04, 0.2)
    for i in range(floors):
        for j in range(columns):
            x, y = (j + 0.5) / columns, (i + 0.45) / floors
            dx, dy = 0.26 / columns, 0.27 / floors
            c.box(x - dx, y - dy, x + dx, y + dy, glass * rng.uniform(0.5, 2.5))
    c.box(-0.1, -0.1, 1.1, 0.03, wall * 0.5)
    return Sprite(c.done()[None], height, width)


def tree(rng: np.random.Generator) -> Sprite:
    """A trunk and a crown of leaves."""
    height = rng.uniform(4, 9)
    width = height * rng.uniform(0.5, 0.8)
    c = Canvas(height, width)
    c.line(0.5, 0.5, 0.5, 1.0, 0.05, rng.uniform(0.06, 0.15))
    leaf = rng.uniform(0.08, 0.35)
    for _ in range(22):
        angle, r = rng.uniform(0, 2 * np.pi), np.sqrt(rng.random()) * 0.3
        x, y = 0.5 + r * np.cos(angle) * 1.1 / c.aspect, 0.34 + r * np.sin(angle) * 0.8
        c.disc(x, y, rng.uniform(0.05, 0.11), leaf * rng.uniform(0.5, 1.6))
    return Sprite(c.done()[None], height, width)


def pole(rng: np.random.Generator) -> Sprite:
    """A street lamp."""
    c = Canvas(7.0, 1.6)
    c.line(0.2, 0.04, 0.2, 1.0, 0.02, rng.uniform(0.1, 0.5))
    c.line(0.2, 0.04, 0.9, 0.02, 0.018, 0.3)
    c.box(0.6, 0.01, 0.98, 0.04, 0.7)
    return Sprite(c.done()[None], 7.0, 1.6)

"""Pictures of an eye in infrared light: skin, lids, lashes, sclera, iris, pupil, glints."""

import numpy as np
from scipy.ndimage import gaussian_filter

from keras_pleiades.datasets.synthetic._shapes import shifted

f32 = np.float32
MARGIN = 8  # rendered pixels that the head may move


class EyeImage:
    """Draws one subject's eye, wherever it looks.

    Args:
        p: Values of `eyes.SUBJECT`, in pixels of the sensor.
        shape: (height, width) of the pictures.
        step: Pixels of the sensor for one of the picture.
        rng: Source of textures, lashes and glints.
    """

    def __init__(self, p: dict, shape: tuple[int, int], step: float, rng: np.random.Generator):
        self.p, self.shape, self.step = p, shape, step
        self.skin = self._skin(rng)
        wide = p["half_width"] + p["lash_length"] + 12
        high = p["upper"] + p["lash_length"] + p["crease"] + 12
        low = p["lower"] + p["lash_length"] + 12 + abs(np.sin(p["tilt"])) * wide
        high += abs(np.sin(p["tilt"])) * wide
        self.left, self.right = self._span(p["x"] - wide, p["x"] + wide, shape[1])
        self.top, self.bottom = self._span(p["y"] - high, p["y"] + low, shape[0])
        # Centres of the pictures' pixels within the box of the eye, in pixels of the sensor.
        self.x = ((np.arange(self.left, self.right) + 0.5) * step - 0.5).astype(np.float32)
        self.y = ((np.arange(self.top, self.bottom) + 0.5) * step - 0.5).astype(np.float32)
        self.y = self.y[:, None]
        self.waves = _waves(rng, 6, 0.12, 0.5)
        self.lashes, self.reach = self._lashes(rng)
        count = int(p["glints"])
        self.glints = rng.uniform(-1, 1, (count, 2)) * p["glint_spread"]
        self.glint_light = p["glint_light"] * rng.uniform(0.5, 1.3, count)

    def _span(self, low, high, size):
        low = int(np.clip(low / self.step, 0, size - 2))
        return low, int(np.clip(high / self.step + 1, low + 2, size))

    def _skin(self, rng):
        """Skin with pores, folds and uneven light, a brow and the rim of the headset."""
        p = self.p
        height, width = (size + 2 * MARGIN for size in self.shape)
        y, x = np.mgrid[:height, :width] * self.step - MARGIN * self.step
        fine = gaussian_filter(rng.normal(size=(height, width)), 1.2)
        broad = gaussian_filter(rng.normal(size=(height, width)), (4, 9))
        skin = 1 + p["skin_texture"] * (fine / fine.std() + broad / broad.std())
        far = np.hypot((x - p["x"]) / 330, (y - p["y"]) / 260)
        skin = skin * p["skin"] * np.exp(-p["falloff"] * far**2)
        for _ in range(int(p["folds"])):  # lines around the eye
            radius = rng.uniform(1.1, 2.2)
            ring = np.hypot((x - p["x"]) / p["half_width"], (y - p["y"]) / (1.1 * p["upper"]))
            there = np.exp(-(((ring - radius) / 0.05) ** 2)) * (rng.random() < 0.9)
            side = rng.uniform(0, 2 * np.pi)
            facing = np.cos(np.arctan2(y - p["y"], x - p["x"]) - side)
            skin *= 1 - 0.25 * there * np.clip(facing, 0, 1)
        brow = np.exp(-(((y - (p["y"] - p["brow"]) - 0.002 * (x - p["x"]) ** 2 / 2) / 16) ** 2))
        skin *= 1 - 0.6 * brow * np.clip(0.5 + fine / fine.std(), 0, 1)
        if p["rim"] < 0.5:  # dark edge of the headset
            rim = 640 * (0.85 + 0.3 * p["rim"]) + 0.1 * (y - 240)
            skin *= np.where(x > rim, 0.3, 1.0)
        return np.maximum(skin, 0.02).astype(np.float32)

    def _lashes(self, rng):
        """Darkness of lashes by distance to the upper lid's edge and by column: (S, W)."""
        p = self.p
        length = p["lash_length"]
        reach = int(np.ceil(length / self.step)) + 2
        s = np.arange(-2 * reach, 2 * reach + 1)[:, None] * (self.step / 2)  # half pixels
        dark = np.zeros((len(s), len(self.x)))
        for _ in range(int(p["lashes"])):
            root = p["x"] + rng.uniform(-1, 1) * p["half_width"]
            down = 1 if rng.random() < p["lashes_down"] else -1
            own = length * rng.uniform(0.4, 1)
            lean = 0.5 * (root - p["x"]) / p["half_width"] + rng.normal() * 0.15
            along = s * down / own
            middle = root + lean * np.abs(s) + 6 * along * np.abs(along)
            width = p["lash_width"] * np.clip(1.1 - along, 0.1, 1)
            one = np.exp(-(((self.x - middle) / (width + self.step / 2)) ** 2))
            dark = np.maximum(
                dark, one * np.clip(4 * along + 0.5, 0, 1) * np.clip(4 - 4 * along, 0, 1)
            )
        dark = gaussian_filter(dark, (1.5, 0))
        return (p["lash_dark"] * dark).astype(np.float32), reach * self.step

    def lids(self, u, openness, follow):
        """Returns the heights of upper and lower lid at the places u along the eye's axis."""
        p = self.p
        q = u / f32(p["half_width"])
        arch = 1 - q * q * (1 + f32(p["skew"]) * q)
        arch = np.maximum(arch, f32(0))
        low = arch * f32(p["lower"] + 0.5 * follow)
        up = arch * f32(-p["upper"] + follow)
        up = np.minimum(up, low)
        up += (low - up) * f32(1 - openness)
        return up, low

    def axes(self, x, y, head):
        """Returns places in the eye's own axes: along the lids, and downwards across."""
        cos, sin = np.cos(self.p["tilt"]), np.sin(self.p["tilt"])
        dx, dy = x - f32(self.p["x"] + head[0]), y - f32(self.p["y"] + head[1])
        return dx * f32(cos) + dy * f32(sin), dy * f32(cos) - dx * f32(sin)

    def covered(self, pupil, openness, follow, head):
        """Returns whether the lids hide most of the pupil."""
        u, v = self.axes(np.array([pupil[0]], np.float32), np.array([pupil[1]], np.float32), head)
        up, low = self.lids(u, openness, follow)
        third = 0.33 * self.p["pupil"] * self.p["iris"]
        return bool(up[0] > v[0] + third or low[0] < v[0] - third)

    def __call__(self, pupil, size, openness, follow, head):
        """Returns a picture, float32.

        Args:
            pupil: (x, y) of the pupil's centre, pixels of the sensor.
            size: Radius of the pupil as a part of its mean.
            openness: 0 for closed lids, 1 for open ones.
            follow: Pixels that the upper lid is lowered, as it is when the eye looks down.
            head: (x, y) shift of the head.
        """
        p, soft = self.p, f32(1 / self.p["soft"])
        image = shifted(self.skin, *(MARGIN - np.asarray(head) / self.step), *self.shape)
        view = image[self.top : self.bottom, self.left : self.right]
        u, v = self.axes(self.x, self.y, head)
        up, low = self.lids(u, openness, follow)
        below_lid = v - up
        # The lid's fold and its edge move with it.
        fold = below_lid + f32(p["crease"])
        fold *= f32(1 / 5)
        view *= 1 - f32(0.45) * np.exp(-fold * fold) * (np.abs(u) < f32(p["half_width"]))
        ball = self._ball(pupil, size)
        shadow = np.clip(below_lid * f32(1 / 14) + f32(0.55), f32(0.55), f32(1))
        ball *= shadow
        cover = np.clip(below_lid * soft + f32(0.5), 0, 1)
        cover *= np.clip((low - v) * soft + f32(0.5), 0, 1)
        ball -= view
        ball *= cover
        view += ball
        if len(self.lashes):
            row = (below_lid + f32(self.reach)) * f32(2 / self.step)
            row = np.clip(row, 0, len(self.lashes) - 1).astype(np.intp)
            view *= 1 - self.lashes[row, np.arange(len(self.x))]
        return image

    def _ball(self, pupil, size):
        p = self.p
        dx, dy = self.x - f32(pupil[0]), self.y - f32(pupil[1])
        # A disc on a ball turned away by g = sin(angle) looks narrower along g.
        g = (np.asarray(pupil) - [p["ball_x"], p["ball_y"]]) / (p["ball"] * p["iris"])
        g2 = min(float(g @ g), 0.8)
        along = dx * f32(g[0]) + dy * f32(g[1])
        r = along * along
        r *= f32(1 / (1 - g2))
        r += dx * dx
        r += dy * dy
        np.sqrt(r, out=r)
        soft = f32(1 / p["soft"])
        texture = _sines(self.waves, dx, dy)
        iris = np.clip((f32(p["iris"]) - r) * (soft * f32(0.6)) + f32(0.5), 0, 1)
        black = np.clip((f32(p["iris"] * p["pupil"] * size) - r) * soft + f32(0.5), 0, 1)
        ball = f32(p["sclera"]) * (1 + f32(0.3 * p["iris_texture"]) * texture)
        ball *= 1 - f32(0.15) * np.clip(r * f32(1 / p["half_width"]) - f32(0.5), 0, 1)
        ball += iris * (f32(p["iris_light"]) * (1 + f32(p["iris_texture"]) * texture) - ball)
        ball += black * (f32(p["pupil_light"]) - ball)
        # Lamps mirrored by the cornea follow the eye by about half.
        base = 0.5 * (np.asarray(pupil) + np.array([p["x"], p["y"]]))
        for place, light in zip(self.glints, self.glint_light, strict=True):
            gx, gy = base + place
            wx = np.exp(-(((self.x - f32(gx)) * f32(1 / p["glint"])) ** 2))
            wy = np.exp(-(((self.y - f32(gy)) * f32(1 / p["glint"])) ** 2))
            ball += f32(light) * wy * wx
        return ball


def _waves(rng, count, low, high):
    """Plane waves: (count, 3) wave numbers in radians a pixel, and phase."""
    angle, k = rng.uniform(0, np.pi, count), rng.uniform(low, high, count)
    return np.stack([k * np.cos(angle), k * np.sin(angle), rng.uniform(0, 6.28, count)], axis=1)


def _sines(waves, dx, dy):
    """The sum of plane waves over a grid, of about unit size, as a product of thin matrices."""
    kx, ky, phase = waves.astype(np.float32).T
    a, b = dx.reshape(-1, 1) * kx + phase, dy.reshape(-1, 1) * ky
    left = np.concatenate([np.sin(b), np.cos(b)], axis=1)
    right = np.concatenate([np.cos(a), np.sin(a)], axis=1)
    return left @ (right.T * f32(np.sqrt(2 / len(waves))))

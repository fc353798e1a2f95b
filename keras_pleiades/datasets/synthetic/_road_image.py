"""Pictures from a moving car: sky, skyline, road and what stands on it, each at its distance."""

import numpy as np
from scipy.ndimage import gaussian_filter

from keras_pleiades.datasets.synthetic._sprites import Sprite

f32 = np.float32
NEAR, FAR = 2.5, 120.0  # metres within which things are drawn
TEXEL = 0.06  # metres of the road for one value of its texture
MARGIN = 40  # pixels that yaw and pitch may shift the distant parts


class Ground:
    """The road plane: asphalt, lane marks, kerbs and what lies beside, fixed to the world."""

    def __init__(self, p: dict, rng: np.random.Generator):
        self.p = p
        noise = gaussian_filter(rng.normal(size=(512, 512)), 2.0, mode="wrap")
        noise += 2 * gaussian_filter(rng.normal(size=(512, 512)), 8.0, mode="wrap")
        self.texture = (noise / noise.std()).astype(np.float32)
        half = p["road_half_width"]
        self.marks = [(-half + 0.3, 0.12, None), (half - 0.3, 0.12, None)]
        lanes = np.linspace(-half, half, 1 + int(p["lanes"]))[1:-1]
        self.marks += [(x, 0.13, p["dash"]) for x in lanes]

    def draw(self, image, horizon, centre, along, across):
        """Fills the rows below the horizon.

        Args:
            image: Changed in place.
            horizon: Row of the horizon.
            centre: Column of the vanishing point.
            along: Metres that the camera has gone.
            across: Metres that it is right of the road's middle.
        """
        p, focal = self.p, self.p["focal"]
        height, width = image.shape
        first = max(int(np.floor(horizon)) + 1, 0)
        if first >= height:
            return
        below = np.arange(first, height) + 0.5 - horizon
        z = focal * p["camera_height"] / np.maximum(below, 0.4)  # (R,)
        metres = (z / focal).astype(np.float32)[:, None]  # of a pixel, across
        x = (np.arange(width) + 0.5 - centre).astype(np.float32) * metres + f32(across)
        per_pixel = (1 / metres).astype(np.float32)
        # Texture fades where a row covers more of the road than its grain.
        fade = np.minimum(1, 0.5 / (z * z / (focal * p["camera_height"])))
        fade = (p["road_texture"] * fade).astype(np.float32)[:, None]
        row = ((z + along) / TEXEL).astype(np.int64) % 512
        column = (x * f32(1 / TEXEL)).astype(np.int32) & 511
        value = self.texture[row[:, None], column]
        value *= fade
        value += 1
        beside = np.clip((np.abs(x) - f32(p["road_half_width"])) * per_pixel + f32(0.5), 0, 1)
        value *= f32(p["road"]) + f32(p["verge"] - p["road"]) * beside
        kerb = (f32(0.12) - np.abs(np.abs(x) - f32(p["road_half_width"] + 0.1))) * per_pixel
        value += np.clip(kerb + f32(0.5), 0, 1) * f32(0.25)
        for place, wide, dash in self.marks:
            # A line narrower than a pixel covers the part of it that it is wide.
            cover = (f32(wide / 2) - np.abs(x - f32(place))) * per_pixel + f32(0.5)
            cover = np.clip(cover, 0, np.minimum(1, f32(wide) * per_pixel))
            if dash is not None:
                at = (z + along) % dash
                blur = np.maximum(z * z / (focal * p["camera_height"]), 0.02)
                on = np.clip((dash / 6 - np.abs(at - dash / 2)) / blur + 0.5, 0, 1)
                on = np.where(blur > dash / 3, 1 / 3, on)
                cover *= on.astype(np.float32)[:, None]
            value += cover * (f32(p["mark"]) - value)
        image[first:] = value


def distant(p: dict, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Returns sky and skyline with a margin; the horizon lies at row `p["horizon"]` + margin."""
    height, width = (size + 2 * MARGIN for size in shape)
    y = np.arange(height)[:, None] - MARGIN - p["horizon"]
    sky = p["sky"] * (1 + 0.25 * np.clip(-y / 100, 0, 1)) * np.ones((1, width))
    clouds = gaussian_filter(rng.normal(size=(height, width)), (6, 16))
    sky *= 1 + p["clouds"] * clouds / clouds.std()
    x = 0
    while x < width:  # houses and woods far away
        wide, high = int(rng.uniform(5, 30)), rng.uniform(2, p["skyline"])
        tone = rng.uniform(0.15, 0.7) * p["sky"]
        part = sky[:, x : x + wide]
        part[:] = np.where((y > -high) & (y <= 200), tone, part)
        x += wide
    fine = gaussian_filter(rng.normal(size=(height, width)), 1.0)
    sky = np.where(y > -p["skyline"], sky * (1 + 0.05 * fine / fine.std()), sky)
    sky = gaussian_filter(sky, 0.6)
    return np.maximum(sky, 0.03).astype(np.float32)


class Painter:
    """Scales sprites into a picture, each pixel the mean of what it covers."""

    def __init__(self, sprites: list[Sprite]):
        # Halved and quartered pictures save work far away.
        self.levels = []
        for sprite in sprites:
            levels = [sprite.pictures]
            while levels[-1].shape[1] >= 24 and levels[-1].shape[2] >= 8:
                last = levels[-1]
                rows, columns = (size // 2 * 2 for size in last.shape[1:3])
                last = last[:, :rows, :columns]
                last = last.reshape(len(last), rows // 2, 2, columns // 2, 2, 2)
                levels.append(last.mean(axis=(2, 4)))
            # Light and cover apart: matrix products want each in one piece.
            self.levels.append([np.ascontiguousarray(np.moveaxis(a, -1, 1)) for a in levels])

    def paint(self, image, number, phase, mirrored, left, top, right, bottom):
        """Blends a sprite into the rectangle; returns (rows, columns, cover) or None if outside.

        Args:
            image: Changed in place.
            number: Of the sprite.
            phase: Part of its cycle, 0 to 1.
            mirrored: Whether left and right are exchanged.
            left: Edge of the rectangle in pixels; the other three likewise.
            top: See `left`.
            right: See `left`.
            bottom: See `left`.
        """
        height, width = image.shape
        y0, y1 = max(int(np.floor(top)), 0), min(int(np.ceil(bottom)), height)
        x0, x1 = max(int(np.floor(left)), 0), min(int(np.ceil(right)), width)
        if y0 >= y1 or x0 >= x1 or bottom - top < 1:
            return None
        levels = self.levels[number]
        level = 0
        while level + 1 < len(levels) and levels[level + 1].shape[2] >= bottom - top:
            level += 1
        pictures = levels[level]
        picture = pictures[0]
        if len(pictures) > 1:
            at = phase % 1 * len(pictures)
            first, part = int(at), f32(at - int(at))
            picture = pictures[first] * (1 - part) + pictures[(first + 1) % len(pictures)] * part
        if mirrored:
            picture = picture[..., ::-1]
        rows, columns = picture.shape[1:]
        a = _means(y0, y1, top, bottom, rows)
        b = _means(x0, x1, left, right, columns)
        light, cover = a @ picture @ b.T
        view = image[y0:y1, x0:x1]
        view *= 1 - cover
        view += light
        return slice(y0, y1), slice(x0, x1), cover


def _means(first, last, low, high, count):
    """Weights (last - first, count): each pixel's mean over `count` cells from `low` to `high`."""
    scale = count / (high - low)
    edges = ((np.arange(first, last + 1) - low) * scale).astype(np.float32)[:, None]
    # How much of each cell lies before each edge; differences are the overlaps.
    before = edges - np.arange(count, dtype=np.float32)
    np.maximum(before, f32(0), out=before)
    np.minimum(before, f32(1), out=before)
    weights = before[1:] - before[:-1]
    weights *= f32(1 / scale)
    return weights

"""Soft-edged shapes blended into luminance images, float32, in place."""

import numpy as np

f32 = np.float32


class Cloth:
    """Two sinusoids along and across a limb: a texture that moves with it."""

    def __init__(self, rng: np.random.Generator, size: float):
        # Along in limb lengths, across in limb radii.
        self.along = np.array([rng.uniform(4, 10) * rng.uniform(1.5, 3), rng.uniform(12, 48)])
        self.across = np.array([rng.uniform(1, 4), -rng.uniform(3, 8)])
        self.phase = rng.uniform(0, 2 * np.pi, 2)
        self.size = size * np.array([1.0, 0.6])


def capsule(image, a, b, ra, rb, light, soft, shade, cloth=None):
    """Blends a tapered, rounded, shaded limb into the image.

    Args:
        image: (height, width), changed in place.
        a: (x, y) of one end in pixels.
        b: (x, y) of the other.
        ra: Radius at `a` in pixels.
        rb: Radius at `b`.
        light: Luminance of the limb.
        soft: Width of its edge in pixels.
        shade: Strength of the shading: lit from above, darker towards the outline.
        cloth: Its texture, or None.
    """
    height, width = image.shape
    margin = max(ra, rb) + soft + 1
    x0, x1 = max(int(min(a[0], b[0]) - margin), 0), min(int(max(a[0], b[0]) + margin) + 2, width)
    y0, y1 = max(int(min(a[1], b[1]) - margin), 0), min(int(max(a[1], b[1]) + margin) + 2, height)
    if x0 >= x1 or y0 >= y1:
        return
    x = np.arange(x0, x1, dtype=np.float32) - f32(a[0])
    y = (np.arange(y0, y1, dtype=np.float32) - f32(a[1]))[:, None]
    dx, dy = float(b[0] - a[0]), float(b[1] - a[1])
    squared = dx * dx + dy * dy + 1e-3
    # The nearest point of the axis is at the part `along` of it.
    along = x * f32(dx / squared) + y * f32(dy / squared)
    np.maximum(along, f32(0), out=along)
    np.minimum(along, f32(1), out=along)
    ex = along * f32(-dx)
    ex += x
    ey = along * f32(-dy)
    ey += y
    distance2 = ex * ex
    distance2 += ey * ey
    alpha = np.sqrt(distance2)
    along *= f32(rb - ra)
    along += f32(ra)
    np.subtract(along, alpha, out=alpha)
    alpha *= f32(1 / soft)
    alpha += f32(0.5)
    np.maximum(alpha, f32(0), out=alpha)
    np.minimum(alpha, f32(1), out=alpha)
    # Light from above, and less of it towards the outline.
    radius = 0.5 * (ra + rb)
    ex *= f32(-0.3 * shade / radius)
    ey *= f32(-0.95 * shade / radius)
    distance2 *= f32(-0.5 * shade / radius**2)
    value = distance2
    value += ex
    value += ey
    value += f32(1)
    np.maximum(value, f32(0.12), out=value)
    if cloth is not None:
        value *= _texture(cloth, x, y, dx, dy, squared, radius)
    value *= f32(light)
    view = image[y0:y1, x0:x1]
    value -= view
    value *= alpha
    view += value


def _texture(cloth, x, y, dx, dy, squared, radius):
    """1 + the cloth's sinusoids; sin(a + b) is a product of two thin matrices."""
    length = np.sqrt(squared)
    kx = cloth.along * dx / squared + cloth.across * dy / (length * radius)
    ky = cloth.along * dy / squared - cloth.across * dx / (length * radius)
    a = x[:, None] * kx.astype(np.float32) + cloth.phase.astype(np.float32)  # (W, 2)
    b = y * ky.astype(np.float32)  # (H, 2)
    size = cloth.size.astype(np.float32)
    left = np.concatenate([np.sin(b), np.cos(b)], axis=1)  # (H, 4)
    right = np.concatenate([np.cos(a) * size, np.sin(a) * size], axis=1)  # (W, 4)
    waves = left @ right.T
    waves += f32(1)
    return waves


def shifted(image, dx, dy, height, width):
    """Returns a window of the image whose top left corner lies at (dx, dy), between pixels too."""
    ix, iy = int(np.floor(dx)), int(np.floor(dy))
    fx, fy = f32(dx - ix), f32(dy - iy)
    part = image[..., iy : iy + height + 1, ix : ix + width + 1]
    rows = part[..., :-1, :] * (1 - fy)
    rows += part[..., 1:, :] * fy
    out = rows[..., :-1] * (1 - fx)
    out += rows[..., 1:] * fx
    return out

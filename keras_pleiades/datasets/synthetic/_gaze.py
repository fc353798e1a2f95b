"""Where an eye looks, and how far it is open: fixations, saccades, pursuit, blinks."""

import numpy as np

from keras_pleiades.datasets.synthetic._random import smooth_noise


def gaze(p: dict, t: np.ndarray, pixels_per_degree: float, rng: np.random.Generator) -> np.ndarray:
    """Returns the path of the pupil about its middle, (T, 2) pixels.

    Saccades follow the main sequence: they last 21 ms + 2.2 ms for each degree, with the bell of
    velocity of a smooth (minimum-jerk) motion, so that a saccade of 10 degrees peaks at about
    440 degrees a second. Pursuit runs at up to 45 degrees a second.

    Args:
        p: Values of `eyes.GAZE`.
        t: Times in seconds, ascending.
        pixels_per_degree: Motion of the pupil for one degree about the middle.
        rng: Source of where and when.
    """
    reach = np.array([p["reach_x"], p["reach_y"]])
    corners, ease = [t[0] - rng.uniform(0, 0.3)], []
    places = [_target(rng, reach)]
    while corners[-1] < t[-1]:
        # A rest, then a motion; the motion is a saccade or pursuit.
        rest = p["rest_s"] * rng.uniform(0.3, 1.7)
        if rng.random() < p["pursuit"]:
            rest = rng.uniform(0, 0.1)
        goal = _target(rng, reach, places[-1], p["small"])
        degrees = np.hypot(*(goal - places[-1])) / pixels_per_degree
        pursuing = rng.random() < p["pursuit"]
        takes = 0.021 + 0.0022 * degrees
        if pursuing:
            takes = max(degrees / (p["pursuit_speed"] * rng.uniform(0.5, 1.5)), takes)
        corners += [corners[-1] + rest, corners[-1] + rest + takes]
        places += [places[-1], goal]
        ease += ["rest", "pursuit" if pursuing else "saccade"]
    corners, places = np.array(corners), np.array(places)
    at = np.clip(np.searchsorted(corners, t, side="right") - 1, 0, len(ease) - 1)
    part = np.clip((t - corners[at]) / np.diff(corners)[at], 0, 1)
    saccade = np.array([kind == "saccade" for kind in ease])[at]
    part = np.where(saccade, part**3 * (10 - 15 * part + 6 * part**2), part)
    path = places[at] + part[:, None] * (places[at + 1] - places[at])
    # Drift and tremor of a fixation: a few minutes of arc.
    path = path + p["drift"] * pixels_per_degree * smooth_noise(rng, t, 4.0, 2)
    return path + 0.15 * p["drift"] * pixels_per_degree * smooth_noise(rng, t, 40.0, 2)


def _target(rng, reach, last=None, small=0.0):
    """A place to look at: anywhere within reach, or near the last place."""
    if last is not None and rng.random() < small:
        return np.clip(last + rng.normal(size=2) * reach * 0.15, -reach, reach)
    return rng.uniform(-1, 1, 2) * reach


def openness(p: dict, t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns how far the lids are open, 0 to 1, (T,): blinks close faster than they open."""
    opened = np.ones(len(t))
    now = t[0] - 0.4 + rng.exponential(1 / max(p["blinks_hz"], 1e-3))
    while now < t[-1]:
        close, shut, reopen = rng.uniform(0.06, 0.12), rng.uniform(0, 0.08), rng.uniform(0.12, 0.28)
        depth = rng.uniform(0.85, 1.0) if rng.random() < 0.85 else rng.uniform(0.3, 0.7)
        begin, up = now + close, now + close + shut
        falling = _smooth((t - now) / close)
        rising = _smooth((t - up) / reopen)
        opened = np.minimum(opened, 1 - depth * np.where(t < begin, falling, 1 - rising))
        now = up + reopen + 0.15 + rng.exponential(1 / max(p["blinks_hz"], 1e-3))
    squint = 1 - p["squint"] * np.abs(smooth_noise(rng, t, 0.6)[:, 0])
    return opened * np.clip(squint, 0.3, 1)


def _smooth(part):
    part = np.clip(part, 0, 1)
    return part * part * (3 - 2 * part)

"""Two arms performing the DVS128 gestures: where the joints are at each time.

Body coordinates in metres: x to the image right, y down, z towards the camera, origin between the
shoulders. The camera does not mirror: the subject's right arm (side -1) is at the image left.
"""

import numpy as np

from keras_pleiades.datasets.synthetic._random import smooth_noise

UPPER_ARM, FOREARM, HAND = 0.29, 0.25, 0.16


def joints(label: int, p: dict, t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns shoulder, elbow, wrist and finger tips of the right and the left arm.

    Args:
        label: Class of the gesture.
        p: Values of `gestures.GESTURES[label]` and of those common to all.
        t: Times in seconds, (T,).
        rng: Source of the irregularity from stroke to stroke.

    Returns:
        (2, T, 4, 3) metres; the right arm, at the image left, comes first.
    """
    irregular = p["jitter"] * smooth_noise(rng, t, 1.5, 2)
    phase = 2 * np.pi * p["freq"] * t + p["phase"] + 4 * irregular[:, 0]
    size = 1 + 2 * irregular[:, 1]
    arms = []
    for side in (-1, 1):
        shoulder = _points(t, side * 0.18 * p["build"], 0.03, 0.0)
        active = p.get("side", side) == side
        if label in (1, 2) and active:
            arms.append(_wave(p, side, shoulder, phase, size))
            continue
        wrist = _points(t, side * 0.25, 0.5, 0.06)  # at rest
        pole = _points(t, side * 0.6, 1.0, -0.3)
        hand = None
        if label == 0:
            wrist, hand = _clap(p, side, t, phase, size)
        elif label in (3, 4, 5, 6) and active:
            wrist = _circle(p, side, t, phase, size)
        elif label == 7:
            wrist, pole = _roll(p, side, t, phase, size)
        elif label == 8:
            wrist, hand = _drum(p, side, t, phase, size)
        elif label == 9:
            wrist, pole, hand = _guitar(p, side, t, phase, size, pole, rng)
        arms.append(_arm(shoulder, wrist, pole, hand))
    return np.stack(arms)


def _clap(p, side, t, phase, size):
    apart = np.abs(np.sin(phase / 2)) ** 0.8
    x = side * (0.035 + p["gap"] * size * apart)
    wrist = _points(t, x, p["height"] + p["lift"] * apart, p["fwd"])
    return wrist, _points(t, -side * 0.25, -0.7, 0.6)


def _wave(p, side, shoulder, phase, size):
    """The forearm swings about a still elbow, the hand a little behind it."""
    t = phase
    angle = p["lean"] + p["swing"] * size * np.sin(phase)
    elbow = _points(t, side * (0.18 + p["elbow_out"]), 0.03 + p["elbow_down"], 0.1)
    forearm = _unit(_points(t, side * np.sin(angle), -np.cos(angle), p["fwd"]))
    wrist = elbow + FOREARM * forearm
    angle = angle + 0.3 * p["swing"] * np.sin(phase - 0.6)
    hand = _unit(_points(t, side * np.sin(angle), -np.cos(angle), 0.1))
    return np.stack([shoulder, elbow, wrist, wrist + HAND * hand], axis=1)


def _circle(p, side, t, phase, size):
    """A circle of the stretched arm; `turn` 1 is clockwise to the camera, not to the subject."""
    radius, angle = p["radius"] * size, phase * p["turn"]
    x = side * (0.18 + p["out"]) + radius * np.cos(angle)
    return _points(t, x, p["up"] + p["squash"] * radius * np.sin(angle), p["reach"])


def _roll(p, side, t, phase, size):
    """Forearms around each other; raised elbows tell it from drums."""
    angle = phase * p["turn"] + (0 if side < 0 else np.pi)
    radius = p["radius"] * size
    y = p["height"] + radius * np.sin(angle)
    z = p["fwd"] + p["zfrac"] * radius * np.cos(angle)
    return _points(t, -side * p["cross"], y, z), _points(t, side * 1.0, p["pole"], -0.2)


def _drum(p, side, t, phase, size):
    angle = phase + (0 if side < 0 else 2 * np.pi * p["sync"])
    y = p["height"] + p["amp"] * size * (np.sin(angle) + 0.25 * np.sin(2 * angle))
    hand = _points(t, -side * 0.25, 0.5 * np.cos(angle) - 0.1, 0.8)
    return _points(t, side * p["apart"], y, p["fwd"]), hand


def _guitar(p, side, t, phase, size, pole, rng):
    """The right hand strums, the left one holds the neck."""
    if side < 0:
        y = p["height"] + p["amp"] * size * np.sin(phase)
        wrist = _points(t, p["strum"] - 0.04 * np.sin(phase), y, p["fwd"])
        return wrist, _points(t, -1.0, 0.4, -0.3), None
    slide = p["neck_move"] * smooth_noise(rng, t, 2.0, 2)
    wrist = _points(t, p["neck_x"] + slide[:, 0], p["neck_y"] + slide[:, 1], 0.25)
    return wrist, pole, _points(t, 0.3, -0.8, 0.3)


def _arm(shoulder, wrist, pole, hand):
    """Two bones from the shoulder towards the wrist, as far as they reach; elbow at the pole."""
    away = wrist - shoulder
    distance = np.linalg.norm(away, axis=-1, keepdims=True)
    axis, reach = away / distance, np.clip(distance, 0.12, (UPPER_ARM + FOREARM) * 0.995)
    along = (UPPER_ARM**2 - FOREARM**2 + reach**2) / (2 * reach)
    aside = np.sqrt(np.maximum(UPPER_ARM**2 - along**2, 0))
    bend = _unit(pole - (pole * axis).sum(-1, keepdims=True) * axis)
    elbow, wrist = shoulder + along * axis + aside * bend, shoulder + reach * axis
    hand = _unit(wrist - elbow) if hand is None else _unit(hand)
    return np.stack([shoulder, elbow, wrist, wrist + HAND * hand], axis=1)


def _points(t, *coordinates):
    return np.stack([np.broadcast_to(np.asarray(c, float), t.shape) for c in coordinates], axis=-1)


def _unit(v):
    return v / (np.linalg.norm(v, axis=-1, keepdims=True) + 1e-9)

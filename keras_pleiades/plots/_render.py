"""Frames of event counts as pictures, and the colours that all pictures share."""

import numpy as np

ON, OFF = (0.84, 0.15, 0.16), (0.12, 0.35, 0.80)  # red and blue, also apart in grey
# One a class, in turn; none is the red or the blue of events.
CLASS_COLOURS = ((0, 130, 60), (200, 110, 0), (120, 40, 150), (0, 130, 140), (110, 80, 40))


def render(frames: np.ndarray) -> np.ndarray:
    """Turns (T, H, W, 2) counts into (T, H, W, 3) uint8 pictures, red and blue on white.

    The strength saturates at the mean of the pixels that have events, so that one hot pixel does
    not make all others pale.

    Example:
        >>> import numpy as np
        >>> picture = render(np.array([[[[0, 0], [0, 9], [9, 0]]]], np.float32))
        >>> picture[0, 0].tolist()  # nothing, ON, OFF
        [[255, 255, 255], [214, 38, 41], [31, 89, 204]]
    """
    off, on = frames[..., 0], frames[..., 1]
    total = on + off
    mean = total.sum() / max(np.count_nonzero(total), 1)
    strength = np.clip(total / max(mean, 1e-9), 0, 1)[..., None]
    share = (on / np.maximum(total, 1e-9))[..., None]
    colour = share * np.array(ON, np.float32) + (1 - share) * np.array(OFF, np.float32)
    return np.rint(255 * (1 - strength * (1 - colour))).astype(np.uint8)

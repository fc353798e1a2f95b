"""The pixels of an event camera: luminance in, events out, with the state between two frames."""

import numbers
from dataclasses import dataclass, fields

import numpy as np

from keras_pleiades.events.dtype import EVENT_DTYPE, check_sensor

# A threshold is never drawn below this part of its mean: mismatch is normal, thresholds positive.
LEAST_THRESHOLD = 0.2


@dataclass(frozen=True)
class PixelModel:
    """What a camera's pixels are like; all rates in Hz a pixel, thresholds in natural-log units.

    A pixel follows `v = log(luminance + dark)` through a low-pass and remembers a reference level.
    Each time v has risen by the pixel's ON threshold above the reference it gives an ON event, and
    each time it has fallen by the OFF threshold an OFF event; the reference moves along.

    Attributes:
        on_threshold: Rise of the log-luminance that makes an ON event.
        off_threshold: Fall that makes an OFF event, a positive number.
        mismatch: Standard deviation of both thresholds among pixels, as a part of the threshold;
            each pixel's are drawn once.
        refractory_us: After an event the pixel is held in reset for so long: its reference follows
            the light, and what changes meanwhile is lost. On a ramp of slope s events are
            `threshold / s + refractory` apart.
        cutoff_hz: Cut-off frequency of the photoreceptor, a first-order low-pass; None for none.
        cutoff_by_light: Whether the cut-off is that at luminance 1 and falls in proportion to the
            light, down to a tenth, as in a real photoreceptor.
        leak_hz: ON events from the leaking reset switch: the reference sinks by `leak_hz` (mean)
            thresholds a second.
        shot_hz: Random events, Poisson, of either polarity.
        hot_pixels: How many pixels fire by themselves.
        hot_hz: Mean rate of a hot pixel; each draws its own between 0 and twice as much.
        dark: Luminance added to every pixel's: the dark current, which bounds the contrast.
        random_start: Whether references start anywhere between the thresholds, as after a past,
            rather than at the first frame's level.

    Example:
        >>> PixelModel(on_threshold=0.3).off_threshold
        0.2
    """

    on_threshold: float = 0.2
    off_threshold: float = 0.2
    mismatch: float = 0.0
    refractory_us: float = 0.0
    cutoff_hz: float | None = None
    cutoff_by_light: bool = False
    leak_hz: float = 0.0
    shot_hz: float = 0.0
    hot_pixels: int = 0
    hot_hz: float = 30.0
    dark: float = 0.02
    random_start: bool = False

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("cutoff_by_light", "random_start"):
                continue
            if field.name == "cutoff_hz" and value is None:
                continue
            positive = field.name in ("on_threshold", "off_threshold", "cutoff_hz")
            good = isinstance(value, numbers.Real) and np.isfinite(value)
            if not good or value < 0 or (positive and value == 0):
                raise ValueError(
                    f"`{field.name}` must be a {'positive' if positive else 'non-negative'} "
                    f"number. Received: {field.name}={value!r}"
                )


class EventSimulator:
    """A simulated event camera: call it with one luminance frame after another.

    Between two frames each pixel's (low-passed) log-luminance moves in a straight line, and the
    crossings of the thresholds on that line are the events, as many as there are, each at its own
    microsecond. All of a frame is computed at once, one round for each further event of a pixel.

    Args:
        sensor: (height, width) of the frames.
        model: What the pixels are like; `PixelModel()` by default.
        seed: Seed of all that is random: an integer, or what `numpy.random.default_rng` takes.

    Example:
        >>> camera = EventSimulator((1, 2), PixelModel(dark=0.0))
        >>> len(camera(np.array([[0.5, 0.5]]), 0.0))  # the first frame gives the levels
        0
        >>> events = camera(np.array([[0.5, 1.0]]), 1000.0)  # log 2 is 3.47 thresholds
        >>> events["x"].tolist(), events["t"].tolist()
        ([1, 1, 1], [288, 577, 865])
    """

    def __init__(self, sensor: tuple[int, int], model: PixelModel | None = None, seed=0):
        self.sensor = check_sensor(sensor)
        self.model = model = PixelModel() if model is None else model
        self.seed = seed
        self._rng = np.random.default_rng(seed)
        pixels = self.sensor[0] * self.sensor[1]
        if model.hot_pixels > pixels:
            raise ValueError(
                f"`hot_pixels` must be at most the sensor's {pixels} pixels. "
                f"Received: hot_pixels={model.hot_pixels}"
            )
        self._on = self._thresholds(model.on_threshold, pixels)
        self._off = self._thresholds(model.off_threshold, pixels)
        self._hot = self._rng.choice(pixels, int(model.hot_pixels), replace=False)
        self._hot_rates = self._rng.uniform(0, 2 * model.hot_hz, len(self._hot))
        self._hot_polarity = self._rng.random(len(self._hot)) < 0.75
        self._time = None  # of the last frame, microseconds
        self._level = None  # of the last frame, low-passed
        self._reference = None
        # Pixels held in reset over the end of the last frame, and when they are released.
        self._held = np.empty(0, np.intp), np.empty(0)
        self._last = np.full(pixels, -np.inf)  # time of each pixel's last event

    @property
    def thresholds(self) -> tuple[np.ndarray, np.ndarray]:
        """Each pixel's ON and OFF threshold, two arrays (height, width)."""
        return self._on.reshape(self.sensor).copy(), self._off.reshape(self.sensor).copy()

    def __call__(self, frame: np.ndarray, t_us: float) -> np.ndarray:
        """Returns the events between the last frame and this one.

        Args:
            frame: Luminance (height, width), any non-negative numbers; integers count from 0 to
                the largest of their type, which is luminance 1.
            t_us: Time of the frame in microseconds, later than the last one's; need not be whole.

        Returns:
            Events in the order of time; none for the first frame.
        """
        level, light = self._log_luminance(frame)
        if self._time is None:
            self._time, self._level, self._reference = float(t_us), level, level.copy()
            if self.model.random_start:
                part = self._rng.random(len(level), np.float32)
                self._reference += part * self._off - (1 - part) * self._on
            return np.empty(0, EVENT_DTYPE)
        span = float(t_us) - self._time
        if not span > 0:
            raise ValueError(
                f"`t_us` must be later than the last frame's {self._time}. Received: t_us={t_us!r}"
            )
        level = self._low_pass(level, light, span)
        parts = self._crossings(level, float(t_us), span)
        noise = self._noise(float(t_us), span)
        pixel, t, on = (np.concatenate(column) for column in zip(*parts, *noise, strict=True))
        order = np.argsort(t, kind="stable")
        pixel, t, on = pixel[order], t[order], on[order]
        if noise and self.model.refractory_us:
            pixel, t, on = self._spaced(pixel, t, on)
        self._time, self._level = float(t_us), level
        events = np.empty(len(t), EVENT_DTYPE)
        events["t"], events["p"] = np.floor(t), on
        events["y"], events["x"] = np.divmod(pixel, self.sensor[1])
        return events

    def _thresholds(self, mean, pixels):
        drawn = mean * (1 + self.model.mismatch * self._rng.standard_normal(pixels, np.float32))
        return np.maximum(drawn, np.float32(LEAST_THRESHOLD * mean)).astype(np.float32)

    def _log_luminance(self, frame):
        frame = np.asarray(frame)
        if frame.shape != self.sensor:
            raise ValueError(
                f"A frame must be of the sensor's (height, width) = {self.sensor}, luminance "
                f"without colour channels. Received: shape={frame.shape}"
            )
        light = frame.reshape(-1).astype(np.float32)
        if frame.dtype.kind in "iu":
            light /= np.float32(np.iinfo(frame.dtype).max)
        level = light + np.float32(self.model.dark)
        if not level.min() > 0 or not np.isfinite(level.max()):
            raise ValueError(
                "Luminance must be finite and not negative, and positive where `dark` is 0. "
                f"Received: values from {frame.min()} to {frame.max()}, dark={self.model.dark}"
            )
        return np.log(level, out=level), light

    def _low_pass(self, level, light, span):
        """One step of the first-order low-pass, exact for light that jumps at the last frame."""
        if self.model.cutoff_hz is None:
            return level
        steps = 2e-6 * np.pi * self.model.cutoff_hz * span  # time constants in this step
        if self.model.cutoff_by_light:
            part = -np.expm1(-np.float32(steps) * np.maximum(light, np.float32(0.1)))
        else:
            part = np.float32(-np.expm1(-steps))
        level -= self._level
        level *= part
        level += self._level
        return level

    def _crossings(self, level, end, span):
        """Returns [(pixel, time, on), ...] where the levels cross thresholds, references moved."""
        reference = self._reference
        change = level - self._level
        if self.model.leak_hz:
            sunk = np.float32(self.model.leak_hz * self.model.on_threshold * span * 1e-6)
            reference -= sunk
            change += sunk
        self._release(level, change, end, span)
        rise = level - reference
        parts = [(np.empty(0, np.intp), np.empty(0), np.empty(0, bool))]
        held = [self._held]
        for sign, threshold in ((1, self._on), (-1, self._off)):
            # Levels are monotonic between frames, so that only those beyond at the end crossed.
            beyond = rise >= threshold if sign > 0 else rise <= -threshold
            pixel = np.flatnonzero(beyond)
            if not len(pixel):
                continue
            step, slope = threshold[pixel], np.abs(change[pixel])
            over = np.abs(rise[pixel]) - step
            while len(pixel):
                # The line was at the threshold this part of the span before its end. Rounding may
                # put a level at rest a hair beyond: it crosses at the beginning of the span.
                before = np.minimum(over / np.maximum(slope, np.float32(1e-9)), 1).astype(float)
                t = end - span * before
                parts.append((pixel, t, np.full(len(t), sign > 0)))
                if self.model.refractory_us:
                    free = t + self.model.refractory_us
                    late = free >= end
                    held.append((pixel[late], free[late]))
                    left = np.where(late, 0, (end - free) / span)
                    rest = (slope * left).astype(np.float32)  # still to go after the release
                else:
                    rest = over
                reference[pixel] = level[pixel] - sign * rest
                more = rest >= step
                pixel, step, slope = pixel[more], step[more], slope[more]
                over = rest[more] - step
        self._held = tuple(np.concatenate(column) for column in zip(*held, strict=True))
        return parts

    def _release(self, level, change, end, span):
        """References of held pixels follow the level until they are released."""
        pixel, free = self._held
        if len(pixel):
            left = np.maximum(end - free, 0) / span
            self._reference[pixel] = level[pixel] - (change[pixel] * left).astype(np.float32)
            late = free >= end
            self._held = pixel[late], free[late]

    def _noise(self, end, span):
        """Returns [(pixel, time, on), ...] of random events."""
        parts = []
        pixels = len(self._on)
        if self.model.shot_hz:
            count = self._rng.poisson(self.model.shot_hz * pixels * span * 1e-6)
            pixel = self._rng.integers(0, pixels, count)
            parts.append((pixel, end - span * self._rng.random(count), self._coins(count)))
        if len(self._hot):
            counts = self._rng.poisson(self._hot_rates * span * 1e-6)
            times = end - span * self._rng.random(counts.sum())
            parts.append(
                (np.repeat(self._hot, counts), times, np.repeat(self._hot_polarity, counts))
            )
        return parts

    def _coins(self, count):
        return self._rng.random(count) < 0.5

    def _spaced(self, pixel, t, on):
        """Leaves out events that come within the refractory time of their pixel's last one."""
        by_pixel = np.lexsort((t, pixel))
        pixel, t, on = pixel[by_pixel], t[by_pixel], on[by_pixel]
        while len(t):
            same = np.zeros(len(t), bool)  # as the pixel before
            np.equal(pixel[1:], pixel[:-1], out=same[1:])
            early = t - np.where(same, np.roll(t, 1), self._last[pixel])
            early = early < self.model.refractory_us - 1e-6
            # Of several in a row only the first is certain: the next may follow one left out.
            early[1:] &= ~(early[:-1] & same[1:])
            if not early.any():
                break
            pixel, t, on = pixel[~early], t[~early], on[~early]
        self._last[pixel] = t  # the latest, for times ascend within a pixel
        order = np.argsort(t, kind="stable")
        return pixel[order], t[order], on[order]

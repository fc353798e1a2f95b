"""For binning: the cells that each event goes to, and its share of each."""

import numpy as np

from keras_pleiades.events.resize import area_taps, bilinear_taps


class Shares:
    """For each event the cells it goes to, and its share of each."""

    def __init__(self, dt, sensor, shape, start, count, outside, method, causal, all_in_time=False):
        self.dt, self.sensor, self.start, self.count = dt, sensor, start, count
        self.outside, self.method, self.causal = outside, method, causal
        self.all_in_time = all_in_time  # known beforehand: no event lies outside the frames
        self.cells = 2 * shape[0] * shape[1]  # numbers in a frame
        self.index = np.int32 if count * self.cells < 1 << 31 else np.int64
        taps = area_taps if method == "count" else bilinear_taps
        self.rows = [(self._table(c, 2 * shape[1]), s) for c, s in taps(sensor[0], shape[0])]
        self.columns = [(self._table(c, 2), s) for c, s in taps(sensor[1], shape[1])]

    def of(self, events):
        """Yields pairs of arrays: places in the output, all of them inside it, and shares."""
        x, y, p, t = self._select(events)
        if not len(t):
            return
        times = self._time_taps(t)
        for row, row_share in self.rows:
            for column, column_share in self.columns:
                place = row(y)
                place += column(x)
                place += p
                share = _product(row_share, y, column_share, x)
                some = slice(None)
                if share is not None and np.count_nonzero(share) < 0.7 * len(share):
                    some = np.flatnonzero(share)
                    place, share = place[some], share[some]
                for frame_place, time_share in times:
                    value = share
                    if time_share is not None:
                        value = time_share[some] if share is None else time_share[some] * share
                    elif share is None:
                        value = np.ones(len(place), np.float32)
                    yield place + frame_place[some], value

    def _table(self, cell, step):
        """Returns a function from coordinates to places; without a table where none is needed."""
        if np.array_equal(cell, np.arange(len(cell))):
            return lambda coordinate: coordinate.astype(self.index, copy=False) * self.index(step)
        return (cell * step).astype(self.index).take

    def _select(self, events):
        """Returns x, y, p and the time since the start, of the events inside."""
        # Copied first: the passes below are then three times as fast.
        x, y = _side_by_side(events["x"]), _side_by_side(events["y"])
        height, width = self.sensor
        kept = None
        if _outside(x, width) or _outside(y, height):
            kept = (x >= 0) & (x < width) & (y >= 0) & (y < height)
            if self.outside == "raise":
                first = int(np.argmin(kept))
                raise ValueError(
                    f"an event at x={x[first]}, y={y[first]} lies outside the sensor. `sensor` is "
                    "(height, width); outside='drop' leaves such events out. "
                    f"Received: sensor={self.sensor}"
                )
        t = events["t"]
        end = self.start + self.count * self.dt
        if not self.all_in_time and (int(t.min()) < self.start or int(t.max()) >= end):
            inside = (t >= self.start) & (t < end)
            kept = inside if kept is None else kept & inside
        p = events["p"]
        if p.dtype != np.bool_:
            p = p > 0  # also from -1 and 1
        if kept is not None:
            x, y, p, t = x[kept], y[kept], p[kept], t[kept]
        if 2 * (end - self.start) + self.dt < 1 << 32:
            # NumPy divides these five times as fast as int64; the difference is right modulo 2^32.
            since = t.astype(np.uint32)
            since -= np.uint32(self.start % 2**32)
        else:
            since = t.astype(np.int64) - self.start
        return x, y, p, since

    def _time_taps(self, since):
        """Returns pairs: where each event's frame begins in the output, and its share of it."""
        if self.method == "count":
            return [(self._frame_place(since // self.dt), None)]
        last = (self.count - 1) * self.cells
        if self.causal:
            frame, part = self._divide(since, self.dt)
            low = self._frame_place(frame)
            high = np.minimum(low + self.index(self.cells), self.index(last))
        else:
            if self.dt % 2 == 0:
                frame, part = self._divide(since + self.dt // 2, self.dt)
            else:  # in half microseconds, so that the centre is a whole number
                frame, part = self._divide(2 * since + self.dt, 2 * self.dt)
            high = self._frame_place(frame)
            low = high - self.index(self.cells)
            if frame.min() == 0:
                np.maximum(low, 0, out=low)
            if frame.max() == self.count:
                np.minimum(high, self.index(last), out=high)
        return [(low, 1 - part), (high, part)]

    def _divide(self, since, dt):
        whole = since // dt
        rest = since - whole * dt
        if rest.dtype == np.uint32 and dt < 1 << 31:
            rest = rest.view(np.int32)  # the same number, converted to float faster
        return whole, rest.astype(np.float32) * np.float32(1 / dt)

    def _frame_place(self, frame):
        return frame.astype(self.index) * self.index(self.cells)


def _side_by_side(column):
    return column.astype(np.int32 if column.dtype.itemsize <= 2 else np.int64)


def _outside(column, size):
    return column.max() >= size or column.min() < 0


def _product(row_share, y, column_share, x):
    if row_share is None and column_share is None:
        return None
    if row_share is None:
        return column_share[x]
    if column_share is None:
        return row_share[y]
    return row_share[y] * column_share[x]

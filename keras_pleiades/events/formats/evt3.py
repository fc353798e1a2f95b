"""Prophesee's EVT3: 16-bit words, each changing a part of the decoder's state.

The four highest bits are the type: 0 row, 2 one event at a column, 3 base column and polarity of
the vectors that follow, 4 and 5 a vector of 12 or 8 pixels to the right of the base (which moves
on by as many), 6 and 8 the 12 low and high bits of the time. Other types are passed over. Events
in front of the first high time are left out, as Prophesee's own decoder does.

Nothing here loops over words: a state is found by counting the words that set it up to each event.
"""

import numpy as np

from keras_pleiades.events.dtype import EVENT_DTYPE
from keras_pleiades.events.formats.recording import Unwrap

ROW, COLUMN, BASE, VECTOR_12, VECTOR_8, TIME_LOW, TIME_HIGH = 0, 2, 3, 4, 5, 6, 8

_BITS = np.arange(4096)[:, None] >> np.arange(12) & 1  # (4096, 12)
COUNT_OF = _BITS.sum(axis=1)  # (4096,) how many bits are set
BIT_OF = np.argsort(1 - _BITS, axis=1, kind="stable")  # (4096, 12) the first, second, ... of them
del _BITS


def _runs(marks, places):
    """How many places lie in front of the first mark, between marks, and after the last one."""
    return np.diff(np.searchsorted(places, marks), prepend=0, append=len(places))


class Evt3:
    """Decodes blocks of EVT3 words, keeping row, base, polarity and time between blocks."""

    name, word = "EVT3", "<u2"

    def __init__(self):
        self.unwrap = Unwrap(12)
        self.high = None
        self.low = self.row = self.base = self.polarity = 0

    def __call__(self, words):
        """Returns the events, and a function from an event's number to its word's."""
        kind = words >> 12
        skip = 0
        if self.high is None:
            found = np.flatnonzero(kind == TIME_HIGH)
            skip = int(found[0]) if len(found) else len(words)
            words, kind = words[skip:], kind[skip:]
            if len(words):
                self.high = int(words[0] & 4095)
        # Words that give events, in order; x is their first column, mask their pixels from there.
        places = np.flatnonzero((kind == COLUMN) | (kind == VECTOR_12) | (kind == VECTOR_8))
        t = self._times(words, kind, places)
        y = self._rows(words, kind, places)
        x, p, mask = self._columns(words, kind, places)
        if mask is not None:
            count = COUNT_OF[mask]
            which = np.repeat(np.arange(len(places)), count)
            rank = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
            # What lies beyond 16 bits stays beyond the sensor, to be refused with its offset.
            x = np.minimum(x[which] + BIT_OF[mask[which], rank], 0xFFFF)
            places, t, y, p = places[which], t[which], y[which], p[which]
        events = np.empty(len(places), EVENT_DTYPE)
        events["t"], events["x"], events["y"], events["p"] = t, x, y, p
        return events, lambda i: int(places[i]) + skip

    def _times(self, words, kind, places):
        marks = np.flatnonzero((kind == TIME_LOW) | (kind == TIME_HIGH))
        value = (words[marks] & 4095).astype(np.int64)
        is_high = kind[marks] == TIME_HIGH
        highs = np.concatenate(([self.high or 0], self.unwrap(value[is_high])))
        # A new high time sets the low one to 0; the same high time again leaves it alone.
        sets_low = ~is_high
        sets_low[is_high] = np.diff(highs) != 0
        value[is_high] = 0
        lows = np.concatenate(([self.low], value[sets_low]))
        t = np.empty(len(marks) + 1, np.int64)
        t[0] = (highs[0] << 12) + lows[0]
        t[1:] = (highs[np.cumsum(is_high)] << 12) + lows[np.cumsum(sets_low)]
        if len(marks):
            self.high, self.low = int(highs[-1]), int(lows[-1])
        return np.repeat(t, _runs(marks, places))

    def _rows(self, words, kind, places):
        marks = np.flatnonzero(kind == ROW)
        y = np.concatenate(([self.row], words[marks] & 2047)).astype(np.uint16)
        self.row = int(y[-1])
        return np.repeat(y, _runs(marks, places))

    def _columns(self, words, kind, places):
        """Returns first column, polarity and mask of each place; no mask: only single events."""
        word, kind = words[places], (all_kinds := kind)[places]
        x, p = word & 2047, (word >> 11) & 1
        single = kind == COLUMN
        bases = np.flatnonzero(all_kinds == BASE)
        if single.all() and not len(bases):
            return x, p, None
        # The base moves on with each vector: columns moved in all, less those at the base.
        step = np.where(single, 0, np.where(kind == VECTOR_12, 12, 8))
        moved = np.concatenate(([0], np.cumsum(step)))
        moved_then = moved[np.searchsorted(places, bases)]
        origin = np.concatenate(([self.base], (words[bases] & 2047) - moved_then))
        polarity = np.concatenate(([self.polarity], (words[bases] >> 11) & 1))
        runs = _runs(bases, places)
        self.base, self.polarity = int(origin[-1] + moved[-1]), int(polarity[-1])
        x = np.where(single, x, np.repeat(origin, runs) + moved[:-1])
        p = np.where(single, p, np.repeat(polarity, runs))
        mask = np.where(single, 1, word & np.where(kind == VECTOR_12, 4095, 255))
        return x, p, mask

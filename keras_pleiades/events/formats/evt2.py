"""Prophesee's EVT2 (32-bit words) and EVT2.1 (64-bit words with 32 pixels each).

The four highest bits are the type: 0 and 1 are OFF and ON events with the 6 low bits of the time,
8 carries the 28 high bits. Other types (triggers, vendor data) are passed over. Events in front of
the first high time have no time and are left out, as Prophesee's own decoder does.
"""

import numpy as np

from keras_pleiades.events.dtype import EVENT_DTYPE
from keras_pleiades.events.formats.recording import Unwrap

TIME_HIGH = 8


class _HighTime:
    """The last high time in front of each event word, over block after block."""

    def __init__(self):
        self.unwrap = Unwrap(28)
        self.last = None

    def __call__(self, kind, high_of):
        """Returns the places of the events that have a time, and that high time."""
        marks = np.flatnonzero(kind == TIME_HIGH)
        places = np.flatnonzero(kind <= 1)
        highs = np.empty(len(marks) + 1, np.int64)
        highs[1:] = self.unwrap(high_of(marks))
        if self.last is None:
            if not len(marks):
                return places[:0], highs[:0]
            places = places[places > marks[0]]
        highs[0] = self.last if self.last is not None else 0
        self.last = int(highs[-1])
        # Runs of events between two marks share a high time: repeat is faster than a search each.
        cuts = np.searchsorted(places, marks)
        runs = np.diff(cuts, prepend=0, append=len(places))
        return places, np.repeat(highs, runs)


class Evt2:
    """Decodes blocks of EVT2 words, keeping the high time between blocks."""

    name, word = "EVT2", "<u4"

    def __init__(self):
        self.high = _HighTime()

    def __call__(self, words):
        """Returns the events, and a function from an event's number to its word's."""
        places, high = self.high(words >> 28, lambda at: words[at] & 0xFFFFFFF)
        words = words[places]
        events = np.empty(len(words), EVENT_DTYPE)
        events["t"] = (high << 6) + ((words >> 22) & 63)
        events["x"] = (words >> 11) & 2047
        events["y"] = words & 2047
        events["p"] = words >> 28
        return events, lambda i: int(places[i])


class Evt21:
    """Decodes blocks of EVT2.1 words: a bit for each of 32 pixels to the right of x."""

    name, word = "EVT2.1", "<u8"

    def __init__(self):
        self.high = _HighTime()

    def __call__(self, words):
        """Returns the events, and a function from an event's number to its word's."""
        places, high = self.high(words >> 60, lambda at: (words[at] >> 32) & 0xFFFFFFF)
        words = words[places]
        mask = words.astype("<u4").view(np.uint8).reshape(-1, 4)
        which, bit = np.nonzero(np.unpackbits(mask, axis=1, bitorder="little"))
        words = words[which]
        events = np.empty(len(words), EVENT_DTYPE)
        events["t"] = (high[which] << 6) + ((words >> 54) & 63).astype(np.int64)
        events["x"] = ((words >> 43) & 2047) + bit.astype(np.uint64)
        events["y"] = (words >> 32) & 2047
        events["p"] = words >> 60
        return events, lambda i: int(places[which[i]])

"""One source for two readers."""

import collections
from collections.abc import Iterable, Iterator


def twice(source: Iterable) -> tuple[Iterator, Iterator]:
    """Return two iterators over one source, that hold only what the other has not taken yet.

    `itertools.tee` lets go of items by 57 at a time, which with pieces of a dense recording is
    gigabytes.

    Example:
        >>> one, other = twice(iter("abc"))
        >>> next(one), next(one), list(other), list(one)
        ('a', 'b', ['a', 'b', 'c'], ['c'])
    """
    source = iter(source)
    waiting = collections.deque(), collections.deque()

    def items(mine, others):
        while True:
            if not mine:
                try:
                    item = next(source)
                except StopIteration:
                    return
                mine.append(item)
                others.append(item)
                del item
            yield mine.popleft()

    return items(*waiting), items(*reversed(waiting))

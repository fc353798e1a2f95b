"""Making the next batches while the network works on this one.

Keras has workers of its own, which this replaces: on JAX and torch, `fit` of Keras 3.15 looks at
the first batch to build the network, leaves what its workers had made by then in their queue, and
begins the first epoch with that (seen: batches 1 to 11, then 0, 1, ... and the last eleven left
over for the next epoch). Here a batch is asked for by epoch and number, and is that batch.
"""

import concurrent.futures
import multiprocessing
import pickle
import threading
import weakref

# Run in a new process before anything of this package is imported there: making batches needs no
# network, and Keras on NumPy starts without loading a backend.
START = """
import os
os.environ["KERAS_BACKEND"] = "numpy"
from keras_pleiades.datasets import prefetch
prefetch.receive(payload)
"""
_received = None


def receive(payload: bytes) -> None:
    """Takes over the data set in a worker process."""
    global _received
    _received = pickle.loads(payload)


def make_received(epoch: int, index: int) -> tuple:
    """Makes a batch of the data set that this worker process has."""
    return _received.make_batch(epoch, index)


class Prefetcher:
    """Batches from a pool of threads or processes, some ahead of the one asked for.

    Args:
        dataset: Has `make_batch(epoch, index)` and `__len__`; pickled for processes.
        workers: How many threads or processes.
        processes: Processes in place of threads.
        ahead: How many batches to make ahead.
    """

    def __init__(self, dataset, workers: int, processes: bool, ahead: int):
        self.ahead = ahead
        self._length = len(dataset)
        self._waiting, self._lock = {}, threading.Lock()
        self._last: tuple[int, int] | None = None
        pool: concurrent.futures.Executor
        if processes:
            pool = concurrent.futures.ProcessPoolExecutor(
                workers,
                # A forked process may hang in the locks of a backend's threads.
                mp_context=multiprocessing.get_context("spawn"),
                initializer=exec,
                initargs=(START, {"payload": pickle.dumps(dataset)}),
            )
            self._make = make_received
        else:
            pool = concurrent.futures.ThreadPoolExecutor(workers, "keras_pleiades_batches")
            reference = weakref.ref(dataset)  # or the pool would keep the data set alive
            self._make = lambda epoch, index: reference().make_batch(epoch, index)
        self._pool = pool
        self._finalizer = weakref.finalize(self, pool.shutdown, wait=False, cancel_futures=True)

    def get(self, epoch: int, index: int) -> tuple:
        """Returns a batch; when they are asked for in order, the next ones are begun."""
        with self._lock:
            in_order = index == 0 or self._last == (epoch, index - 1)
            self._last = (epoch, index)
            ahead = self.ahead if in_order else 0
            wanted = range(index, min(index + ahead + 1, self._length))
            for key in [key for key in self._waiting if key[0] != epoch or key[1] not in wanted]:
                self._waiting.pop(key).cancel()
            for number in wanted:
                if (epoch, number) not in self._waiting:
                    made = self._pool.submit(self._make, epoch, number)
                    self._waiting[epoch, number] = made
            batch = self._waiting.pop((epoch, index))
        return batch.result()

    def close(self) -> None:
        """Ends the threads or processes, without waiting for batches nobody asked for."""
        self._finalizer()

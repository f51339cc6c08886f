"""Reading what a function hands out by calling back, piece by piece, while it goes on in a worker thread."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Final, Generic, TypeVar
from weakref import WeakSet

from . import unfinished
from .workers import run_in_worker

T = TypeVar("T")
Give = Callable[[T], bool]
"""Hands an item to the reader; true says that nobody reads any more and the producer should end."""

AHEAD: Final = 16


def pump(produce: Callable[[Give[T]], object], *, ahead: int = AHEAD) -> Pump[T]:
    """Iterate over what `produce` gives, running it in a worker thread.

    It starts when the first item is asked for, and waits when the reader is `ahead` items behind. What it
    raises, the reader gets. Closing the iterator makes `give` return true and waits for the producer to
    end; it is safe from another thread than the reader's, which then meets the end. An iterator that is
    dropped unclosed is closed without the wait.
    """
    return Pump(produce, ahead)


@dataclass(frozen=True, slots=True)
class _Ended:
    error: BaseException | None = None


class _Pipe(Generic[T]):
    """What producer and reader share, so that neither keeps the other alive."""

    def __init__(self, ahead: int) -> None:
        self.items: SimpleQueue[T | _Ended] = SimpleQueue()
        self.room = threading.Semaphore(ahead)
        self.closed = False
        _open.add(self)

    def give(self, item: T) -> bool:
        self.room.acquire()
        if not self.closed:
            self.items.put(item)
        return self.closed

    def run(self, produce: Callable[[Give[T]], object]) -> None:
        try:
            produce(self.give)
        except BaseException as error:
            self.items.put(_Ended(error))
        else:
            self.items.put(_Ended())

    def close(self) -> None:
        self.closed = True
        self.room.release()  # for a producer that waits; whoever comes after it sees `closed`
        self.items.put(_Ended())  # for a reader that waits


_open: WeakSet[_Pipe[Any]] = WeakSet()


def _close_all() -> None:
    """A producer must not wait for a reader that will never read again."""
    for pipe in list(_open):
        pipe.close()


assert unfinished.UNFINISHED  # its hook is registered before this one, and so runs after it
atexit.register(_close_all)


class Pump(Iterator[T]):
    """The iterator of `pump`. A class of its own, as a generator cannot be closed while it is being read."""

    def __init__(self, produce: Callable[[Give[T]], object], ahead: int) -> None:
        self._pipe: _Pipe[T] = _Pipe(ahead)
        self._produce: Callable[[Give[T]], object] | None = produce
        self._worker: Future[None] | None = None
        self._starting = threading.Lock()

    def __iter__(self) -> Pump[T]:
        return self

    def __next__(self) -> T:
        self._start()
        pipe = self._pipe
        if pipe.closed:
            raise StopIteration
        item = pipe.items.get()
        if isinstance(item, _Ended):
            pipe.closed = True
            if item.error is not None:
                raise item.error
            raise StopIteration
        pipe.room.release()
        return item

    def close(self) -> None:
        """Stop reading, and wait until the producer has ended."""
        with self._starting:
            self._produce = None
            worker = self._worker
        self._pipe.close()
        if worker is not None:
            worker.result()

    def __del__(self) -> None:
        pipe = getattr(self, "_pipe", None)
        if pipe is not None:
            pipe.close()

    def _start(self) -> None:
        with self._starting:
            produce, self._produce = self._produce, None
            if produce is not None:
                pipe = self._pipe
                self._worker = run_in_worker(lambda: pipe.run(produce))

"""Work that many threads bring and one at a time does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Generic, TypeVar

from .forking import reset_in_children

T = TypeVar("T")


class Inbox(Generic[T]):
    """Has items worked on one at a time, in the order in which they came, by whoever finds nobody at it.

    Bringing an item never waits: not for another thread, and not for this one when it is interrupted while it
    works, as by the collector closing a stream. `work` must not read what `settled` protects.
    """

    def __init__(self, work: Callable[[T], object]) -> None:
        self._work = work
        self._items: deque[T] = deque()
        self.reset_in_child()
        reset_in_children(self)

    def reset_in_child(self) -> None:
        """Nobody is at work: who was is in the parent."""
        self._turn = Lock()

    def put(self, item: T) -> None:
        """Bring an item. It is worked on now, or soon by the thread that is at it."""
        self._items.append(item)
        self._work_off()

    @contextmanager
    def settled(self) -> Iterator[None]:
        """Have all items worked on that are there, and none more until the block ends."""
        with self._turn:
            self._empty()
            yield
        self._work_off()

    def _work_off(self) -> None:
        # Looked at again after the turn was given back: what came in between was left to us.
        while self._items and self._turn.acquire(blocking=False):
            try:
                self._empty()
            finally:
                self._turn.release()

    def _empty(self) -> None:
        while self._items:
            self._work(self._items.popleft())

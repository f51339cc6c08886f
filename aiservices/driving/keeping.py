"""Keeping clients that must not be shared: one per event loop, one per process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from threading import RLock
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary, finalize

from .forking import reset_in_children

T = TypeVar("T")


class PerLoop(Generic[T]):
    """An object for each event loop that asks, closed when its loop shuts down (`asyncio.run` sees to it).

    An asynchronous SDK client belongs to the loop it was first used on: used from another it fails, and
    dropped unclosed it can make later requests hang. The loop itself is asked to close it: a suspended
    asynchronous generator, whose clean-up closes the client, is among those that a loop finishes last.
    """

    def __init__(self, make: Callable[[], T], close: Callable[[T], Awaitable[object]]) -> None:
        self._make = make
        self._close = close
        self._kept: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[T, AsyncGenerator[None, None]]]
        self._kept = WeakKeyDictionary()

    async def get(self) -> T:
        """The object of the running loop, made when there is none yet."""
        loop = asyncio.get_running_loop()
        kept = self._kept.get(loop)
        if kept is None:
            self._drop_dead_loops()
            item = self._make()
            keeper = self._keeping(item)
            await anext(keeper)  # from now on the loop knows it and will finish it
            kept = self._kept[loop] = item, keeper
        return kept[0]

    async def aclose(self) -> None:
        """Close the object of the running loop; the next `get` makes a new one."""
        kept = self._kept.pop(asyncio.get_running_loop(), None)
        if kept is not None:
            await kept[1].aclose()

    async def _keeping(self, item: T) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            self._kept.pop(asyncio.get_running_loop(), None)
            await self._close(item)

    def _drop_dead_loops(self) -> None:
        for reference in self._kept.keyrefs():  # a snapshot: other threads have loops too
            loop = reference()
            if loop is not None and loop.is_closed():
                self._kept.pop(loop, None)


class PerProcess(Generic[T]):
    """An object for each process: a child made by `fork` gets its own instead of its parent's sockets."""

    def __init__(self, make: Callable[[], T], close: Callable[[T], object]) -> None:
        self._make = make
        self._close = close
        self._making = RLock()
        self._item: T | None = None
        self._closing: finalize[..., PerProcess[T]] | None = None
        reset_in_children(self)

    def reset_in_child(self) -> None:
        """Forget the parent's object without closing it."""
        if self._closing is not None:
            self._closing.detach()
        self._making, self._item, self._closing = RLock(), None, None

    def get(self) -> T:
        """The object of this process, made when there is none yet."""
        item = self._item
        if item is None:
            with self._making:
                item = self._item
                if item is None:
                    item = self._make()
                    self._closing = finalize(self, self._close, item)
                    self._item = item
        return item

    def close(self) -> None:
        """Close the object; the next `get` makes a new one."""
        with self._making:
            closing, self._item, self._closing = self._closing, None, None
        if closing is not None:
            closing()

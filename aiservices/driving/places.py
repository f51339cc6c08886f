"""Waiting in line: a limited number of places, and locks by key, for blocking and asynchronous code alike."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import RLock
from typing import Any

from .forking import reset_in_children


class Awaited:
    """What is waited for, and left at once.

    It is no asynchronous generator: a loop that is shut down closes all of those together, and so would give
    a lock back while what is done under it still goes on.
    """

    __slots__ = ("_enter", "_stack")

    def __init__(self, enter: Callable[[ExitStack], Awaitable[None]]) -> None:
        self._enter = enter

    async def __aenter__(self) -> None:
        with ExitStack() as stack:
            await self._enter(stack)
            self._stack = stack.pop_all()

    async def __aexit__(self, *error: Any) -> None:
        self._stack.close()


class Places:
    """So many places, first come, first served, over all threads and event loops of the process."""

    def __init__(self, number: int) -> None:
        if number < 1:
            raise ValueError(f"the number of places must be at least 1, not {number}")
        self.number = number
        self.reset_in_child()
        reset_in_children(self)

    def reset_in_child(self) -> None:
        """Free the places whose holders stayed in the parent."""
        # Reentrant: the collector may finish an abandoned stream here, which leaves its place.
        self._guard = RLock()
        self._taken = 0
        self._line: deque[Future[None]] = deque()
        self._loops: Counter[Any] = Counter()  # of those that hold or await a place

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold a place, blocking the thread until one is free.

        Raises `RuntimeError` where that would be for ever: in the thread of an event loop on which
        asynchronous code holds a place or is in line, which can go on only when this thread does.
        """
        turn = self.line_up()
        if turn is not None:
            if asyncio._get_running_loop() in self._loops:
                _give_up(turn, self.leave)
                raise RuntimeError(_DEADLOCK)
            _wait(turn, self.leave)
        try:
            yield
        finally:
            self.leave()

    def aheld(self) -> Awaited:
        """Hold a place, letting the event loop go on until one is free."""
        return Awaited(self.enter)

    async def enter(self, stack: ExitStack) -> None:
        """Wait for a place, which is left with the stack."""
        loop = asyncio.get_running_loop()
        with self._guard:
            self._loops[loop] += 1
        stack.callback(self._forget, loop)
        turn = self.line_up()
        if turn is not None:
            await _await(turn, self.leave)
        stack.callback(self.leave)

    def line_up(self) -> Future[None] | None:
        """Take a place and return `None`, or return the future that is completed when a place is ours."""
        with self._guard:
            if self._taken < self.number:  # then nobody is in line
                self._taken += 1
                return None
        turn: Future[None] = Future()
        with self._guard:
            self._line.append(turn)
            self._serve()
        return turn

    def leave(self) -> None:
        """Hand the place to the next in line that still waits, or free it."""
        with self._guard:
            self._taken = max(0, self._taken - 1)  # a child process frees the places of its parent
            self._serve()

    def _serve(self) -> None:
        while self._line and self._taken < self.number:
            turn = self._line.popleft()
            if turn.set_running_or_notify_cancel():
                self._taken += 1
                turn.set_result(None)

    def _forget(self, loop: object) -> None:
        with self._guard:
            self._loops[loop] -= 1
            if self._loops[loop] <= 0:
                del self._loops[loop]


_DEADLOCK = (
    "this blocking call waits for what asynchronous code on this thread's event loop holds, "
    "and would stop that loop: await the asynchronous variant here, or make the call in another thread"
)


class KeyedLocks:
    """A lock for each key, first come, first served, forgotten when nobody holds or wants it."""

    def __init__(self) -> None:
        self.reset_in_child()
        reset_in_children(self)

    def reset_in_child(self) -> None:
        """Free the locks whose holders stayed in the parent."""
        self._guard = RLock()
        self._places: dict[object, Places] = {}
        self._wanted: dict[object, int] = {}

    @contextmanager
    def held(self, key: object) -> Iterator[None]:
        """Hold the lock of a key, blocking the thread until it is free."""
        with self._wanting(key) as place, place.held():
            yield

    def aheld(self, key: object) -> Awaited:
        """Hold the lock of a key, letting the event loop go on until it is free."""
        return Awaited(partial(self._enter, key))

    async def _enter(self, key: object, stack: ExitStack) -> None:
        await stack.enter_context(self._wanting(key)).enter(stack)

    @contextmanager
    def _wanting(self, key: object) -> Iterator[Places]:
        with self._guard:
            place = self._places.get(key) or self._places.setdefault(key, Places(1))
            self._wanted[key] = self._wanted.get(key, 0) + 1
        try:
            yield place
        finally:
            with self._guard:
                self._wanted[key] = self._wanted.get(key, 1) - 1
                if not self._wanted[key]:
                    del self._wanted[key]
                    self._places.pop(key, None)

    def __contains__(self, key: object) -> bool:
        """Whether somebody holds or wants the lock of this key."""
        return key in self._wanted


def _wait(turn: Future[None], leave: Callable[[], None]) -> None:
    try:
        turn.result()
    except BaseException:
        _give_up(turn, leave)
        raise


async def _await(turn: Future[None], leave: Callable[[], None]) -> None:
    try:
        await asyncio.wrap_future(turn)
    except BaseException:
        _give_up(turn, leave)
        raise


def _give_up(turn: Future[None], leave: Callable[[], None]) -> None:
    """Leave the line; where the place became ours at this very moment, hand it on."""
    if not turn.cancel() and not turn.cancelled():
        leave()

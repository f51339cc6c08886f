"""Locks that are held while others are wanted: what would wait for itself is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import RLock

from .places import KeyedLocks


class WouldWaitForItselfError(RuntimeError):
    """A lock is wanted by what its holder waits for, at once or by way of others."""


@dataclass(eq=False, slots=True)
class _Use:
    """One holding of a lock, or waiting for it, and those within which it began."""

    key: object
    within: tuple[_Use, ...]


_uses: ContextVar[tuple[_Use, ...]] = ContextVar("aiservices_uses", default=())


class NestedLocks(KeyedLocks):
    """Locks by key for work in which more of them may be wanted, in threads and tasks of its own too.

    The context tells within which holdings a lock is wanted. Where waiting for it could never end, because
    its holder is one of these or waits for one of them, it is refused with `WouldWaitForItselfError`.
    """

    def reset_in_child(self) -> None:
        super().reset_in_child()
        # Reentrant: the collector may finish an abandoned stream here, which gives its lock back.
        self._changing = RLock()
        self._holders: dict[object, _Use] = {}
        self._waiting: set[_Use] = set()

    @contextmanager
    def held(self, key: object) -> Iterator[None]:
        with self._use(key) as use, super().held(key), self._holding(use):
            yield

    async def _enter(self, key: object, stack: ExitStack) -> None:
        use = stack.enter_context(self._use(key))
        await super()._enter(key, stack)
        stack.enter_context(self._holding(use))

    @contextmanager
    def _use(self, key: object) -> Iterator[_Use]:
        outer = _uses.get()
        use = _Use(key, outer)  # one of them that is over holds nothing, and is in nobody's way
        with self._changing:
            if self._would_wait_for_itself(use):
                raise WouldWaitForItselfError(f"{key!r} is held by what waits for this")
            self._waiting.add(use)
        inner = (*outer, use)
        _uses.set(inner)
        try:
            yield use
        finally:
            with self._changing:
                self._waiting.discard(use)
            if _uses.get() is inner:  # a stream that is dropped may end in another context
                _uses.set(outer)

    @contextmanager
    def _holding(self, use: _Use) -> Iterator[None]:
        with self._changing:
            self._waiting.discard(use)
            self._holders[use.key] = use
        try:
            yield
        finally:
            with self._changing:
                self._holders.pop(use.key, None)

    def _would_wait_for_itself(self, use: _Use) -> bool:
        wanted, met = [use.key], set[_Use]()
        while wanted:
            holder = self._holders.get(wanted.pop())
            if holder is None or holder in met:
                continue
            if holder in use.within:
                return True
            met.add(holder)
            wanted += [waiting.key for waiting in self._waiting if holder in waiting.within]
        return False

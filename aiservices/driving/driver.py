"""What the pipeline may ask of whoever drives it."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

from typing_extensions import TypeVarTuple, Unpack

from .places import KeyedLocks

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


class ClosableIterator(Protocol[T]):
    """An asynchronous iterator that can be closed before its end."""

    def __aiter__(self) -> ClosableIterator[T]: ...
    async def __anext__(self) -> T: ...
    async def aclose(self) -> None: ...


class Driver(Protocol):
    """The one thing that differs between a blocking and an asynchronous call."""

    async def twin(
        self,
        blocking: Callable[[Unpack[Arguments]], T],
        asynchronous: Callable[[Unpack[Arguments]], Awaitable[T]],
        *args: Unpack[Arguments],
    ) -> T:
        """Run the half of a pair of functions that fits this drive."""
        ...

    def iterate(
        self,
        blocking: Callable[[Unpack[Arguments]], Iterable[T]],
        asynchronous: Callable[[Unpack[Arguments]], AsyncIterable[T]],
        *args: Unpack[Arguments],
    ) -> ClosableIterator[T]:
        """Iterate over what the fitting half of a pair of functions returns; close it when done."""
        ...

    async def call(
        self, function: Callable[[Unpack[Arguments]], T | Awaitable[T]], *args: Unpack[Arguments]
    ) -> T:
        """Run a user's function, whichever kind it is, in a copy of the caller's context.

        Asynchronous code met by a blocking drive runs on a background loop, blocking code met by an
        asynchronous drive in a worker thread.
        """
        ...

    async def gather(self, jobs: Sequence[Coroutine[Any, Any, T]], *, limit: int | None = None) -> list[T]:
        """Run the jobs side by side, at most `limit` at once, and give their results in order.

        All of them end before this returns. The first error in the order of the jobs is raised then,
        whichever came first in time. Events that jobs emit are emitted here as they arrive.
        """
        ...

    async def sleep(self, seconds: float) -> None:
        """Do nothing for a while."""
        ...

    def lock(self, locks: KeyedLocks, key: object) -> AbstractAsyncContextManager[None]:
        """Hold the lock of a key, waiting in line for it; blocking and asynchronous holders share one line."""
        ...

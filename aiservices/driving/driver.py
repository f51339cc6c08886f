"""What the pipeline may ask of whoever drives it."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar, TypeVarTuple

from .places import KeyedLocks

T = TypeVar("T")
X = TypeVar("X")
Y = TypeVar("Y")
Item = TypeVar("Item", covariant=True)
Arguments = TypeVarTuple("Arguments")


class ClosableIterator(Protocol[Item]):
    """An asynchronous iterator that can be closed before its end."""

    def __aiter__(self) -> ClosableIterator[Item]: ...
    async def __anext__(self) -> Item: ...
    async def aclose(self) -> None: ...


class Driver(Protocol):
    """The one thing that differs between a blocking and an asynchronous call."""

    async def twin(
        self,
        blocking: Callable[[*Arguments], T],
        asynchronous: Callable[[*Arguments], Awaitable[T]],
        *args: *Arguments,
    ) -> T:
        """Run the half of a pair of functions that fits this drive."""
        ...

    def iterate(
        self,
        blocking: Callable[[*Arguments], Iterable[T]],
        asynchronous: Callable[[*Arguments], AsyncIterable[T]],
        *args: *Arguments,
    ) -> ClosableIterator[T]:
        """Iterate over what the fitting half of a pair of functions returns; close it when done."""
        ...

    async def call(self, function: Callable[[*Arguments], T | Awaitable[T]], *args: *Arguments) -> T:
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

    async def around(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        proceed: Callable[[X], Coroutine[Any, Any, Y]],
    ) -> Any:
        """Run a user's `function(*arguments, proceed)`, whichever kind it is, around a part of the pipeline.

        What it is given as `proceed` blocks when the function does and is awaited when it is asynchronous;
        either way the part it stands for runs where the invocation runs, in the function's context. A
        function that still waits when the invocation has left gets a `CancelledError`.
        """
        ...

    async def within(self, seconds: float, job: Coroutine[Any, Any, T]) -> T:
        """Run a job, or raise `TimeoutError`.

        Asynchronous code is cancelled then; blocking code runs on, unheard, and nothing comes after it.
        """
        ...

    def cut_off(self, seconds: float, job: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
        """Run a job as `within` does, where that takes no thread of its own; a blocking drive lets it end."""
        ...

    async def finish(self, job: Coroutine[Any, Any, T]) -> T:
        """Run a job to its end; a cancellation or Ctrl-C that comes meanwhile takes effect after it.

        A second Ctrl-C takes effect at once.
        """
        ...

    async def sleep(self, seconds: float) -> None:
        """Do nothing for a while."""
        ...

    def lock(self, locks: KeyedLocks, key: object) -> AbstractAsyncContextManager[None]:
        """Hold the lock of a key, waiting in line for it; holders of both kinds share one line."""
        ...

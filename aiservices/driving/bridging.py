"""Reading a stream of the other kind: asynchronous iterators in blocking code and the reverse."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TypeVar

from .background import run_in_background
from .workers import run_in_worker

T = TypeVar("T")
_END = object()


def iterate_async(source: AsyncIterator[T]) -> Iterator[T]:
    """Read an asynchronous iterator from blocking code, one item when one is asked for."""

    async def following() -> object:
        return await anext(source, _END)

    async def closing() -> None:
        close = getattr(source, "aclose", None)
        if close is not None:
            await close()

    try:
        while (item := run_in_background(following())) is not _END:
            yield item  # type: ignore[misc]
    finally:
        run_in_background(closing())


async def aiterate_blocking(source: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
    """Read a blocking iterator from asynchronous code, one item at a time in a worker thread."""
    items = await asyncio.wrap_future(run_in_worker(source))
    try:
        while (item := await asyncio.wrap_future(run_in_worker(lambda: next(items, _END)))) is not _END:
            yield item  # type: ignore[misc]
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            await asyncio.wrap_future(run_in_worker(close))

"""Cancellations that a library disguises as an error of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def undisguised(work: Awaitable[T], clean_up: Callable[[], Awaitable[object]]) -> T:
    """Await some work of a library that may fail otherwise when it is cancelled: cleaned up, it is cancelled.

    What a task does after it was cancelled, to clean up, fails with its own error.
    """
    before = _cancellations()
    try:
        return await work
    except Exception as error:
        if _cancellations() <= before:
            raise
        await clean_up()
        raise asyncio.CancelledError from error


def _cancellations() -> int:
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()

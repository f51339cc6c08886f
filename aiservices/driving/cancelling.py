"""What was cancelled, and what of a library's doing is a cancellation in disguise."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from .errands import current_errand

T = TypeVar("T")


def is_cancelled() -> bool:
    """Whether what runs here was cancelled from outside."""
    if asyncio._get_running_loop() is not None:
        task = asyncio.current_task()
        return task is None or task.cancelling() > 0
    errand = current_errand()
    return errand is not None and errand.is_given_up


async def undisguised(work: Awaitable[T], clean_up: Callable[[], Awaitable[object]]) -> T:
    """Await some work of a library that, cancelled, may raise an error of its own: cleaned up, it is one."""
    try:
        return await work
    except Exception as error:
        if not is_cancelled():
            raise
        await clean_up()
        raise asyncio.CancelledError from error

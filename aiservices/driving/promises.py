"""Something that is done elsewhere meanwhile, and that others may wait for."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any

from .driver import Driver
from .workers import wait_for


class Promise:
    """Kept once; whoever waits goes on then, in any thread and on any event loop."""

    __slots__ = ("_future",)

    def __init__(self) -> None:
        self._future: Future[Any] = Future()

    @property
    def is_kept(self) -> bool:
        return self._future.done()

    def keep(self, error: Exception | None = None, value: Any = None) -> None:
        """Let those who wait go on with the value, or raise the error where they wait.

        The first call counts.
        """
        if self._future.done():
            return
        if error is None:
            self._future.set_result(value)
        else:
            self._future.set_exception(error)

    def wait(self) -> None:
        """Block until it is kept. Raises `RuntimeError` where that would stop an event loop."""
        if not self._future.done() and asyncio._get_running_loop() is not None:
            raise RuntimeError("this waits for another agent, which cannot be done on an event loop")
        self._future.result()

    async def kept(self, driver: Driver) -> Any:
        """Wait until it is kept, and give the value."""
        return await driver.twin(self._future.result, self._awaited)

    async def _awaited(self) -> Any:
        return await asyncio.shield(wait_for(self._future))

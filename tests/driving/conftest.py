"""The two drives behind one face, and a limit on every wait."""

import asyncio
import faulthandler
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from aiservices.driving import ASYNCHRONOUS, BLOCKING, Driver


@dataclass(frozen=True)
class Drive:
    """Runs coroutines on a drive from a test that is blocking itself."""

    driver: Driver
    run: Callable[[Coroutine[Any, Any, Any]], Any]

    def read(self, coroutine: Coroutine[Any, Any, Any], most: int | None = None) -> list[Any]:
        """The events of a stream, of which at most some are read before it is closed."""
        if self.driver is ASYNCHRONOUS:
            return asyncio.run(_aread(coroutine, most))
        events, read = BLOCKING.events(coroutine), []
        for event in events:
            read.append(event)
            if len(read) == most:
                break
        events.close()  # type: ignore[attr-defined]
        return read


async def _aread(coroutine: Coroutine[Any, Any, Any], most: int | None) -> list[Any]:
    events, read = ASYNCHRONOUS.events(coroutine), []
    async for event in events:
        read.append(event)
        if len(read) == most:
            break
    await events.aclose()  # type: ignore[attr-defined]
    return read


DRIVES = {
    "blocking": Drive(BLOCKING, BLOCKING.run),
    "asynchronous": Drive(ASYNCHRONOUS, lambda coroutine: asyncio.run(ASYNCHRONOUS.run(coroutine))),
}


def interrupt(thread: int, waiting_in: str) -> None:
    """Press Ctrl-C as soon as the main thread waits in the function of this name."""
    while sys._current_frames()[thread].f_code.co_name != waiting_in:
        time.sleep(0.0005)
    signal.pthread_kill(thread, signal.SIGINT)


@pytest.fixture(params=DRIVES)
def drive(request: pytest.FixtureRequest) -> Drive:
    return DRIVES[request.param]


@pytest.fixture(autouse=True)
def watchdog() -> Iterator[None]:
    """A deadlock shows where every thread stands instead of lasting for ever."""
    faulthandler.dump_traceback_later(20, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()

"""Doing something again and again while something else lasts."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Event

from .workers import run_in_worker


class Heartbeat:
    """Calls a blocking function every so many seconds, in a worker thread, until it is stopped.

    It ends by itself when the function returns false or raises. `ended` is done when no beat is under way
    any more and none will come; it holds what the function raised.
    """

    def __init__(self, seconds: float, beat: Callable[[], bool]) -> None:
        self.seconds = seconds
        self.beat = beat
        self._stopped = Event()
        self.ended: Future[None] = run_in_worker(self._run)

    def stop(self) -> Future[None]:
        """Beat no more. Wait for what this gives to know that a beat under way has ended."""
        self._stopped.set()
        return self.ended

    def _run(self) -> None:
        while not self._stopped.wait(self.seconds):
            if not self.beat():
                return

"""Doing something again and again while something else lasts."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from .workers import run_in_worker


class Heartbeat:
    """Calls a blocking function every so many seconds, in a worker thread, until it is stopped.

    What the function raises stops it; `error` holds it then.
    """

    def __init__(self, seconds: float, beat: Callable[[], object]) -> None:
        self.seconds = seconds
        self.beat = beat
        self.error: Exception | None = None
        self._stopped = Event()
        run_in_worker(self._run)

    def stop(self) -> None:
        """Beat no more; one that is under way ends by itself."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(self.seconds):
            try:
                self.beat()
            except Exception as error:
                self.error = error
                return

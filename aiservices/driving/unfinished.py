"""Work in native code that calls back: the interpreter waits for it at exit.

A thread that comes back from native code when the interpreter is gone is ended on the spot, which C++ takes
for an exception and aborts the process.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from .forking import reset_in_children

EXIT_SECONDS: Final = 10.0


class Unfinished:
    """Counts jobs that must have ended before the interpreter goes."""

    def __init__(self) -> None:
        self.reset_in_child()
        reset_in_children(self)
        atexit.register(self.finish)

    def reset_in_child(self) -> None:
        """Forget the jobs, whose threads stayed in the parent."""
        self.is_exiting = False
        self._jobs = 0
        self._change = threading.Condition()

    @contextmanager
    def job(self) -> Iterator[None]:
        """Do something that exit has to wait for; look at `is_exiting` now and then to end early."""
        with self._change:
            self._jobs += 1
        try:
            yield
        finally:
            with self._change:
                self._jobs -= 1
                self._change.notify_all()

    def finish(self) -> None:
        """Ask the jobs to end and wait for them, ten seconds at most."""
        self.is_exiting = True
        with self._change:
            self._change.wait_for(lambda: not self._jobs, EXIT_SECONDS)


UNFINISHED: Final = Unfinished()

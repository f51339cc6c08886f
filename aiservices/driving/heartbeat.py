"""Doing something again and again while something else lasts."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context
from itertools import count
from typing import Final

from .forking import reset_in_children
from .workers import run_in_worker


class Heartbeat:
    """Calls a blocking function every so many seconds, in a worker thread, until it is stopped.

    It ends by itself when the function returns false or raises. `ended` is done when no beat is under way
    any more and none will come; it holds what the function raised. Between the beats it costs no thread:
    one clock wakes all of them.
    """

    def __init__(self, seconds: float, beat: Callable[[], bool]) -> None:
        self.seconds = seconds
        self.beat = beat
        self.ended: Future[None] = Future()
        self._guard = threading.RLock()  # reentrant: the collector may stop one here
        self._stopped = self._beating = False
        self._next = _CLOCK.wake(seconds, self._woken)

    def stop(self) -> Future[None]:
        """Beat no more. Wait for what this gives to know that a beat under way has ended."""
        with self._guard:
            self._stopped = True
            self._next.forget()
            if not self._beating and not self.ended.done():
                self.ended.set_result(None)
        return self.ended

    def _woken(self) -> None:
        with self._guard:
            if self._stopped:
                return
            self._beating = True
        Context().run(run_in_worker, self._beat)

    def _beat(self) -> None:
        error, goes_on = None, False
        try:
            goes_on = self.beat()
        except BaseException as raised:
            error = raised
        with self._guard:
            self._beating = False
            if error is not None:
                self.ended.set_exception(error)
            elif self._stopped or not goes_on:
                self.ended.set_result(None)
            else:
                self._next = _CLOCK.wake(self.seconds, self._woken)


class _Alarm:
    """A time, and what is to be called then."""

    __slots__ = ("at", "call", "number")

    def __init__(self, at: float, number: int, call: Callable[[], None]) -> None:
        self.at, self.number = at, number
        self.call: Callable[[], None] | None = call

    def forget(self) -> None:
        """Call nothing, and hold nothing."""
        self.call = None

    def __lt__(self, other: _Alarm) -> bool:
        return (self.at, self.number) < (other.at, other.number)


class _Clock:
    """A thread that sleeps until the next alarm; there is none while there are no alarms."""

    def __init__(self) -> None:
        self.reset_in_child()
        reset_in_children(self)

    def reset_in_child(self) -> None:
        """Forget the alarms of the parent, and its thread."""
        self._changed = threading.Condition()  # reentrant: the collector may set an alarm off here
        self._alarms: list[_Alarm] = []
        self._numbers = count()
        self._is_running = False

    def wake(self, seconds: float, call: Callable[[], None]) -> _Alarm:
        """Call a function after a while; it must not take long."""
        alarm = _Alarm(time.monotonic() + seconds, next(self._numbers), call)
        with self._changed:
            heapq.heappush(self._alarms, alarm)
            if self._is_running:
                self._changed.notify()
                return alarm
            self._is_running = True
        try:
            Context().run(threading.Thread(target=self._run, name="aiservices-clock", daemon=True).start)
        except RuntimeError:  # the interpreter is shutting down, or there can be no more threads
            self._is_running = False
        return alarm

    def _run(self) -> None:
        while (alarm := self._due()) is not None:
            call = alarm.call
            if call is not None:
                call()
            del alarm, call  # what is over is not to be kept until the next alarm

    def _due(self) -> _Alarm | None:
        with self._changed:
            while self._alarms:
                if self._alarms[0].call is None:
                    heapq.heappop(self._alarms)
                    continue
                wait = self._alarms[0].at - time.monotonic()
                if wait <= 0:
                    return heapq.heappop(self._alarms)
                self._changed.wait(wait)
            self._is_running = False
            return None


_CLOCK: Final = _Clock()

"""Holding back when tools are called too often."""

from __future__ import annotations

import time
from collections import deque

from ...context import ToolContext
from ...driving import Driver, Places
from ...messages import ToolCall
from ..execution import DrivenInterceptor, Execute
from ..outcomes import ToolOutcome
from .chosen import Chosen


class RateLimit(DrivenInterceptor):
    """At most `calls` calls begin within any `seconds`, over all invocations that share it; others wait.

    `names` are the tools that are counted; all of them by default.
    """

    def __init__(self, calls: int, seconds: float = 1.0, *, names: tuple[str, ...] | None = None) -> None:
        if calls < 1 or seconds <= 0:
            raise ValueError(f"RateLimit({calls}, {seconds}) lets nothing run: give positive numbers")
        self.calls = calls
        self.seconds = seconds
        self.chosen = Chosen(names)
        self._begun: deque[float] = deque(maxlen=calls)
        self._turn = Places(1)

    async def drive(
        self, driver: Driver, call: ToolCall, context: ToolContext, proceed: Execute
    ) -> ToolOutcome:
        if call.name in self.chosen:
            await driver.sleep(self._wait())
        return await proceed(call)

    def _wait(self) -> float:
        """Book the next free moment and give the seconds until then."""
        with self._turn.held():
            now = time.monotonic()
            full = len(self._begun) == self.calls
            begins = max(now, self._begun[0] + self.seconds) if full else now
            self._begun.append(begins)
        return begins - now

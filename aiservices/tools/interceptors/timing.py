"""Giving up on a call that takes too long."""

from __future__ import annotations

from ...context import ToolContext
from ...driving import Driver
from ...messages import ToolCall
from ..execution import DrivenInterceptor, Execute
from ..outcomes import ToolOutcome
from .chosen import Chosen


class TimeLimit(DrivenInterceptor):
    """A call that has not ended after so many `seconds` fails with a `TimeoutError`.

    An asynchronous tool is cancelled. A blocking one cannot be: its thread runs on, unheard. `names` are
    the tools it is for; all of them by default.
    """

    def __init__(self, seconds: float, *, names: tuple[str, ...] | None = None) -> None:
        if seconds <= 0:
            raise ValueError(f"TimeLimit({seconds}) lets nothing run: give seconds")
        self.seconds = seconds
        self.chosen = Chosen(names)

    async def drive(
        self, driver: Driver, call: ToolCall, context: ToolContext, proceed: Execute
    ) -> ToolOutcome:
        if call.name not in self.chosen:
            return await proceed(call)
        return await driver.within(self.seconds, proceed(call))

"""Letting only some tools be called."""

from __future__ import annotations

from ...context import ToolContext
from ...driving import Driver
from ...errors import ToolError
from ...messages import ToolCall
from ..execution import DrivenInterceptor, Execute
from ..outcomes import ToolOutcome


class Allow(DrivenInterceptor):
    """Only these tools may be called; of any other the model is told that it may not."""

    def __init__(self, *names: str) -> None:
        self.names = frozenset(names)

    async def drive(
        self, driver: Driver, call: ToolCall, context: ToolContext, proceed: Execute
    ) -> ToolOutcome:
        if call.name not in self.names:
            raise ToolError(f"The tool '{call.name}' is not allowed here.")
        return await proceed(call)


class Deny(DrivenInterceptor):
    """These tools may not be called; the model is told so, with the `reason` where there is one."""

    def __init__(self, *names: str, reason: str = "") -> None:
        self.names = frozenset(names)
        self.reason = reason

    async def drive(
        self, driver: Driver, call: ToolCall, context: ToolContext, proceed: Execute
    ) -> ToolOutcome:
        if call.name in self.names:
            raise ToolError(f"The tool '{call.name}' is not allowed here. {self.reason}".rstrip())
        return await proceed(call)

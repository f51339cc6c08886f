"""Asking somebody before a tool is run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from ...context import ToolContext
from ...driving import Driver
from ...errors import ToolError
from ...messages import ToolCall
from ..execution import DrivenInterceptor, Execute
from ..outcomes import ToolOutcome
from .chosen import Chosen

Ask: TypeAlias = Callable[[ToolCall, ToolContext], "bool | str | Awaitable[bool | str]"]


class Approval(DrivenInterceptor):
    """Asks `ask(call, context)`, sync or async, before each call.

    `True` lets it run; `False`, or a text with the reason, refuses it and the model is told. `names` are the
    tools that need approval; all of them by default.
    """

    def __init__(self, ask: Ask, *, names: tuple[str, ...] | None = None) -> None:
        self.ask = ask
        self.chosen = Chosen(names)

    async def drive(
        self, driver: Driver, call: ToolCall, context: ToolContext, proceed: Execute
    ) -> ToolOutcome:
        if call.name not in self.chosen:
            return await proceed(call)
        answer = await driver.call(self.ask, call, context)
        if answer is True:
            return await proceed(call)
        reason = f": {answer}" if isinstance(answer, str) and answer else "."
        raise ToolError(f"The call of '{call.name}' was not approved{reason}")

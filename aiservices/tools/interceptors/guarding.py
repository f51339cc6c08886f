"""Guardrails on what tools are given and on what they give back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import guardrails
from guardrails import GuardrailLike, GuardrailRequest, links

from ...context import ToolContext
from ...driving import Driver
from ...errors import ToolError
from ...messages import Content, TextContent, ToolCall
from ..execution import DrivenInterceptor, Execute
from ..outcomes import ToolOutcome


class ToolGuardrails(DrivenInterceptor):
    """Judges the arguments of a call, as JSON text, before it runs, and the text of its result after.

    A `Rewrite` changes the arguments, or the result for everybody: model, memory, events and
    `Result.tool_executions` see the rewritten text alone. What is rejected is told to the model as the error
    of the call. `names` are the tools it is for; all of them by default.
    """

    def __init__(
        self,
        *,
        arguments: Sequence[GuardrailLike[Any]] = (),
        results: Sequence[GuardrailLike[Any]] = (),
        names: tuple[str, ...] | None = None,
    ) -> None:
        self.arguments = links(*arguments)
        self.results = links(*results)
        self.names = None if names is None else frozenset(names)

    async def drive(
        self, driver: Driver, call: ToolCall, context: ToolContext, proceed: Execute
    ) -> ToolOutcome:
        if self.names is not None and call.name not in self.names:
            return await proceed(call)
        text = await _judged(self.arguments, call.arguments, call, context, driver)
        outcome = await proceed(call if text == call.arguments else replace(call, arguments=text))
        text = await _judged(self.results, outcome.text, call, context, driver)
        return outcome if text == outcome.text else _with_text(outcome, text)


async def _judged(
    chain: tuple[guardrails.Link[Any], ...], text: str, call: ToolCall, context: ToolContext, driver: Driver
) -> str:
    if not chain:
        return text
    request = GuardrailRequest(subject=text, text=text, variables={"tool": call.name}, context=context)
    try:
        passed = await guardrails.enforce_input(
            chain, request, wording=guardrails.PLAIN_TEXT, call=driver.call
        )
    except guardrails.InputGuardrailError as error:
        reasons = "; ".join(failure.reason for failure in error.failures)
        raise ToolError(f"The call of '{call.name}' was blocked: {reasons}") from error
    return passed.text


def _with_text(outcome: ToolOutcome, text: str) -> ToolOutcome:
    """The outcome with its text parts replaced; the value goes with them, for it holds what they held."""
    others: list[Content] = [item for item in outcome.contents if not isinstance(item, TextContent)]
    return ToolOutcome(
        [TextContent(text), *others],
        is_error=outcome.is_error,
        value=text,
        attributes=outcome.attributes,
        error=outcome.error,
    )

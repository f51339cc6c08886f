"""Guardrails on what tools are given and on what they give back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import guardrails
from guardrails import GuardrailLike, GuardrailRequest, Link, links

from ...context import ToolContext
from ...driving import Driver
from ...errors import ToolError
from ...messages import ToolCall
from ...messages.contents import reworded
from ..execution import DrivenInterceptor, Execute
from ..outcomes import ToolOutcome, text_of
from .chosen import Chosen


class ToolGuardrails(DrivenInterceptor):
    """Judges the arguments of a call, as JSON text, before it runs, and the text of its result after.

    The JSON is written anew for that, without escapes where none are needed: what the tool will read is what
    is judged. The text of an exception that the tool raises is judged as a result is.

    A `Rewrite` changes the arguments, or the result for everybody: model, memory, events and
    `Result.tool_executions` see the rewritten text alone, also as the value. Only the tool's undo still gets
    what the tool returned. What is rejected is told to the model as the error of the call; the tool has then
    run, and its undo is called where a failed call is undone. Pictures and other media are not judged.
    `names` are the tools it is for; all of them by default.
    """

    def __init__(
        self,
        *,
        arguments: Sequence[GuardrailLike[Any]] = (),
        results: Sequence[GuardrailLike[Any]] = (),
        names: tuple[str, ...] | None = None,
    ) -> None:
        self.arguments = _chain("arguments", arguments)
        self.results = _chain("results", results)
        self.chosen = Chosen(names)

    async def drive(
        self, driver: Driver, call: ToolCall, context: ToolContext, proceed: Execute
    ) -> ToolOutcome:
        if call.name not in self.chosen:
            return await proceed(call)
        given = _plain(call) if self.arguments else call.arguments
        text = await _judged(self.arguments, given, call, context, driver)
        outcome = await _attempted(proceed, call if text == given else replace(call, arguments=text))
        said = text_of(outcome) if isinstance(outcome, Exception) else outcome.text
        text = await _judged(self.results, said, call, context, driver)
        if isinstance(outcome, Exception):
            # Another error comes from nothing: the exception holds what was taken out.
            raise outcome if text == said else ToolError(text)
        return outcome if text == said else _with_text(outcome, text)


def _chain(name: str, given: Any) -> tuple[Link[Any], ...]:
    if not isinstance(given, Sequence):
        raise TypeError(f"{name} is a {type(given).__name__}: give a list or a tuple of guardrails")
    return links(*given)


async def _attempted(proceed: Execute, call: ToolCall) -> ToolOutcome | Exception:
    try:
        return await proceed(call)
    except Exception as error:
        return error


def _plain(call: ToolCall) -> str:
    r"""The arguments as the tool will understand them: `\u002f` is a `/`, of two equal keys one counts.

    Broken JSON is for nobody to judge: what a reader would mend it to is not what stands there.
    """
    if not call.arguments or call.arguments.isspace():
        return call.arguments
    try:
        return json.dumps(json.loads(call.arguments), ensure_ascii=False)
    except (ValueError, RecursionError):
        raise ToolError(f"The call of '{call.name}' was blocked: its arguments are no valid JSON") from None


async def _judged(
    chain: tuple[Link[Any], ...], text: str, call: ToolCall, context: ToolContext, driver: Driver
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
        blocked = ToolError(f"The call of '{call.name}' was blocked: {reasons}")
        blocked.__cause__ = error
    else:
        return passed.text
    raise blocked


def _with_text(outcome: ToolOutcome, text: str) -> ToolOutcome:
    """The outcome with another text; value and error go with the old one, for they hold what it held."""
    return ToolOutcome(
        reworded(outcome.contents, text),
        is_error=outcome.is_error,
        value=text,
        attributes=outcome.attributes,
        error=None if outcome.error is None else ToolError(text),
    )

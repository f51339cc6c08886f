"""Judging an answer before anyone sees it, and asking for another when it does not pass."""

from __future__ import annotations

from typing import Any

import guardrails
from guardrails import GuardrailRequest
from outputparsers.extracting import spoken_text

from ..errors import OutputGuardrailError
from ..invocation import Invocation, Proceed, changed
from ..messages import AiMessage, PartialText, UserMessage
from ..reading import AnswerForm
from ..results import Result
from ._answers import final_response, said, unusable
from ._guards import ANSWER_WORDING, guardrail_request, observing


async def guard_output(call: Invocation, proceed: Proceed) -> Result[Any]:
    """The first answer that passes; what was rejected stays in the exchange of this call alone."""
    asking = _Asking(changed(call, gated=True) if call.is_streamed else call, proceed)
    first = await asking.first()
    if first is None:
        return asking.result
    try:
        validated = await guardrails.enforce_output(
            call.setup.output_chain,
            first,
            wording=ANSWER_WORDING,
            call=call.driver.call,
            ask_again=asking.again,
            config=call.setup.output_config,
            observe=observing(call),
        )
    except guardrails.OutputGuardrailError as error:
        failed = OutputGuardrailError(error.failures, error.validations, error.reasks)
        raise failed from error.__cause__
    except _NothingToJudgeError:
        return asking.result
    passed = validated.passed
    if call.is_streamed and passed.text:
        await call.flush()  # the verdicts were given before the answer is shown
        await call.show(PartialText(passed.text))
    if not passed.rewritten and not passed.findings:
        return asking.result
    return changed(asking.result, content=passed.subject, guardrail_findings=passed.findings)


class _NothingToJudgeError(Exception):
    """A new answer is none, or came from a tool, which is not for guardrails to say."""


class _Asking:
    """Gets answers, each after what was said so far."""

    def __init__(self, call: Invocation, proceed: Proceed) -> None:
        self._call = call
        self._proceed = proceed
        self.result: Result[Any]

    async def first(self) -> GuardrailRequest[AiMessage] | None:
        """The first answer, or `None` when there is nothing to judge."""
        self.result = await self._proceed(self._call)
        return self._to_judge()

    async def again(self, rejected: AiMessage, reask: guardrails.Reask) -> GuardrailRequest[AiMessage]:
        """Another answer: after the rejected one and the prompt, or, without a prompt, to the same words."""
        shown = () if reask.prompt is None else (said(rejected), UserMessage(reask.prompt))
        reason = f"{reask.guardrail}: {reask.reason}"
        exchange = self.result.exchange or self._call.exchange
        self._call = self._call.asking_again(exchange, *shown, reason=reason)
        self.result = await self._proceed(self._call)
        request = self._to_judge()
        if request is None:
            raise _NothingToJudgeError
        return request

    def _to_judge(self) -> GuardrailRequest[AiMessage] | None:
        """The answer, unless it is one that ends the call whatever guardrails say, or a tool's value."""
        result, call = self.result, self._call
        if not isinstance(result, Result) or result.immediate or not isinstance(result.content, AiMessage):
            return None
        message = result.content
        text = message.text or ""
        if call.method.answer.form is AnswerForm.VALUE:  # the caller gets no thoughts either
            text = spoken_text(text)
        if not text or unusable(final_response(result, call), result.finish_reason, call) is not None:
            return None
        return guardrail_request(message, text, call, result.exchange or call.exchange)

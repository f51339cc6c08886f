"""Judging an answer before anyone sees it, and asking for another when it does not pass."""

from __future__ import annotations

from typing import Any

import guardrails

from ..errors import OutputGuardrailError
from ..invocation import Invocation, Proceed, changed
from ..messages import AiMessage, UserMessage
from ..results import Result
from ._guards import ANSWER_WORDING, guardrail_request, observing


async def guard_output(call: Invocation, proceed: Proceed) -> Result[Any]:
    """The first answer that passes; what was rejected stays in the exchange of this call alone."""
    asking = _Asking(call, proceed)
    message = await asking.first()
    if message is None:
        return asking.result
    try:
        validated = await guardrails.enforce_output(
            call.setup.output_chain,
            guardrail_request(message, message.text or "", call, asking.result.exchange),
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
    call.journal.findings.extend(validated.passed.findings)
    return changed(asking.result, content=validated.passed.subject)


class _NothingToJudgeError(Exception):
    """A new answer has no text: it is refused, cut off or empty, which is not for guardrails to say."""


class _Asking:
    """Gets answers, each after what was said so far."""

    def __init__(self, call: Invocation, proceed: Proceed) -> None:
        self._call = call
        self._proceed = proceed
        self.result: Result[Any]

    async def first(self) -> AiMessage | None:
        """The first answer, or `None` when there is nothing to judge."""
        self.result = await self._proceed(self._call)
        return self._judged()

    async def again(self, rejected: AiMessage, reask: guardrails.Reask) -> AiMessage:
        """Another answer: after the rejected one and the prompt, or, without a prompt, to the same words."""
        said = () if reask.prompt is None else (rejected, UserMessage(reask.prompt))
        reason = f"{reask.guardrail}: {reask.reason}"
        self.result = await self._proceed(self._call.asking_again(self.result.exchange, *said, reason=reason))
        message = self._judged()
        if message is None:
            raise _NothingToJudgeError
        return message

    def _judged(self) -> AiMessage | None:
        result = self.result
        if result.immediate or not isinstance(result.content, AiMessage) or not result.content.text:
            return None
        return result.content

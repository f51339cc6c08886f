"""The return type becomes a schema or instructions on the way down, and the answer a value on the way up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import outputparsers

from ..errors import (
    ContentFilteredError,
    EmptyAnswerError,
    OutputParsingError,
    OutputTruncatedError,
    RefusalError,
)
from ..invocation import Invocation, Proceed, changed
from ..messages import AiMessage, ChatResponse, FinishReason, UserMessage
from ..reading import AnswerForm
from ..results import Result
from ._confidence import confidence_in

MAX_CORRECTION_CHARS: Final = 2_000
MAX_REFUSAL_CHARS: Final = 1_000


async def structure(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Ask for the return type and read it; ask again, a bounded number of times, when it cannot be read."""
    setup = call.setup
    if setup.response_format is not None or setup.instructions:
        call = changed(call, response_format=setup.response_format, instructions=setup.instructions)
    for attempt in range(1, setup.parse_retries + 2):
        result = await proceed(call)
        if isinstance(result, Result) and result.immediate:
            return result
        response = _final(result, call)
        try:
            return _read(result, response, call)
        except outputparsers.OutputParsingError as error:
            if attempt > setup.parse_retries:
                where = call.method.where
                raise OutputParsingError(error.text, error.expected, error.problems, where=where) from error
            correction = _correction(error)
        said = (_said(response.message), UserMessage(correction))
        call = call.asking_again(result.exchange or call.exchange, *said, reason=correction)
    raise AssertionError("the loop returns or raises")


def _final(result: Result[Any], call: Invocation) -> ChatResponse:
    """The model's answer as the stages below leave it: they may have rewritten it, or answered without it."""
    if not isinstance(result, Result) or not isinstance(result.content, AiMessage):
        got = result.content if isinstance(result, Result) else result
        raise TypeError(
            f"{call.method.where}: a stage after structure gave a {type(got).__name__}: "
            "it gives a Result whose content is an AiMessage"
        )
    if not result.responses:
        return ChatResponse(result.content, result.usage, result.finish_reason)
    response = result.responses[-1]
    return response if response.message is result.content else replace(response, message=result.content)


def _read(result: Result[Any], response: ChatResponse, call: Invocation) -> Result[Any]:
    answer = call.method.answer
    match answer.form:
        case AnswerForm.RESPONSE:
            return changed(result, content=response, message=response.message)
        case AnswerForm.NOTHING:
            return changed(result, content=None, message=response.message)
        case AnswerForm.MESSAGE:
            _check_usable(response, result.finish_reason, call)
            return changed(result, message=response.message)
        case AnswerForm.VALUE:
            _check_usable(response, result.finish_reason, call)
    parser = answer.parser
    assert parser is not None
    value = parser.parse(response.text)
    if isinstance(value, str) and not value.strip() and parser.json_schema() is None:  # it only thought aloud
        raise _empty(response, call)
    label = parser.label_of(value) if parser.labels else None
    confidence = confidence_in(label, response) if label is not None else None
    return changed(result, content=value, confidence=confidence, message=response.message)


def _check_usable(response: ChatResponse, reason: FinishReason, call: Invocation) -> None:
    """Raise where the answer is none: asking again would not help, so nothing is asked again."""
    message = response.message
    if message.refusal:
        words = _cut(message.refusal, MAX_REFUSAL_CHARS)
        raise RefusalError(f"{call.method.where}: the model declined to answer: {words}", response=response)
    if reason is FinishReason.CONTENT_FILTER:
        raise ContentFilteredError(
            f"{call.method.where}: the provider's content filter withheld the answer", response=response
        )
    if reason is FinishReason.LENGTH:
        raise OutputTruncatedError(
            f"{call.method.where}: the answer was cut off at the token limit after {response.usage.output} "
            "tokens: raise max_output_tokens in ChatRequestParameters, or ask for less",
            response=response,
        )
    tool_calls_will_do = call.method.answer.form is AnswerForm.MESSAGE and message.tool_calls
    if not tool_calls_will_do and not (message.text and not message.text.isspace()):
        raise _empty(response, call)


def _empty(response: ChatResponse, call: Invocation) -> EmptyAnswerError:
    tools = ", ".join(item.name for item in response.message.tool_calls)
    did = f"asked for the tool {tools} instead of answering" if tools else "answered nothing"
    return EmptyAnswerError(f"{call.method.where}: the model {did}", response=response)


def _said(message: AiMessage) -> AiMessage:
    """The rejected answer as it can stand in the conversation: a tool call would need a result after it."""
    return replace(message, tool_calls=()) if message.tool_calls else message


def _correction(error: outputparsers.OutputParsingError) -> str:
    wrong = _cut(str(error), MAX_CORRECTION_CHARS)
    return f"Your answer could not be used. {wrong}\nAnswer again, with the corrected answer only."


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}..."

"""The return type becomes a schema or instructions on the way down, and the answer a value on the way up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
from ..events import AskedAgain
from ..invocation import Invocation, Proceed
from ..messages import AiMessage, ChatResponse, FinishReason, TokenLogprob
from ..reading import Answer, AnswerForm
from ..results import Result

MAX_CORRECTION_CHARS: Final = 2_000


async def structure(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Ask for the return type and read it; ask again, a bounded number of times, when it cannot be read."""
    answer, setup = call.method.answer, call.setup
    if setup.response_format is not None or setup.instructions:
        call = replace(call, response_format=setup.response_format, instructions=setup.instructions)
    for attempt in range(1, setup.parse_retries + 2):
        result = await proceed(call)
        try:
            return _read(answer, result, call)
        except outputparsers.OutputParsingError as error:
            if attempt > setup.parse_retries:
                raise OutputParsingError(error.text, error.expected, error.problems) from error
            correction = _correction(error)
        call.notify(AskedAgain, correction, attempt)
        call = call.asking_again(result.content, correction)
    raise AssertionError("the loop returns or raises")


def _read(answer: Answer, result: Result[Any], call: Invocation) -> Result[Any]:
    response = result.responses[-1]
    match answer.form:
        case AnswerForm.RESPONSE:
            return replace(result, content=response)
        case AnswerForm.MESSAGE:
            _check_usable(result.content, result.finish_reason, response, call)
            return result
        case AnswerForm.NOTHING:
            return replace(result, content=None)
        case AnswerForm.VALUE:
            _check_usable(result.content, result.finish_reason, response, call)
    parser = answer.parser
    assert parser is not None
    value = parser.parse(result.content.text or "")
    confidence = _confidence(parser.label_of(value), parser, response) if parser.labels else None
    return replace(result, content=value, confidence=confidence)


def _check_usable(message: AiMessage, reason: FinishReason, response: ChatResponse, call: Invocation) -> None:
    """Raise where the answer is none: asking again would not help, so nothing is asked again."""
    where = call.method.where
    if message.refusal is not None:
        raise RefusalError(f"{where}: the model declined to answer: {message.refusal}", response=response)
    if reason is FinishReason.CONTENT_FILTER:
        raise ContentFilteredError(
            f"{where}: the provider's content filter withheld the answer", response=response
        )
    if reason is FinishReason.LENGTH:
        raise OutputTruncatedError(
            f"{where}: the answer was cut off at the token limit after {response.usage.output} tokens: "
            "raise max_output_tokens in ChatRequestParameters, or ask for less",
            response=response,
        )
    if not (message.text and message.text.strip()) and not message.tool_calls:
        raise EmptyAnswerError(f"{where}: the model answered nothing", response=response)


def _correction(error: outputparsers.OutputParsingError) -> str:
    text = str(error)
    if len(text) > MAX_CORRECTION_CHARS:
        text = f"{text[:MAX_CORRECTION_CHARS]}..."
    return f"Your answer could not be used. {text}\nAnswer again, with the corrected answer only."


def _confidence(
    label: str | None, parser: outputparsers.OutputParser[Any], response: ChatResponse
) -> float | None:
    if label is None:
        return None
    if response.label_probabilities is not None:
        return _probability(response.label_probabilities, label)
    if response.logprobs is not None:
        return _probability_of_span(response.logprobs, label)
    return None


def _probability(probabilities: Mapping[str, float], label: str) -> float | None:
    probability = probabilities.get(label)
    return None if probability is None else min(1.0, max(0.0, probability))


def _probability_of_span(logprobs: Sequence[TokenLogprob], label: str) -> float | None:
    """The probability of the tokens that spell the label, where it stands in the answer for the last time."""
    text = "".join(item.token for item in logprobs)
    start = text.rfind(label)
    if start < 0:
        return None
    total, position = 0.0, 0
    for item in logprobs:
        end = position + len(item.token)
        if end > start and position < start + len(label):
            total += item.logprob
        position = end
    return min(1.0, math.exp(total))

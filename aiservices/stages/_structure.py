"""The return type becomes a schema or instructions on the way down, and the answer a value on the way up."""

from __future__ import annotations

from typing import Any

import outputparsers

from ..errors import OutputParsingError
from ..invocation import Invocation, Proceed, changed, correction_of
from ..messages import AiMessage, ChatResponse, UserMessage
from ..reading import AnswerForm
from ..results import Result
from ._answers import empty, final_response, said, unusable
from ._confidence import confidence_in


async def structure(call: Invocation, proceed: Proceed) -> Result[Any]:
    """Ask for the return type and read it; ask again, a bounded number of times, when it cannot be read."""
    setup = call.setup
    if setup.response_format is not None or setup.instructions:
        call = changed(call, response_format=setup.response_format, instructions=setup.instructions)
    for attempt in range(1, setup.parse_retries + 2):
        result = await proceed(call)
        if isinstance(result, Result) and result.immediate:
            return result
        response = final_response(result, call)
        try:
            return _read(result, response, call)
        except outputparsers.OutputParsingError as error:
            if attempt > setup.parse_retries:
                where = call.method.where
                raise OutputParsingError(error.text, error.expected, error.problems, where=where) from error
            correction = correction_of(error)
        shown = (said(_own_words(result, response)), UserMessage(correction))
        call = call.asking_again(result.exchange or call.exchange, *shown, reason=correction)
    raise AssertionError("the loop returns or raises")


def _read(result: Result[Any], response: ChatResponse, call: Invocation) -> Result[Any]:
    error = unusable(response, result.finish_reason, call)
    if error is not None:
        raise error
    answer = call.method.answer
    match answer.form:
        case AnswerForm.RESPONSE:
            return changed(result, content=response, message=response.message)
        case AnswerForm.NOTHING:
            return changed(result, content=None, message=response.message)
        case AnswerForm.MESSAGE:
            return changed(result, message=response.message)
        case AnswerForm.IMAGE:
            return changed(result, content=response.message.images[0], message=response.message)
        case AnswerForm.IMAGES:
            return changed(result, content=list(response.message.images), message=response.message)
        case AnswerForm.VALUE:
            pass
    parser = answer.parser
    assert parser is not None
    value = parser.parse(response.text)
    if isinstance(value, str) and not value.strip() and parser.json_schema() is None:  # it only thought aloud
        raise empty(response, call)
    label = parser.label_of(value) if parser.labels else None
    confidence = confidence_in(label, _telling(result, response)) if label is not None else None
    return changed(result, content=value, confidence=confidence, message=response.message)


def _own_words(result: Result[Any], response: ChatResponse) -> AiMessage:
    """What the model said itself: it is not shown what others made of it."""
    return result.responses[-1].message if result.responses else response.message


def _telling(result: Result[Any], response: ChatResponse) -> ChatResponse:
    """The response whose probabilities tell of the answer: of words cut out of it, the model's own."""
    if not result.responses:
        return response
    own = result.responses[-1]
    return own if (response.text or "").casefold() in (own.text or "").casefold() else response

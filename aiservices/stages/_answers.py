"""What the stages that read answers share: what is no answer, and how one stands in the conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from ..errors import ContentFilteredError, EmptyAnswerError, ModelError, OutputTruncatedError, RefusalError
from ..invocation import Invocation, cut
from ..messages import AiMessage, ChatResponse, FinishReason
from ..reading import AnswerForm
from ..results import Result

MAX_REFUSAL_CHARS: Final = 1_000


def final_response(result: Result[Any], call: Invocation) -> ChatResponse:
    """The model's answer as the stages below leave it: they may have rewritten it, or answered without it.

    Token probabilities spell the model's own words: they go where these were replaced.
    """
    if not isinstance(result, Result) or not isinstance(result.content, AiMessage):
        got = result.content if isinstance(result, Result) else result
        raise TypeError(
            f"{call.method.where}: a stage after structure gave a {type(got).__name__}: "
            "it gives a Result whose content is an AiMessage"
        )
    if not result.responses:
        return ChatResponse(result.content, result.usage, result.finish_reason)
    response, message = result.responses[-1], result.content
    if response.message is message:
        return response
    if response.text == message.text:
        return replace(response, message=message)
    return replace(response, message=message, logprobs=None)


def unusable(response: ChatResponse, reason: FinishReason, call: Invocation) -> ModelError | None:
    """What is to be raised where the answer is none: asking again would not help, so nothing is asked again.

    A method that returns the response itself, or nothing, takes any.
    """
    form, message = call.method.answer.form, response.message
    if form in (AnswerForm.RESPONSE, AnswerForm.NOTHING):
        return None
    if message.refusal:
        words = cut(message.refusal, MAX_REFUSAL_CHARS)
        return RefusalError(f"{call.method.where}: the model declined to answer: {words}", response=response)
    if reason is FinishReason.CONTENT_FILTER:
        return ContentFilteredError(
            f"{call.method.where}: the provider's content filter withheld the answer", response=response
        )
    if reason is FinishReason.LENGTH:
        return OutputTruncatedError(
            f"{call.method.where}: the answer was cut off at the token limit after {response.usage.output} "
            "tokens: raise max_output_tokens in ChatRequestParameters, or ask for less",
            response=response,
        )
    if form in (AnswerForm.IMAGE, AnswerForm.IMAGES):
        return None if message.images else empty(response, call, nothing="made no image")
    something_else = form is AnswerForm.MESSAGE and (message.tool_calls or message.images)
    if not something_else and not (message.text and not message.text.isspace()):
        return empty(response, call)
    return None


def empty(response: ChatResponse, call: Invocation, *, nothing: str = "answered nothing") -> EmptyAnswerError:
    """The error for an answer without what was asked for."""
    tools = ", ".join(item.name for item in response.message.tool_calls)
    did = f"asked for the tool {tools} instead of answering" if tools else nothing
    return EmptyAnswerError(f"{call.method.where}: the model {did}", response=response)


def said(message: AiMessage) -> AiMessage:
    """A rejected answer as it can stand in the conversation: a tool call would need a result after it."""
    return replace(message, tool_calls=()) if message.tool_calls else message

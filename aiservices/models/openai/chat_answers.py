"""Answers in the language of chat completions, read leniently: servers differ in what they leave out."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any, Final
from uuid import uuid4

from ...errors import ServerError
from ...messages import (
    AiMessage,
    ChatResponse,
    FinishReason,
    FrozenMapping,
    ImageContent,
    TokenLogprob,
    TokenUsage,
    ToolCall,
)
from ...messages.frozen import NO_ATTRIBUTES
from ..failures import Failure
from .chat_requests import KEPT
from .complaints import complaint_in, failure_from
from .harmony import split_channels
from .kept import keep

_READ: Final = frozenset({"role", "content", "refusal", "tool_calls", "reasoning_content", "reasoning"})
_CALL_READ: Final = frozenset({"id", "index", "type", "function"})
_NOT_METADATA: Final = frozenset({"id", "object", "model", "choices"})
_REASONS: Final = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.CONTENT_FILTER,
}
THINKING_FIELDS: Final = ("reasoning_content", "reasoning")


def chat_answer(data: dict[str, Any], host: str) -> ChatResponse:
    """Read a whole answer. Raises `Failure` where there is none, or an error in its place."""
    if complaint := complaint_in(data):
        raise failure_from(complaint)
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Failure("its answer holds no choices", kind=ServerError)
    choice = choices[0]
    said = choice.get("message")
    message = _message(said if isinstance(said, dict) else {}, host)
    return ChatResponse(
        message,
        usage=usage_of(data.get("usage")),
        finish_reason=_finish_reason(choice.get("finish_reason"), message),
        id=data.get("id"),
        model_name=data.get("model"),
        logprobs=_logprobs(choice.get("logprobs")),
        metadata=_metadata(data, choice),
    )


def _message(said: dict[str, Any], host: str) -> AiMessage:
    text, thinking = _text_and_thinking(said)
    calls = said.get("tool_calls") or ()
    told = {name: value for name, value in said.items() if value and name not in _READ}
    attributes = keep(KEPT, host, told) if told else NO_ATTRIBUTES
    if refusal := said.get("refusal"):
        attributes = FrozenMapping({**attributes, "refusal": refusal})
    made = tuple(_tool_call(call, host) for call in calls)
    return AiMessage(text, made, thinking, attributes, images=_images(said))


def _images(said: dict[str, Any]) -> tuple[ImageContent, ...]:
    """Images beside the text, as servers send them whose models make some."""
    told = said.get("images")
    return tuple(image_at(image["image_url"]["url"]) for image in told) if isinstance(told, list) else ()


def image_at(address: str) -> ImageContent:
    """The image at an address; that of a `data:` URL is its bytes."""
    head, _, data = address.partition(";base64,")
    if not head.startswith("data:") or not data:
        return ImageContent(url=address)
    return ImageContent(
        data=b64decode(data, validate=True), media_type=head.removeprefix("data:") or "image/png"
    )


def _text_and_thinking(said: dict[str, Any]) -> tuple[str | None, str | None]:
    text: Any = said.get("content")
    thinking = next((said[name] for name in THINKING_FIELDS if isinstance(said.get(name), str)), None) or None
    if isinstance(text, list):
        text, thinking = text_of_parts(text), thinking or text_of_parts(text, "thinking") or None
    if text and text.startswith("<|"):
        thought, text = split_channels(text)
        thinking = thinking or thought
    return text, thinking


def text_of_parts(parts: list[Any], kind: str = "text") -> str:
    """The text of a content that comes as a list of typed parts; a part may hold parts of its own."""
    found = [part.get(kind) for part in parts if isinstance(part, dict) and part.get("type") == kind]
    return "".join(text_of_parts(each) if isinstance(each, list) else str(each or "") for each in found)


def _tool_call(call: dict[str, Any], host: str) -> ToolCall:
    function = call.get("function") or {}
    told = {name: value for name, value in call.items() if value and name not in _CALL_READ}
    return ToolCall(
        call.get("id") or f"call_{uuid4().hex[:24]}",  # results are matched by it: there must be one
        function.get("name") or "",
        arguments_of(function.get("arguments")),
        keep(KEPT, host, told) if told else NO_ATTRIBUTES,
    )


def arguments_of(value: Any) -> str:
    """Arguments as text, as they should be; some servers send the object itself, or nothing for none."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def usage_of(usage: Any) -> TokenUsage:
    """The tokens of an answer of either language; unknown when an amount is not told."""
    if not isinstance(usage, dict):
        return TokenUsage(known=False)
    read = usage.get("prompt_tokens", usage.get("input_tokens"))
    written = usage.get("completion_tokens", usage.get("output_tokens"))
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or usage
    cached = details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens")
    return TokenUsage(read or 0, written or 0, cached or 0, known=read is not None and written is not None)


def _finish_reason(told: str | None, message: AiMessage) -> FinishReason:
    reason = FinishReason.STOP if told is None else _REASONS.get(told, FinishReason.OTHER)
    if reason is FinishReason.STOP and message.tool_calls:
        return FinishReason.TOOL_CALLS  # some servers say "stop" to every end
    return reason


def _logprobs(told: Any) -> tuple[TokenLogprob, ...] | None:
    tokens = told.get("content") if isinstance(told, dict) else None
    return logprobs_of(tokens) if tokens else None


def logprobs_of(tokens: list[Any]) -> tuple[TokenLogprob, ...]:
    """Tokens with their logarithmic probabilities, as both languages write them."""
    return tuple(TokenLogprob(token["token"], token["logprob"]) for token in tokens)


def _metadata(data: dict[str, Any], choice: dict[str, Any]) -> FrozenMapping[Any]:
    metadata = {
        name: value for name, value in data.items() if value is not None and name not in _NOT_METADATA
    }
    if filtered := choice.get("content_filter_results"):
        metadata["content_filter_results"] = filtered
    if (reason := choice.get("finish_reason")) not in _REASONS and reason is not None:
        metadata["finish_reason"] = reason
    return FrozenMapping(metadata)

"""Answers in the language of responses: lists of items, of which reasoning must come back as it was told."""

from __future__ import annotations

from base64 import b64decode
from typing import Any, Final

from ...errors import ServerError
from ...messages import (
    AiMessage,
    ChatResponse,
    FinishReason,
    FrozenMapping,
    ImageContent,
    TokenLogprob,
    ToolCall,
)
from ..failures import Failure
from .chat_answers import arguments_of, logprobs_of, usage_of
from .complaints import complaint_in, failure_from
from .kept import keep

KEPT: Final = "openai_responses"
_NOT_METADATA: Final = frozenset(
    {"id", "object", "model", "output", "error", "instructions", "tools", "text"}
)
_INCOMPLETE: Final = {
    "max_output_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}


def responses_answer(data: dict[str, Any], host: str) -> ChatResponse:
    """Read a whole answer. Raises `Failure` where there is none, or an error in its place."""
    if complaint := complaint_in(data):
        raise failure_from(complaint)
    items = data.get("output")
    if not isinstance(items, list) or data.get("status") in {"failed", "cancelled"}:
        raise Failure("it gave up on the answer" if items else "its answer holds no output", kind=ServerError)
    message = _message(items, host)
    return ChatResponse(
        message,
        usage=usage_of(data.get("usage")),
        finish_reason=_finish_reason(data, message),
        id=data.get("id"),
        model_name=data.get("model"),
        logprobs=_logprobs(items),
        metadata=FrozenMapping(
            {name: value for name, value in data.items() if value is not None and name not in _NOT_METADATA}
        ),
    )


def items_say(items: list[Any], message: AiMessage) -> bool:
    """Whether a message still says what the items that it came from say."""
    said = [(call.id, call.name, call.arguments) for call in message.tool_calls]
    told = [(call.id, call.name, call.arguments) for call in _calls(items)]
    return said == told and (message.text or "") == _text(items)


def _message(items: list[Any], host: str) -> AiMessage:
    attributes: dict[str, Any] = {}
    if refusal := "".join(part.get("refusal") or "" for part in _parts(items, "refusal")):
        attributes["refusal"] = refusal
    if worth_keeping := [item for item in items if _goes_back(item)]:
        attributes |= keep(KEPT, host, worth_keeping) if _tells_more(worth_keeping) else {}
    thinking = "\n\n".join(_thoughts(items))
    kept, images = FrozenMapping(attributes), _images(items)
    return AiMessage(_text(items) or None, _calls(items), thinking or None, kept, images=images)


def _goes_back(item: dict[str, Any]) -> bool:
    """Reasoning of which only an id was told is known to nobody: nothing is stored."""
    return item.get("type") != "reasoning" or bool(item.get("encrypted_content") or item.get("content"))


def _tells_more(items: list[dict[str, Any]]) -> bool:
    """Whether the items say more than a message's text and tool calls can hold."""
    kinds = [item.get("type") for item in items]
    plain = kinds.count("message") <= 1 and all(kind in {"message", "function_call"} for kind in kinds)
    return not plain or any(item.get("phase") for item in items)


def _parts(items: list[Any], kind: str) -> list[dict[str, Any]]:
    contents = (item.get("content") or () for item in items if item.get("type") == "message")
    return [part for content in contents for part in content if part.get("type") == kind]


def _text(items: list[Any]) -> str:
    return "".join(part.get("text") or "" for part in _parts(items, "output_text"))


def _images(items: list[Any]) -> tuple[ImageContent, ...]:
    made = [item for item in items if item.get("type") == "image_generation_call" and item.get("result")]
    return tuple(
        ImageContent(
            data=b64decode(item["result"], validate=True),
            media_type=f"image/{item.get('output_format') or 'png'}",
        )
        for item in made
    )


def _thoughts(items: list[Any]) -> list[str]:
    """The summaries of the reasoning, or the reasoning itself where a server shows it."""
    reasoning = [item for item in items if item.get("type") == "reasoning"]
    shown = (item.get("summary") or item.get("content") or () for item in reasoning)
    return [part["text"] for parts in shown for part in parts if part.get("text")]


def _calls(items: list[Any]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(
            item.get("call_id") or item.get("id") or "", item["name"], arguments_of(item.get("arguments"))
        )
        for item in items
        if item.get("type") == "function_call"
    )


def _finish_reason(data: dict[str, Any], message: AiMessage) -> FinishReason:
    if data.get("status") == "incomplete":
        reason = (data.get("incomplete_details") or {}).get("reason")
        return _INCOMPLETE.get(str(reason), FinishReason.OTHER)
    return FinishReason.TOOL_CALLS if message.tool_calls else FinishReason.STOP


def _logprobs(items: list[Any]) -> tuple[TokenLogprob, ...] | None:
    told = [token for part in _parts(items, "output_text") for token in part.get("logprobs") or ()]
    return logprobs_of(told) if told else None

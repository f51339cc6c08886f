"""Messages as JSON and back, without loss.

    {"version": 1, "messages": [{"type": "user", "contents": [{"type": "text", "text": "hello"}]}]}

What a message leaves out has its default; bytes are base64. Reading also accepts the bare list.

A newer version may write what this one does not know. Nothing of it is lost: unknown fields of a message, a
content or a tool call are kept in its `attributes` under `unknown_fields`, and a message of an unknown kind
is kept there whole, in a `CustomMessage`. Writing puts both back where they were. What changes the meaning
of the fields known here gets a new `version`, which is refused, as is a content of an unknown kind.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from .chat import (
    AiMessage,
    ChatMessage,
    CustomMessage,
    SystemMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from .contents import AudioContent, Content, ImageContent, PdfContent, TextContent, VideoContent
from .wire_form import CONTENT_FIELDS, MESSAGE_FIELDS, TOOL_CALL_FIELDS, UNKNOWN_FIELDS, VERSION

_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode


def messages_to_json(messages: Iterable[ChatMessage]) -> str:
    """Write messages as a JSON document, which `messages_from_json` reads back as equal messages.

    Raises `ValueError` naming the message and the place of what JSON cannot hold, such as half of a
    surrogate pair in a text; `TypeError` for what is no message.
    """
    forms = [_message(_checked(message)) for message in messages]
    try:
        return _written({"version": VERSION, "messages": forms})
    except (ValueError, TypeError, RecursionError):
        for index, form in enumerate(forms):
            _complain(form, f"message {index}:")
        raise


def messages_from_json(text: str) -> tuple[ChatMessage, ...]:
    """Read messages from a JSON document, or from the bare list of them.

    Raises `ValueError` for a document of a newer version, and else naming every message and place that
    cannot be read; it does not repeat what stands there.
    """
    from .reading import read_messages  # pydantic is loaded by the first who reads

    return read_messages(text)


def _checked(message: object) -> Any:
    if not isinstance(message, ChatMessage):
        raise TypeError(
            f"a {type(message).__name__} is no message: give a UserMessage or another of its kind"
        )
    return message


def _written(form: object) -> str:
    text = _encode(form)
    text.encode()  # refuses half of a surrogate pair, which no UTF-8 and no reader can hold
    return text


def _complain(form: object, path: str) -> None:
    """Raise for the first part of a form that cannot be written."""
    try:
        _written(form)
    except (ValueError, TypeError) as error:
        if isinstance(form, dict):
            for key, value in form.items():
                _complain(key, f"{path}, the name of a field")
                _complain(value, f"{path} {key}" if path.endswith(":") else f"{path}.{key}")
        if isinstance(form, list):
            for index, value in enumerate(form):
                _complain(value, f"{path}[{index}]")
        raise ValueError(f"{path} cannot be written as JSON: {error}") from None
    except RecursionError:
        raise ValueError(f"{path} cannot be written as JSON: it is nested in itself") from None


def _message(message: ChatMessage) -> dict[str, Any]:
    match message:
        case UserMessage(contents, name):
            form: dict[str, Any] = {"type": "user", "contents": [_content(each) for each in contents]}
            _put(form, name=name)
        case AiMessage(text, tool_calls, thinking):
            form = {"type": "ai"}
            calls = [_tool_call(call) for call in tool_calls] if tool_calls else None
            images = [_content(each) for each in message.images] if message.images else None
            _put(form, text=text, thinking=thinking, tool_calls=calls, images=images)
        case ToolResultMessage(tool_call_id, tool_name, contents, is_error):
            form = {"type": "tool_result", "tool_call_id": tool_call_id, "tool_name": tool_name}
            _put(form, contents=[_content(each) for each in contents], is_error=is_error or None)
        case SystemMessage(text):
            form = {"type": "system", "text": text}
        case CustomMessage(attributes):
            if (whole := _of_unknown_kind(attributes)) is not None:
                return whole
            form = {"type": "custom"}
        case _:
            assert_never(message)
    return _completed(form, message.attributes, MESSAGE_FIELDS[form["type"]])


def _content(content: Content) -> dict[str, Any]:
    match content:
        case TextContent(text):
            form: dict[str, Any] = {"type": "text", "text": text}
        case ImageContent():
            form = _media("image", content)
            _put(form, detail=content.detail)
        case AudioContent():
            form = _media("audio", content)
        case VideoContent():
            form = _media("video", content)
        case PdfContent():
            form = _media("pdf", content)
            _put(form, file_name=content.file_name)
        case _:
            assert_never(content)
    return _completed(form, content.attributes, CONTENT_FIELDS[form["type"]])


def _put(form: dict[str, Any], **fields: object) -> None:
    form |= {name: value for name, value in fields.items() if value is not None}


def _media(kind: str, media: ImageContent | AudioContent | VideoContent | PdfContent) -> dict[str, Any]:
    form: dict[str, Any] = {"type": kind}
    data = media.base64 if media.data is not None else None
    _put(form, url=media.url, data=data, media_type=media.media_type)
    return form


def _tool_call(call: ToolCall) -> dict[str, Any]:
    form: dict[str, Any] = {"id": call.id, "name": call.name, "arguments": call.arguments}
    return _completed(form, call.attributes, TOOL_CALL_FIELDS)


def _completed(form: dict[str, Any], attributes: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """Add the attributes, and put the unknown fields back where they were."""
    if not attributes:
        return form
    unknown = attributes.get(UNKNOWN_FIELDS)
    kept = dict(attributes)
    if isinstance(unknown, dict) and unknown and known.isdisjoint(unknown):
        del kept[UNKNOWN_FIELDS]
        form |= unknown
    if kept:
        form["attributes"] = kept
    return form


def _of_unknown_kind(attributes: Mapping[str, Any]) -> dict[str, Any] | None:
    whole = attributes.get(UNKNOWN_FIELDS)
    if len(attributes) != 1 or not isinstance(whole, dict):
        return None
    kind = whole.get("type")
    return whole if isinstance(kind, str) and kind not in MESSAGE_FIELDS else None

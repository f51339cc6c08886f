"""Reading messages from JSON: the form on the wire, checked by one `TypeAdapter`, and what is made of it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, NotRequired, TypeAlias

from pydantic import AfterValidator, ConfigDict, Discriminator, Tag, TypeAdapter, ValidationError
from pydantic_core import from_json
from typing_extensions import TypedDict  # the one that pydantic can read before Python 3.12

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
from .frozen import NO_ATTRIBUTES
from .wire_form import CONTENT_FIELDS, MESSAGE_FIELDS, TOOL_CALL_FIELDS, UNKNOWN_FIELDS, VERSION

Wire: TypeAlias = dict[str, Any]


def read_messages(text: str) -> tuple[ChatMessage, ...]:
    """See `messages_from_json`."""
    try:
        return tuple(_adapter().validate_python(_messages_of(from_json(text))))
    except ValidationError as error:
        # Without what stands there, and so not `from error`: it may be anybody's conversation.
        raise ValueError("\n".join(map(_sentence, error.errors(include_url=False)))) from None


def _messages_of(document: object) -> object:
    if not isinstance(document, dict):
        return document
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise ValueError("the messages' format version is missing, or not a number from 1")
    if version > VERSION:
        raise ValueError(
            f"these messages were written by a newer aiservices: their format version is {version}, "
            f"and this one reads up to {VERSION}"
        )
    if document.keys() != {"version", "messages"}:
        raise ValueError("a document of messages has the fields version and messages, and no others")
    return document["messages"]


def _kept(wire: Wire, known: frozenset[str]) -> Mapping[str, Any]:
    """The attributes, and in them the fields that a newer version has added."""
    attributes: Mapping[str, Any] = wire.get("attributes", NO_ATTRIBUTES)
    if wire.keys() <= known:
        return attributes
    if UNKNOWN_FIELDS in attributes:
        raise ValueError(f"it has unknown fields, and an attribute {UNKNOWN_FIELDS!r} already")
    return {**attributes, UNKNOWN_FIELDS: {key: wire[key] for key in wire if key not in known}}


def _system(wire: Wire) -> SystemMessage:
    return SystemMessage(wire["text"], attributes=_kept(wire, MESSAGE_FIELDS["system"]))


def _user(wire: Wire) -> UserMessage:
    return UserMessage(wire["contents"], wire.get("name"), _kept(wire, MESSAGE_FIELDS["user"]))


def _ai(wire: Wire) -> AiMessage:
    attributes = _kept(wire, MESSAGE_FIELDS["ai"])
    calls, images = wire.get("tool_calls", ()), wire.get("images", ())
    if not all(isinstance(image, ImageContent) for image in images):
        raise ValueError("what a model has made is images")
    return AiMessage(wire.get("text"), calls, wire.get("thinking"), attributes, images=images)


def _tool_result(wire: Wire) -> ToolResultMessage:
    return ToolResultMessage(
        wire["tool_call_id"],
        wire["tool_name"],
        wire["contents"],
        wire.get("is_error", False),
        _kept(wire, MESSAGE_FIELDS["tool_result"]),
    )


def _custom(wire: Wire) -> CustomMessage:
    return CustomMessage(_kept(wire, MESSAGE_FIELDS["custom"]))


def _unknown(wire: Wire) -> CustomMessage:
    return CustomMessage({UNKNOWN_FIELDS: wire})


def _tool_call(wire: Wire) -> ToolCall:
    return ToolCall(wire["id"], wire["name"], wire["arguments"], _kept(wire, TOOL_CALL_FIELDS))


def _text(wire: Wire) -> TextContent:
    return TextContent(wire["text"], attributes=_kept(wire, CONTENT_FIELDS["text"]))


def _media(make: Callable[..., Content]) -> AfterValidator:
    def media(wire: Wire) -> Content:
        known = CONTENT_FIELDS[wire["type"]]
        fields = {key: wire[key] for key in wire if key in known and key not in {"type", "attributes"}}
        return make(**fields, attributes=_kept(wire, known))

    return AfterValidator(media)


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


Attributes: TypeAlias = dict[str, Any]


class _Text(TypedDict):
    text: str
    attributes: NotRequired[Attributes]


class _Media(TypedDict):
    url: NotRequired[str | None]
    data: NotRequired[Annotated[str, AfterValidator(_bytes)] | None]
    media_type: NotRequired[str | None]
    attributes: NotRequired[Attributes]


class _Image(_Media):
    detail: NotRequired[str | None]


class _Pdf(_Media):
    file_name: NotRequired[str | None]


def _tagged(kinds: Mapping[str, object], otherwise: str | None, complaint: str) -> Discriminator:
    # Marked as tags, which pydantic mixes with the names of fields in the place of an error.
    tags = {kind: f"<{kind}>" for kind in kinds}

    def tag_of(wire: object) -> str | None:
        kind = wire.get("type") if isinstance(wire, dict) else None
        return tags.get(kind, otherwise) if isinstance(kind, str) else None

    return Discriminator(tag_of, custom_error_type="kind", custom_error_message=complaint)


_Contents: TypeAlias = list[
    Annotated[
        Annotated[_Text, AfterValidator(_text), Tag("<text>")]
        | Annotated[_Image, _media(ImageContent), Tag("<image>")]
        | Annotated[_Media, _media(AudioContent), Tag("<audio>")]
        | Annotated[_Media, _media(VideoContent), Tag("<video>")]
        | Annotated[_Pdf, _media(PdfContent), Tag("<pdf>")],
        _tagged(CONTENT_FIELDS, None, f"a content's type is one of {', '.join(CONTENT_FIELDS)}"),
    ]
]


class _User(TypedDict):
    contents: _Contents
    name: NotRequired[str | None]
    attributes: NotRequired[Attributes]


class _ToolCall(TypedDict):
    id: str
    name: str
    arguments: str
    attributes: NotRequired[Attributes]


class _Ai(TypedDict):
    text: NotRequired[str | None]
    thinking: NotRequired[str | None]
    tool_calls: NotRequired[list[Annotated[_ToolCall, AfterValidator(_tool_call)]]]
    images: NotRequired[_Contents]
    attributes: NotRequired[Attributes]


class _ToolResult(TypedDict):
    tool_call_id: str
    tool_name: str
    contents: _Contents
    is_error: NotRequired[bool]
    attributes: NotRequired[Attributes]


class _Custom(TypedDict):
    attributes: NotRequired[Attributes]


_Messages: TypeAlias = list[
    Annotated[
        Annotated[_User, AfterValidator(_user), Tag("<user>")]
        | Annotated[_Ai, AfterValidator(_ai), Tag("<ai>")]
        | Annotated[_ToolResult, AfterValidator(_tool_result), Tag("<tool_result>")]
        | Annotated[_Text, AfterValidator(_system), Tag("<system>")]
        | Annotated[_Custom, AfterValidator(_custom), Tag("<custom>")]
        | Annotated[Wire, AfterValidator(_unknown), Tag("<unknown>")],
        _tagged(MESSAGE_FIELDS, "<unknown>", "a message is an object whose type is a text"),
    ]
]


@cache
def _adapter() -> TypeAdapter[Any]:
    return TypeAdapter(_Messages, config=ConfigDict(extra="allow", strict=True))


def _sentence(error: Mapping[str, Any]) -> str:
    if not error["loc"]:
        return f"not a document of messages: {error['msg']}"
    index, *rest = error["loc"]
    path = "".join(_segment(part) for part in rest).removeprefix(".")
    reason = str(error["msg"]).removeprefix("Value error, ")
    return f"message {index}: {path}{': ' if path else ''}{reason}"


def _segment(part: int | str) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return "" if part.startswith("<") else f".{part}"

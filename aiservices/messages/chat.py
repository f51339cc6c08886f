"""The messages of a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .contents import Content, ImageContent, TextContent
from .frozen import NO_ATTRIBUTES, attributes_of


@dataclass(frozen=True, slots=True)
class SystemMessage:
    """What the model is told about its role; at most one stands in a conversation, first."""

    text: str
    attributes: Mapping[str, Any] = field(default=NO_ATTRIBUTES, hash=False, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if self.attributes is not NO_ATTRIBUTES:
            frozen = attributes_of(self.attributes, owner="SystemMessage.attributes")
            object.__setattr__(self, "attributes", frozen)


@dataclass(frozen=True, slots=True, init=False)
class UserMessage:
    """What a user says. `contents` is given as a text, one content or several; it is kept as a tuple."""

    contents: tuple[Content, ...]
    name: str | None
    attributes: Mapping[str, Any] = field(hash=False)

    def __init__(
        self,
        contents: str | Content | Iterable[Content],
        name: str | None = None,
        attributes: Mapping[str, Any] = NO_ATTRIBUTES,
    ) -> None:
        put = object.__setattr__
        put(self, "contents", _contents_of(contents))
        put(self, "name", name)
        put(self, "attributes", attributes_of(attributes, owner="UserMessage.attributes"))

    @property
    def text(self) -> str:
        """The text parts, joined by line ends; empty when there are none."""
        return _text_of(self.contents)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to have a tool run. `arguments` is the JSON text exactly as the model sent it."""

    id: str
    name: str
    arguments: str
    attributes: Mapping[str, Any] = field(default=NO_ATTRIBUTES, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", attributes_of(self.attributes, owner="ToolCall.attributes"))


@dataclass(frozen=True, slots=True)
class AiMessage:
    """What the model says.

    `attributes` carries what a provider needs back (signatures, ids), lossless through memory; the key
    `refusal` holds the words of a model that declined to answer. `images` are what it has made, where it
    makes images.
    """

    text: str | None = None
    tool_calls: Sequence[ToolCall] = ()
    thinking: str | None = None
    attributes: Mapping[str, Any] = field(default=NO_ATTRIBUTES, hash=False)
    images: Sequence[ImageContent] = field(default=(), kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if type(self.tool_calls) is not tuple:
            object.__setattr__(self, "tool_calls", tuple(self.tool_calls))
        if type(self.images) is not tuple:
            object.__setattr__(self, "images", tuple(self.images))
        if self.attributes is not NO_ATTRIBUTES:
            frozen = attributes_of(self.attributes, owner="AiMessage.attributes")
            object.__setattr__(self, "attributes", frozen)

    @property
    def refusal(self) -> str | None:
        """The model's words when it declined to answer, else `None`."""
        return self.attributes.get("refusal")


@dataclass(frozen=True, slots=True, init=False)
class ToolResultMessage:
    """What a tool gave back, or why it failed. `contents` is given as a text, one content or several."""

    tool_call_id: str
    tool_name: str
    contents: tuple[Content, ...]
    is_error: bool
    attributes: Mapping[str, Any] = field(hash=False)

    def __init__(
        self,
        tool_call_id: str,
        tool_name: str,
        contents: str | Content | Iterable[Content],
        is_error: bool = False,
        attributes: Mapping[str, Any] = NO_ATTRIBUTES,
    ) -> None:
        put = object.__setattr__
        put(self, "tool_call_id", tool_call_id)
        put(self, "tool_name", tool_name)
        put(self, "contents", _contents_of(contents))
        put(self, "is_error", is_error)
        put(self, "attributes", attributes_of(attributes, owner="ToolResultMessage.attributes"))

    @property
    def text(self) -> str:
        """The text parts, joined by line ends; empty when there are none."""
        return _text_of(self.contents)


@dataclass(frozen=True, slots=True)
class CustomMessage:
    """A message of a provider's own kind, kept and sent back as it is."""

    attributes: Mapping[str, Any] = field(hash=False)

    def __post_init__(self) -> None:
        frozen = attributes_of(self.attributes, owner="CustomMessage.attributes")
        object.__setattr__(self, "attributes", frozen)

    @property
    def text(self) -> None:
        """None: only its provider knows what it says. So every message has a `text`."""
        return None


ChatMessage: TypeAlias = SystemMessage | UserMessage | AiMessage | ToolResultMessage | CustomMessage
"""Anything that can stand in a conversation."""


def _contents_of(given: str | Content | Iterable[Content]) -> tuple[Content, ...]:
    if isinstance(given, str):
        return (TextContent(given),)
    if isinstance(given, Content):
        return (given,)
    contents = tuple(given)
    for content in contents:
        if not isinstance(content, Content):
            raise TypeError(f"a message holds contents such as TextContent, not {type(content).__name__}")
    return contents


def _text_of(contents: tuple[Content, ...]) -> str:
    if len(contents) == 1 and type(contents[0]) is TextContent:
        return contents[0].text
    return "\n".join(content.text for content in contents if isinstance(content, TextContent))

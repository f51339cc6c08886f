"""Estimating tokens without a tokenizer and without the network."""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ..messages import (
    AiMessage,
    AudioContent,
    ChatMessage,
    Content,
    ImageContent,
    SystemMessage,
    TextContent,
    ToolResultMessage,
    UserMessage,
)

PER_MESSAGE: Final = 4
PER_IMAGE: Final = 1_500
BYTES_PER_TOKEN: Final = {AudioContent: 400}
OTHER_BYTES_PER_TOKEN: Final = 25  # a page of a PDF has some 50 kB and 2,000 tokens
_WORDS: Final = (string.ascii_letters + string.whitespace).encode()
_ASCII: Final = bytes(range(128))


def estimated_tokens(messages: Sequence[ChatMessage]) -> int:
    """An estimate of the tokens of messages, rather too many than too few.

    Beside the tokenizers o200k and cl100k it is 1.0 to 1.7 times their number for prose, code and JSON in
    English, and up to 4 times for other scripts, which newer tokenizers have learned to write shorter. Only
    for random text such as keys and base64 it is too few, about a half. An image counts for 1,500 tokens,
    other media for their size.
    """
    return sum(PER_MESSAGE + math.ceil(_tokens(message)) for message in messages)


def _tokens(message: ChatMessage) -> float:
    extra = _of_attributes(message.attributes)
    match message:
        case SystemMessage(text):
            return extra + _of_text(text)
        case UserMessage(contents, name):
            return extra + _of_contents(contents) + _of_text(name)
        case ToolResultMessage(_, tool_name, contents):
            return extra + _of_contents(contents) + _of_text(tool_name)
        case AiMessage(text, tool_calls, thinking):
            calls = (call.id + call.name + call.arguments for call in tool_calls)
            return extra + sum(map(_of_text, (text, thinking, *calls)))
        case _:
            return extra


def _of_contents(contents: Iterable[Content]) -> float:
    return sum(_of_text(item.text) if isinstance(item, TextContent) else _of_media(item) for item in contents)


def _of_media(media: Any) -> float:
    if isinstance(media, ImageContent) or media.data is None:
        return PER_IMAGE
    return len(media.data) / BYTES_PER_TOKEN.get(type(media), OTHER_BYTES_PER_TOKEN)


def _of_attributes(attributes: Mapping[str, Any]) -> float:
    return _of_text(str(dict(attributes))) if attributes else 0


def _of_text(text: str | None) -> float:
    """A token for 3.5 letters, two for three digits or signs, one for two bytes of another script."""
    if not text:
        return 0
    form = text.encode("utf-8", "replace")
    others = len(form.translate(None, _WORDS))
    foreign = len(form.translate(None, _ASCII))
    return (len(form) - others) / 3.5 + (others - foreign) / 1.5 + foreign / 2

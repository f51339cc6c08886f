"""A scripted answer that is streamed piece by piece."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from ..messages import (
    ChatResponse,
    ModelEvent,
    PartialText,
    PartialThinking,
    PartialToolCall,
    ResponseDone,
)

_WORD: Final = re.compile(r"\s*\S+|\s+")


class Pieces:
    """A text in the pieces in which it is to be streamed; an exception among them is raised at its place."""

    def __init__(self, *pieces: str | BaseException) -> None:
        self.pieces = pieces

    @property
    def whole(self) -> str:
        """The text. Raises what stands among the pieces."""
        return "".join(self)

    def __iter__(self) -> Iterator[str]:
        for piece in self.pieces:
            if isinstance(piece, BaseException):
                raise piece
            yield piece

    def __repr__(self) -> str:
        return f"Pieces({', '.join(map(repr, self.pieces))})"


def pieces_of(reply: Any, response_of: Callable[[Any], ChatResponse]) -> Iterator[ModelEvent]:
    """A reply as a model streams it; a text that is not in pieces comes word by word."""
    if isinstance(reply, Pieces):
        for piece in reply:
            yield PartialText(piece)
        yield ResponseDone(response_of(reply))
        return
    response = response_of(reply)
    message = response.message
    if message.thinking:
        yield PartialThinking(message.thinking)
    for word in _WORD.findall(message.text or ""):
        yield PartialText(word)
    for index, call in enumerate(message.tool_calls):
        yield PartialToolCall(index, call.id, call.name, call.arguments)
    yield ResponseDone(response)

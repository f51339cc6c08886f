"""Models that are watched while they stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from aiservices import ChatModel, ChatRequest, ChatResponse, ModelEvent, PartialText, ResponseDone
from aiservices.messages import AiMessage


class Watched(ChatModel):
    """Streams its pieces, and notes what it gave and which of its connections are free again."""

    def __init__(self, *pieces: Any, response: ChatResponse | None = None) -> None:
        self.pieces = pieces
        self.response = response
        self.requests: list[ChatRequest] = []
        self.log: list[str] = []
        self.opened = 0
        self.freed = 0

    @property
    def events(self) -> Sequence[Any]:
        whole = "".join(piece for piece in self.pieces if isinstance(piece, str))
        done = ResponseDone(self.response or ChatResponse(AiMessage(whole)))
        return [*(PartialText(piece) if isinstance(piece, str) else piece for piece in self.pieces), done]

    def _made(self, event: Any) -> Any:
        if isinstance(event, Exception):
            raise event
        self.log.append(
            f"made {event.text}" if isinstance(event, PartialText) else f"made {type(event).__name__}"
        )
        return event

    def stream(self, request: ChatRequest) -> Iterator[ModelEvent]:
        self.requests.append(request)
        self.opened += 1
        try:
            for event in self.events:
                yield self._made(event)
        finally:
            self.freed += 1

    async def astream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        self.opened += 1
        try:
            for event in self.events:
                yield self._made(event)
        finally:
            self.freed += 1

"""The two languages of OpenAI's servers, chat completions and responses, as the model sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ...messages import ChatRequest, ChatRequestParameters, ChatResponse, ModelEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a server wants to be spoken to, where servers differ. `host` is the one whose own words go back."""

    host: str
    system_role: Literal["system", "developer"] = "system"
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    logprobs: bool = False
    send_thinking: bool = False


class Assembly(Protocol):
    """Puts the pieces of one streamed answer together. `over` tells that the last piece has come."""

    over: bool

    def feed(self, data: dict[str, Any]) -> Sequence[ModelEvent]:
        """Take the next piece; give what a reader of the stream hears of it."""
        ...

    def finish(self, *, marked: bool) -> Sequence[ModelEvent]:
        """The last events. `marked` says that the server sent its end mark, and did not just fall silent."""
        ...


class Dialect(Protocol):
    """Writes requests and reads answers; raises `Failure` for what cannot be said or understood."""

    @property
    def path(self) -> str:
        """Where requests go, below the server's address."""
        ...

    def body(
        self, request: ChatRequest, parameters: ChatRequestParameters, *, model_name: str, stream: bool
    ) -> dict[str, Any]:
        """The request as JSON values."""
        ...

    def answer(self, data: dict[str, Any]) -> ChatResponse:
        """Read a whole answer."""
        ...

    def assembly(self) -> Assembly:
        """Something that takes the pieces of one stream."""
        ...

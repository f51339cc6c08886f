"""The chat completions language: what nearly every server speaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ...messages import ChatRequest, ChatRequestParameters, ChatResponse
from .chat_answers import chat_answer
from .chat_requests import chat_body
from .chat_streams import ChatAssembly
from .dialect import Manner


@dataclass(frozen=True, slots=True)
class ChatCompletions:
    """Chat completions, spoken in a server's manner."""

    manner: Manner
    path: Final[str] = "/chat/completions"

    def body(
        self, request: ChatRequest, parameters: ChatRequestParameters, *, model_name: str, stream: bool
    ) -> dict[str, Any]:
        """The request as JSON values."""
        return chat_body(request, parameters, model_name=model_name, stream=stream, manner=self.manner)

    def answer(self, data: dict[str, Any]) -> ChatResponse:
        """Read a whole answer."""
        return chat_answer(data, self.manner.host)

    def assembly(self) -> ChatAssembly:
        """Something that takes the pieces of one stream."""
        return ChatAssembly(self.manner.host)

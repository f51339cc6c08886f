"""The responses language: OpenAI's own newer one, in which a model goes on from its earlier reasoning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ...messages import ChatRequest, ChatRequestParameters, ChatResponse
from .dialect import Manner
from .responses_answers import responses_answer
from .responses_requests import responses_body
from .responses_streams import ResponsesAssembly


@dataclass(frozen=True, slots=True)
class Responses:
    """Responses, spoken in a server's manner."""

    manner: Manner
    path: Final[str] = "/responses"

    def body(
        self, request: ChatRequest, parameters: ChatRequestParameters, *, model_name: str, stream: bool
    ) -> dict[str, Any]:
        """The request as JSON values."""
        return responses_body(request, parameters, model_name=model_name, stream=stream, manner=self.manner)

    def answer(self, data: dict[str, Any]) -> ChatResponse:
        """Read a whole answer."""
        return responses_answer(data, self.manner.host)

    def assembly(self) -> ResponsesAssembly:
        """Something that takes the pieces of one stream."""
        return ResponsesAssembly(self.manner.host)

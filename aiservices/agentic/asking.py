"""Asking a model, within a conversation, for a text or for a value of a type."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Generic, TypeVar

from outputparsers import OutputParser, output_parser

from ..driving import Driver
from ..errors import ContentFilteredError, OutputTruncatedError, RefusalError
from ..messages import ChatMessage, ChatRequest, FinishReason, ResponseFormat, UserMessage
from ..metering import spend
from ..models import Capability, ChatModel

T = TypeVar("T")

_MOST_CHARS: Final = 1_000
_parser_of: Final[Callable[[Any], OutputParser[Any]]] = cache(output_parser)


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """A value, and the words that it was read from."""

    value: T
    text: str


@dataclass(frozen=True, slots=True)
class Asker:
    """A model that is asked for an agent, which errors name, until a moment by `time.monotonic`."""

    agent: str
    model: ChatModel
    driver: Driver
    deadline: float | None = None

    async def words(self, messages: Sequence[ChatMessage]) -> str:
        """The model's text, which may be empty. Raises `ModelError`, and `TimeoutError` at the deadline."""
        return await self._said(ChatRequest(messages))

    async def typed(self, kind: type[T], messages: Sequence[ChatMessage]) -> Answer[T]:
        """A value of a type. Raises what `words` does, and `outputparsers.OutputParsingError`.

        A model that takes no schema is told what to answer, at the end of the last message, the user's.
        """
        parser = _parser_of(kind)
        schema = parser.json_schema()
        if schema is not None and Capability.JSON_SCHEMA in self.model.capabilities:
            form = ResponseFormat(parser.schema_name, schema, parser.strict)
            text = await self._said(ChatRequest(messages, response_format=form))
        else:
            *before, last = messages
            assert isinstance(last, UserMessage)
            text = await self._said(
                ChatRequest((*before, UserMessage(last.text + parser.format_instructions())))
            )
        return Answer(parser.parse(text), text)

    async def _said(self, request: ChatRequest) -> str:
        job: Any = self.driver.twin(self.model.chat, self.model.achat, request)
        if self.deadline is not None:
            job = self.driver.within(max(self.deadline - time.monotonic(), 0), job)
        response = await job
        spend(response.usage)
        if response.message.refusal:
            words = response.message.refusal[:_MOST_CHARS]
            raise RefusalError(f"{self.agent}: the model declined to answer: {words}", response=response)
        match response.finish_reason:
            case FinishReason.CONTENT_FILTER:
                raise ContentFilteredError(
                    f"{self.agent}: the provider's content filter withheld the answer", response=response
                )
            case FinishReason.LENGTH:
                raise OutputTruncatedError(
                    f"{self.agent}: the model's answer was cut off at the token limit: raise it, or give the "
                    "supervisor less to read",
                    response=response,
                )
        return response.text or ""

"""What a chat model is: four methods, of which one is enough."""

from __future__ import annotations

from abc import ABC
from collections.abc import AsyncIterator, Iterator
from enum import StrEnum
from functools import partial
from typing import Any, Final

from ..driving import aiterate_blocking, iterate_async, run_in_background, run_in_worker, wait_for
from ..errors import ServerError
from ..messages import (
    ChatRequest,
    ChatResponse,
    ModelEvent,
    PartialText,
    PartialThinking,
    ResponseDone,
    UserMessage,
)


class Capability(StrEnum):
    """What a model can do beyond answering text with text."""

    JSON_SCHEMA = "json_schema"
    JSON_SCHEMA_WITH_TOOLS = "json_schema_with_tools"
    TOOLS = "tools"
    STREAMING = "streaming"
    LOGPROBS = "logprobs"
    IMAGE_INPUT = "image_input"
    AUDIO_INPUT = "audio_input"
    PDF_INPUT = "pdf_input"


class ChatModel(ABC):  # noqa: B024 - any one of the four methods will do
    """A language model that answers conversations.

    A subclass overrides at least one of the four methods; the others work by way of it. A blocking method
    asked from asynchronous code runs in a worker thread, an asynchronous one asked from blocking code on
    a background loop. A stream made from a plain answer has one text part. Overriding none of the four
    is a `TypeError` when the class is created.

    `capabilities` says what the model can be asked for; by default it is plain text.
    """

    capabilities: frozenset[Capability] = frozenset()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if all(getattr(cls, name) is getattr(ChatModel, name) for name in _METHODS):
            raise TypeError(
                f"{cls.__name__} overrides none of {', '.join(_METHODS)}: a model needs one of them"
            )

    def chat(self, request: ChatRequest) -> ChatResponse:
        """Answer a request, blocking until the answer is whole."""
        if self._overrides("achat"):
            return run_in_background(self.achat(request))
        return _last_of(self.stream(request))

    async def achat(self, request: ChatRequest) -> ChatResponse:
        """Answer a request."""
        if self._overrides("chat") or not self._overrides("astream"):
            return await wait_for(run_in_worker(partial(self.chat, request)))
        return await _alast_of(self.astream(request))

    def stream(self, request: ChatRequest) -> Iterator[ModelEvent]:
        """Answer a request piece by piece; the last event is `ResponseDone`."""
        if self._overrides("astream"):
            return iterate_async(self.astream(request))
        return _pieces(self, request)

    def astream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        """Answer a request piece by piece; the last event is `ResponseDone`."""
        if self._overrides("stream"):
            return aiterate_blocking(partial(self.stream, request))
        return _apieces(self, request)

    def text_for(self, prompt: str) -> str:
        """The text that answers a prompt, blocking; empty where there is none. Guardrails ask like that."""
        return self.chat(ChatRequest((UserMessage(prompt),))).text or ""

    def _overrides(self, name: str) -> bool:
        return getattr(type(self), name) is not getattr(ChatModel, name)


_METHODS: Final = ("chat", "achat", "stream", "astream")
_UNFINISHED: Final = "the model's stream ended without a whole answer"


def _last_of(events: Iterator[ModelEvent]) -> ChatResponse:
    try:
        for event in events:
            if isinstance(event, ResponseDone):
                return event.response
    finally:
        close = getattr(events, "close", None)
        if close is not None:
            close()
    raise ServerError(_UNFINISHED)


async def _alast_of(events: AsyncIterator[ModelEvent]) -> ChatResponse:
    try:
        async for event in events:
            if isinstance(event, ResponseDone):
                return event.response
    finally:
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()
    raise ServerError(_UNFINISHED)


def _pieces(model: ChatModel, request: ChatRequest) -> Iterator[ModelEvent]:
    yield from _events_of(model.chat(request))


async def _apieces(model: ChatModel, request: ChatRequest) -> AsyncIterator[ModelEvent]:
    for event in _events_of(await model.achat(request)):
        yield event


def _events_of(response: ChatResponse) -> Iterator[ModelEvent]:
    if response.message.thinking:
        yield PartialThinking(response.message.thinking)
    if response.message.text:
        yield PartialText(response.message.text)
    yield ResponseDone(response)

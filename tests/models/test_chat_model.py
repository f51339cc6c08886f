"""A chat model has four methods; whichever one is written, the other three work."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar

import pytest

from aiservices.errors import ServerError
from aiservices.messages import AiMessage, ChatRequest, ChatResponse, UserMessage
from aiservices.models import Capability, ChatModel, ModelEvent, PartialText, PartialThinking, ResponseDone

tenant: ContextVar[str] = ContextVar("tenant", default="?")
REQUEST = ChatRequest([UserMessage("hello")])


def answer() -> ChatResponse:
    return ChatResponse(AiMessage(f"for {tenant.get()}", thinking="hm"))


def events() -> list[ModelEvent]:
    response = answer()
    return [PartialThinking("hm"), PartialText(response.text or ""), ResponseDone(response)]


class Blocking(ChatModel):
    def chat(self, request: ChatRequest) -> ChatResponse:
        return answer()


class Asynchronous(ChatModel):
    async def achat(self, request: ChatRequest) -> ChatResponse:
        await asyncio.sleep(0)
        return answer()


class Streaming(ChatModel):
    def stream(self, request: ChatRequest) -> Iterator[ModelEvent]:
        yield from events()


class AsynchronouslyStreaming(ChatModel):
    async def astream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        for event in events():
            await asyncio.sleep(0)
            yield event


MODELS = (Blocking, Asynchronous, Streaming, AsynchronouslyStreaming)


async def aread(model: ChatModel) -> list[ModelEvent]:
    return [event async for event in model.astream(REQUEST)]


@pytest.mark.parametrize("kind", MODELS)
class TestOneMethodIsEnough:
    def test_in_blocking_code(self, kind: type[ChatModel]) -> None:
        tenant.set("acme")
        assert kind().chat(REQUEST) == answer()
        assert list(kind().stream(REQUEST)) == events()

    def test_in_asynchronous_code(self, kind: type[ChatModel]) -> None:
        async def main() -> None:
            tenant.set("acme")
            assert await kind().achat(REQUEST) == answer()
            assert await aread(kind()) == events()

        asyncio.run(main())

    def test_in_blocking_code_on_an_event_loop(self, kind: type[ChatModel]) -> None:
        async def main() -> None:
            assert kind().chat(REQUEST) == answer()
            assert list(kind().stream(REQUEST)) == events()

        asyncio.run(main())

    def test_for_subclasses_too(self, kind: type[ChatModel]) -> None:
        class Named(kind):  # type: ignore[valid-type,misc]
            capabilities = frozenset({Capability.TOOLS})

        assert Named().chat(REQUEST) == answer()
        assert Named.capabilities == {Capability.TOOLS}


def test_none_of_the_four_is_an_error_when_the_class_is_made() -> None:
    with pytest.raises(TypeError, match="Empty overrides none of chat, achat, stream, astream"):

        class Empty(ChatModel):
            pass


def test_by_default_a_model_can_do_plain_text() -> None:
    assert Blocking.capabilities == frozenset()


def test_an_answer_without_text_is_streamed_as_its_end_alone() -> None:
    class Silent(ChatModel):
        def chat(self, request: ChatRequest) -> ChatResponse:
            return ChatResponse(AiMessage())

    assert list(Silent().stream(REQUEST)) == [ResponseDone(ChatResponse(AiMessage()))]


def test_an_asynchronous_stream_is_preferred_in_asynchronous_code() -> None:
    class Both(AsynchronouslyStreaming):
        def stream(self, request: ChatRequest) -> Iterator[ModelEvent]:
            pytest.fail("there was no need for a thread")

    assert asyncio.run(Both().achat(REQUEST)) == answer()


class TestAStream:
    def test_that_ends_without_an_answer_is_an_error(self) -> None:
        class Cut(ChatModel):
            def stream(self, request: ChatRequest) -> Iterator[ModelEvent]:
                yield PartialText("he")

        class AsynchronouslyCut(ChatModel):
            async def astream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
                yield PartialText("he")

        for model in (Cut(), AsynchronouslyCut()):
            with pytest.raises(ServerError, match="ended without a whole answer"):
                model.chat(REQUEST)
            with pytest.raises(ServerError, match="ended without a whole answer"):
                asyncio.run(model.achat(REQUEST))

    @pytest.mark.parametrize("is_async", [False, True])
    def test_is_closed_when_its_reader_leaves_and_when_its_answer_is_there(self, is_async: bool) -> None:
        log: list[str] = []

        class Closing(ChatModel):
            def stream(self, request: ChatRequest) -> Iterator[ModelEvent]:
                try:
                    yield from events()
                finally:
                    log.append("closed")

        class AsynchronouslyClosing(ChatModel):
            async def astream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
                try:
                    for event in events():
                        yield event
                finally:
                    await asyncio.sleep(0)
                    log.append("closed")

        model = AsynchronouslyClosing() if is_async else Closing()

        async def leaving() -> None:
            stream = model.astream(REQUEST)
            await anext(stream)
            await stream.aclose()  # type: ignore[attr-defined]
            assert log == ["closed"]
            await model.achat(REQUEST)
            assert log == ["closed"] * 2

        asyncio.run(leaving())
        stream = model.stream(REQUEST)
        next(stream)
        stream.close()  # type: ignore[attr-defined]
        assert log == ["closed"] * 3
        model.chat(REQUEST)
        assert log == ["closed"] * 4

    def test_hands_on_the_models_error_unchanged(self) -> None:
        error = KeyError("x")

        class Failing(ChatModel):
            async def astream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
                yield PartialText("he")
                raise error

        stream = Failing().stream(REQUEST)
        assert next(stream) == PartialText("he")
        with pytest.raises(KeyError) as caught:
            next(stream)
        assert caught.value is error

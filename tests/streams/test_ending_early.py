"""A stream that is not read to its end: the call ends, once, and leaves nothing open."""

from __future__ import annotations

import asyncio
import gc
import inspect
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Protocol

import pytest

import aiservices
from aiservices import (
    AsyncStream,
    CallFailed,
    ChatModel,
    ChatRequest,
    MessageWindowChatMemory,
    PartialText,
    ServerError,
    Stream,
    ToolCall,
    ToolFinished,
    tool,
)
from aiservices.testing import Pieces, ScriptedChatModel

from .models import Watched


class Teller(Protocol):
    def texts(self, text: str) -> Iterator[str]: ...
    def atexts(self, text: str) -> AsyncIterator[str]: ...
    def handle(self, text: str) -> Stream[str]: ...
    def ahandle(self, text: str) -> AsyncStream[str]: ...


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """What garbage collection complains of is an error of the test."""
    unraisable: list[Any] = []
    import sys

    old, sys.unraisablehook = sys.unraisablehook, unraisable.append
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
        gc.collect()
    sys.unraisablehook = old
    assert not unraisable


def teller(model: ChatModel, **options: Any) -> Teller:
    return aiservices.create(Teller, chat_model=model, **options)


def by_break(service: Teller) -> None:
    for piece in service.texts("x"):
        if piece == "b":
            break


def by_close(service: Teller) -> None:
    texts: Any = service.texts("x")
    next(texts), next(texts)
    texts.close()
    texts.close()
    assert list(texts) == []


def by_the_end_of_with(service: Teller) -> None:
    with service.handle("x") as stream:
        read_two(stream)


def by_cancel(service: Teller) -> None:
    stream = service.handle("x")
    read_two(stream)
    stream.cancel()
    stream.cancel()
    with pytest.raises(RuntimeError, match="cancelled"):
        stream.result()
    assert list(stream.events()) == []
    assert list(stream.partials()) == []


def by_cancel_while_it_reads(service: Teller) -> None:
    stream, seen = service.handle("x"), []
    for value in stream.partials():
        seen.append(value)
        if value == "ab":
            stream.cancel()
    assert seen == ["a", "ab"]


def by_an_error_of_the_reader(service: Teller) -> None:
    def reading() -> None:
        with service.handle("x") as stream:
            read_two(stream)
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        reading()


def by_dropping_the_handle(service: Teller) -> None:
    stream = service.handle("x")
    read_two(stream)
    del stream
    gc.collect()


def read_two(stream: Stream[str]) -> None:
    partials = stream.partials()
    assert [next(partials), next(partials)] == ["a", "ab"]


async def aread_two(stream: AsyncStream[str]) -> None:
    partials = aiter(stream.partials())
    assert [await anext(partials), await anext(partials)] == ["a", "ab"]


async def by_async_break(service: Teller) -> None:
    async for piece in service.atexts("x"):
        if piece == "b":
            break
    await asyncio.sleep(0.01)  # the loop closes what was dropped


async def by_async_close(service: Teller) -> None:
    texts: Any = service.atexts("x")
    await anext(texts), await anext(texts)
    await texts.aclose()
    await texts.aclose()


async def by_the_end_of_async_with(service: Teller) -> None:
    async with service.ahandle("x") as stream:
        await aread_two(stream)


async def by_async_cancel(service: Teller) -> None:
    stream = service.ahandle("x")
    await aread_two(stream)
    await stream.cancel()
    await stream.cancel()
    with pytest.raises(RuntimeError, match="cancelled"):
        await stream.result()
    assert [event async for event in stream.events()] == []
    assert [value async for value in stream.partials()] == []


async def by_the_end_of_the_task(service: Teller) -> None:
    read = asyncio.Event()

    async def reading() -> None:
        async for piece in service.atexts("x"):
            if piece == "b":
                read.set()
                await asyncio.sleep(10)

    task = asyncio.create_task(reading())
    await read.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    del task
    gc.collect()  # the task's error held what it read
    await asyncio.sleep(0.01)


BLOCKING_WAYS = [
    by_break,
    by_close,
    by_the_end_of_with,
    by_cancel,
    by_cancel_while_it_reads,
    by_an_error_of_the_reader,
    by_dropping_the_handle,
]
ASYNCHRONOUS_WAYS = [
    by_async_break,
    by_async_close,
    by_the_end_of_async_with,
    by_async_cancel,
    by_the_end_of_the_task,
]


def leave(way: Callable[[Teller], Any], service: Teller) -> None:
    if inspect.iscoroutinefunction(way):
        asyncio.run(way(service))
    else:
        way(service)


@pytest.mark.parametrize("way", [*BLOCKING_WAYS, *ASYNCHRONOUS_WAYS])
def test_leaving_early_frees_the_connection_and_remembers_nothing(way: Callable[[Teller], Any]) -> None:
    """STR-09"""
    model, memory, heard = Watched("a", "b", "c", "d"), MessageWindowChatMemory(10), list[Any]()
    service = teller(model, chat_memory=memory, listeners=[heard.append])
    leave(way, service)
    assert (model.opened, model.freed, model.log) == (1, 1, ["made a", "made b"])
    assert list(memory.messages()) == []
    assert [type(event) for event in heard].count(CallFailed) == 1
    assert "".join(service.texts("x")) == "abcd"
    assert len(memory.messages()) == 2


log: list[str] = []


@tool
def book(place: str) -> str:
    """Book a place."""
    log.append("booked")
    return "booked"


@book.compensation
def cancel(place: str) -> None:
    log.append("undone")


@pytest.mark.parametrize("way", [*BLOCKING_WAYS, *ASYNCHRONOUS_WAYS])
def test_leaving_after_a_tool_round_keeps_the_round_and_undoes_what_it_did(
    way: Callable[[Teller], Any],
) -> None:
    log.clear()
    model = ScriptedChatModel(ToolCall("c1", "book", '{"place": "Rome"}'), Pieces("a", "b", "c"))
    memory = MessageWindowChatMemory(10)
    leave(way, teller(model, chat_memory=memory, tools=[book]))
    assert log == ["booked", "undone"]
    kinds = [type(message).__name__ for message in memory.messages()]
    assert kinds == ["UserMessage", "AiMessage", "ToolResultMessage"]


def test_nothing_is_sent_for_a_stream_that_nobody_reads() -> None:
    model, heard = Watched("a"), list[Any]()
    service = teller(model, listeners=[heard.append])

    async def dropping() -> None:
        (
            service.atexts("x"),
            service.ahandle("x"),
            service.ahandle("x").events(),
            service.ahandle("x").partials(),
        )
        async with service.ahandle("x"):
            pass

    service.texts("x"), service.handle("x"), service.handle("x").events(), service.handle("x").partials()
    with service.handle("x"):
        pass
    asyncio.run(dropping())
    assert (model.requests, heard) == ([], [])


def test_a_reader_that_stops_may_go_on_later() -> None:
    stream = teller(Watched("a", "b", "c")).handle("x")
    for event in stream.events():
        if isinstance(event, PartialText):
            break
    assert next(iter(stream.partials())) == "b"
    assert stream.result().content == "abc"
    assert stream.result().content == "abc"
    assert list(stream.events()) == []


def test_an_asynchronous_reader_that_stops_may_go_on_later() -> None:
    async def reading() -> None:
        stream = teller(Watched("a", "b", "c")).ahandle("x")
        async for event in stream.events():
            if isinstance(event, PartialText):
                break
        assert (await stream.result()).content == "abc"
        assert (await stream.result()).content == "abc"

    asyncio.run(reading())


def test_partials_after_all_events_still_give_the_value() -> None:
    stream = teller(Watched("a", "b")).handle("x")
    assert list(stream.events())
    assert list(stream.partials()) == ["ab"]


def test_a_failed_stream_tells_its_error_each_time() -> None:
    stream = teller(Watched("a", ServerError("down"))).handle("x")
    for _ in range(2):
        with pytest.raises(ServerError, match="down"):
            stream.result()
    with pytest.raises(ServerError, match="down"):
        list(stream.partials())
    stream.cancel()


def test_leaving_a_call_that_has_ended_leaves_its_result() -> None:
    stream = teller(Watched("a")).handle("x")
    for event in stream.events():
        if type(event).__name__ == "CallCompleted":
            stream.cancel()
    assert stream.result().content == "a"


def test_another_thread_may_cancel() -> None:
    """It takes effect with the next event: what waits for the model cannot be interrupted."""
    reading, cancelled, seen = threading.Event(), threading.Event(), []

    class Slow(ChatModel):
        def stream(self, request: ChatRequest) -> Iterator[Any]:
            yield PartialText("a")
            reading.set()
            assert cancelled.wait(5)
            yield PartialText("b")
            raise AssertionError("nobody reads on")

    stream = teller(Slow()).handle("x")
    thread = threading.Thread(target=lambda: seen.extend(stream.partials()))
    thread.start()
    assert reading.wait(5)
    stream.cancel()
    cancelled.set()
    thread.join()
    assert seen == ["a"]
    with pytest.raises(RuntimeError, match="cancelled"):
        stream.result()


def test_another_task_may_cancel() -> None:
    async def main() -> None:
        reading, cancelled, seen = asyncio.Event(), asyncio.Event(), []

        class Slow(ChatModel):
            async def astream(self, request: ChatRequest) -> AsyncIterator[Any]:
                yield PartialText("a")
                reading.set()
                await cancelled.wait()
                yield PartialText("b")
                raise AssertionError("nobody reads on")

        stream = teller(Slow()).ahandle("x")

        async def read() -> None:
            seen.extend([value async for value in stream.partials()])

        task = asyncio.create_task(read())
        await reading.wait()
        await stream.cancel()
        cancelled.set()
        await task
        assert seen == ["a"]

    asyncio.run(main())


def test_a_tool_may_cancel_the_stream_it_runs_for() -> None:
    streams: list[Stream[str]] = []

    @tool
    def stop() -> str:
        """Stop."""
        streams[0].cancel()
        return "stopped"

    model = ScriptedChatModel(ToolCall("c1", "stop", "{}"))
    streams.append(teller(model, tools=[stop]).handle("x"))
    kinds = [type(event) for event in streams[0].events()]
    assert ToolFinished not in kinds
    assert len(model.requests) == 1

"""Calls side by side, inside event loops, in threads, cancelled, and many of them."""

from __future__ import annotations

import asyncio
import gc
import threading
import tracemalloc
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

import pytest

import aiservices
from aiservices import CallFailed, CallStarted, ChatModel, ChatRequest, ChatResponse, InvocationContext
from aiservices.testing import ScriptedChatModel
from tests.asking import answer, asking

tenant: ContextVar[str] = ContextVar("tenant", default="?")


def text_of(request: ChatRequest) -> str:
    return request.messages[-1].text  # type: ignore[union-attr]


class Echo(ChatModel):
    """Answers with the question, blocking."""

    def chat(self, request: ChatRequest) -> ChatResponse:
        return answer(f"{text_of(request)} for {tenant.get()}")


class LateEcho(ChatModel):
    """Answers with the question, after giving way to others; it has no blocking half."""

    async def achat(self, request: ChatRequest) -> ChatResponse:
        await asyncio.sleep(0.001 * (len(text_of(request)) % 3))
        return answer(f"{text_of(request)} for {tenant.get()}")


MODELS = pytest.mark.parametrize("model", [Echo, LateEcho])


@MODELS
def test_calls_side_by_side_do_not_mix(model: Callable[[], ChatModel]) -> None:
    service = aiservices.create(asking(str), chat_model=model())

    async def one(number: int) -> str:
        tenant.set(f"t{number}")
        return str(await service.aask(f"q{number}"))

    async def main() -> list[str]:
        return await asyncio.gather(*(one(number) for number in range(200)))

    assert asyncio.run(main()) == [f"q{number} for t{number}" for number in range(200)]


@MODELS
def test_blocking_calls_from_threads_do_not_mix(model: Callable[[], ChatModel]) -> None:
    service = aiservices.create(asking(str), chat_model=model())

    def one(number: int) -> str:
        tenant.set(f"t{number}")
        return str(service.ask(f"q{number}"))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(50))) == [f"q{number} for t{number}" for number in range(50)]


@MODELS
def test_a_blocking_call_works_inside_a_running_loop(model: Callable[[], ChatModel]) -> None:
    """ASY-02"""
    service = aiservices.create(asking(str), chat_model=model())

    async def main() -> str:
        tenant.set("acme")
        return str(service.ask("hi"))

    assert asyncio.run(main()) == "hi for acme"


@MODELS
def test_one_service_serves_several_loops_one_after_the_other_and_at_once(
    model: Callable[[], ChatModel],
) -> None:
    service = aiservices.create(asking(str), chat_model=model())
    assert [asyncio.run(service.aask(text)) for text in "ab"] == ["a for ?", "b for ?"]
    with ThreadPoolExecutor(4) as pool:
        got = pool.map(lambda text: asyncio.run(service.aask(text)), "abcdefgh")
        assert list(got) == [f"{text} for ?" for text in "abcdefgh"]


def test_context_variables_reach_callables_of_both_kinds_and_do_not_leak(invoke: Any) -> None:
    def system(context: InvocationContext) -> str:
        seen = tenant.get()
        tenant.set("changed by system")
        return seen

    async def transform(request: ChatRequest, context: InvocationContext) -> ChatRequest:
        seen.append(tenant.get())
        tenant.set("changed by transformer")
        return request

    seen: list[str] = []
    model = ScriptedChatModel(lambda request: tenant.get())
    service = aiservices.create(
        asking(str), chat_model=model, system_message=system, chat_request_transformer=transform
    )
    token = tenant.set("acme")
    try:
        assert invoke(service, "ask", "hi") == "acme"
        assert tenant.get() == "acme"
    finally:
        tenant.reset(token)
    assert seen == ["acme"]
    assert model.request.messages[0].text == "acme"  # type: ignore[union-attr]


@pytest.mark.parametrize("where", ["model", "system_message", "chat_request_transformer"])
def test_a_cancelled_call_is_heard_as_failed_once(where: str) -> None:
    async def hang(*_: Any) -> None:
        reached.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cleaned.append(True)
            raise

    events: list[Any] = []
    cleaned: list[bool] = []
    options = {} if where == "model" else {where: hang}
    service = aiservices.create(
        asking(str), chat_model=ScriptedChatModel(hang), listeners=[events.append], **options
    )

    async def main() -> None:
        nonlocal reached
        reached = asyncio.Event()
        task = asyncio.create_task(service.aask("hi"))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    reached: asyncio.Event
    asyncio.run(main())
    assert cleaned == [True]
    assert [type(event) for event in events if isinstance(event, CallStarted | CallFailed)] == [
        CallStarted,
        CallFailed,
    ]
    assert isinstance(events[-1].error, asyncio.CancelledError)


def test_a_call_that_takes_too_long_can_be_given_up() -> None:
    async def hang(request: ChatRequest) -> None:
        await asyncio.sleep(60)

    service = aiservices.create(asking(str), chat_model=ScriptedChatModel(hang, "ok"))

    async def main() -> str:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await service.aask("hi")
        return str(await service.aask("hi"))

    assert asyncio.run(main()) == "ok"


def test_a_call_that_is_never_awaited_asks_nothing() -> None:
    model = ScriptedChatModel()
    service = aiservices.create(asking(str), chat_model=model)
    service.aask("hi").close()
    assert not model.requests


def test_a_call_that_is_closed_half_way_is_heard_as_failed() -> None:
    events: list[Any] = []

    class Yielding:
        def __await__(self) -> Any:
            yield

    async def wait(request: ChatRequest) -> None:
        await Yielding()

    service = aiservices.create(asking(str), chat_model=ScriptedChatModel(wait), listeners=[events.append])
    call = service.aask("hi")
    call.send(None)
    call.close()
    assert isinstance(events[-1], CallFailed)
    assert isinstance(events[-1].error, GeneratorExit)


def test_a_service_called_by_another_ones_callables_does_not_deadlock(invoke: Any) -> None:
    inner = aiservices.create(asking(str), chat_model=LateEcho())

    def blocking(context: InvocationContext) -> str:
        return str(inner.ask("inner"))

    async def awaiting(request: ChatRequest, context: InvocationContext) -> ChatRequest:
        heard.append(inner.ask("blocking in a loop"))
        heard.append(await inner.aask("awaited"))
        return request

    heard: list[str] = []
    model = ScriptedChatModel("ok")
    service = aiservices.create(
        asking(str), chat_model=model, system_message=blocking, chat_request_transformer=awaiting
    )
    done: list[str] = []
    thread = threading.Thread(target=lambda: done.append(invoke(service, "ask", "hi")), daemon=True)
    thread.start()
    thread.join(5)
    assert done == ["ok"]
    assert heard == ["blocking in a loop for ?", "awaited for ?"]
    assert model.request.messages[0].text == "inner for ?"  # type: ignore[union-attr]


def test_nothing_of_a_call_stays_behind(invoke: Any) -> None:
    class Text(str):
        """A text that can be watched."""

    watched: list[weakref.ref[Any]] = []
    service = aiservices.create(asking(str), chat_model=Echo())
    failing = aiservices.create(asking(int), chat_model=Echo())
    for _ in range(3):
        text = Text("hi")
        watched.append(weakref.ref(text))
        invoke(service, "ask", text)
        with pytest.raises(aiservices.OutputParsingError):
            invoke(failing, "ask", text)
        del text
    gc.collect()
    assert [ref() for ref in watched] == [None] * 3


def test_two_thousand_calls_grow_nothing() -> None:
    class Sevens(ChatModel):
        def chat(self, request: ChatRequest) -> ChatResponse:
            return answer("7" if len(request.messages) > 1 else "?")

    service = aiservices.create(asking(int), chat_model=Sevens(), listeners=[lambda event: None])
    for _ in range(200):
        service.ask("hi")
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(2_000):
        service.ask("hi")
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 50_000

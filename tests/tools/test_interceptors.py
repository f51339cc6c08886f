"""Interceptors: around every call, the first outermost, sync or async, whatever the service is."""

from __future__ import annotations

import asyncio
import threading
import time
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import pytest

from aiservices import ToolCall, ToolContext, ToolError, ToolOutcome
from aiservices.events import ToolFinished, ToolStarted
from aiservices.memory import MessageWindowChatMemory

from .calling import Invoke, call, of_kind, results, service, texts, within

KINDS = ("blocking", "asynchronous")
span: ContextVar[str] = ContextVar("span", default="none")


def echo(text: str) -> str:
    return f"{text} in {span.get()}"


class Around:
    """An interceptor made of what it does before and after, in one kind or the other."""

    def __init__(self, kind: str, before: Any = None, after: Any = None) -> None:
        def around(asked: ToolCall, context: ToolContext, proceed: Any) -> Any:
            asked = before(asked) if before else asked
            outcome = proceed(asked)
            return after(outcome) if after else outcome

        async def aaround(asked: ToolCall, context: ToolContext, proceed: Any) -> Any:
            asked = before(asked) if before else asked
            outcome = await proceed(asked)
            await asyncio.sleep(0)
            return after(outcome) if after else outcome

        self.around = around if kind == "blocking" else aaround


@pytest.mark.parametrize("kinds", [(a, b) for a in KINDS for b in KINDS])
@pytest.mark.parametrize("tool_kind", KINDS)
def test_the_first_is_outermost_whichever_kinds_are_mixed(
    invoke: Invoke, kinds: tuple[str, str], tool_kind: str
) -> None:
    log: list[str] = []

    def noting(kind: str, name: str) -> Around:
        def before(asked: ToolCall) -> ToolCall:
            log.append(f"{name} before")
            return asked

        def after(outcome: ToolOutcome) -> ToolOutcome:
            log.append(f"{name} after")
            return replaced(outcome, f"{outcome.text}, {name}")

        return Around(kind, before, after)

    def inner(text: str) -> str:
        log.append("tool")
        return text

    asked, model = service(
        call("inner", text="x"),
        "ok",
        tools=[of_kind(tool_kind, inner)],
        interceptors=[noting(kinds[0], "first"), noting(kinds[1], "second")],
    )
    invoke(asked, "ask", "hi")
    assert log == ["first before", "second before", "tool", "second after", "first after"]
    assert texts(model.requests[-1].messages) == ["x, second, first"]


def replaced(outcome: ToolOutcome, text: str) -> ToolOutcome:
    return ToolOutcome(text, value=outcome.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parallel", [True, False])
def test_every_call_is_intercepted_once_in_every_mode(invoke: Invoke, kind: str, parallel: bool) -> None:
    """TOOL-31."""
    log: list[str] = []

    def before(asked: ToolCall) -> ToolCall:
        log.append(f"{asked.id} before")
        return asked

    def after(outcome: ToolOutcome) -> ToolOutcome:
        log.append(f"{outcome.value} after")
        return ToolOutcome("rewritten")

    def work(text: str) -> str:
        return text

    asked, model = service(
        [call("work", str(i), text=str(i)) for i in range(4)],
        "ok",
        tools=[work],
        interceptors=[Around(kind, before, after)],
        parallel_tools=parallel,
    )
    invoke(asked, "ask", "hi")
    assert sorted(log) == sorted([f"{i} {when}" for i in range(4) for when in ("before", "after")])
    assert texts(model.requests[-1].messages) == ["rewritten"] * 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tool_kind", KINDS)
def test_what_an_interceptor_sets_the_tool_sees_and_the_caller_does_not(
    invoke: Invoke, kind: str, tool_kind: str
) -> None:
    """As a tracer's current span."""

    def before(asked: ToolCall) -> ToolCall:
        assert span.get() == "the caller's"
        span.set("the interceptor's")
        return asked

    asked, model = service(
        call("echo", text="x"), "ok", tools=[of_kind(tool_kind, echo)], interceptors=[Around(kind, before)]
    )
    token = span.set("the caller's")
    invoke(asked, "ask", "hi")
    assert span.get() == "the caller's"
    span.reset(token)
    assert texts(model.requests[-1].messages) == ["x in the interceptor's"]


@pytest.mark.parametrize("kind", KINDS)
def test_calls_can_be_rewritten_and_sent_to_another_tool(invoke: Invoke, kind: str) -> None:
    def before(asked: ToolCall) -> ToolCall:
        return replace(asked, name="other", arguments='{"n": 7}')

    def other(n: int) -> str:
        return f"other {n}"

    asked, model = service(
        call("echo", "1", text="x"), "ok", tools=[echo, other], interceptors=[Around(kind, before)]
    )
    result = invoke(asked, "ask", "hi")
    (told,) = results(model.requests[-1].messages)
    assert (told.tool_call_id, told.tool_name, told.text) == ("1", "echo", "other 7")
    assert result.tool_executions[0].call == call("echo", "1", text="x")


@pytest.mark.parametrize("kind", KINDS)
def test_a_tool_that_is_not_there_is_not_there_for_interceptors_either(invoke: Invoke, kind: str) -> None:
    asked, model = service(
        [call("echo", text="x"), call("nobody")],
        "ok",
        tools=[echo],
        interceptors=[Around(kind, lambda asked: replace(asked, name="nowhere"))],
    )
    invoke(asked, "ask", "hi")
    first, second = texts(model.requests[-1].messages)
    assert "no tool 'nowhere'" in first
    assert "no tool 'nobody'" in second


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", [ToolError("not today"), ValueError("odd")])
def test_what_it_raises_is_the_failure_of_the_call(invoke: Invoke, kind: str, error: Exception) -> None:
    ran: list[str] = []

    def work() -> str:
        ran.append("work")
        return "ok"

    def before(asked: ToolCall) -> ToolCall:
        raise error

    asked, model = service(call("work"), "ok", tools=[work], interceptors=[Around(kind, before)])
    assert invoke(asked, "ask", "hi").content == "ok"
    (told,) = results(model.requests[-1].messages)
    assert told.is_error
    assert told.text == "not today" if isinstance(error, ToolError) else "odd" in told.text
    assert ran == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_tool_raises_it_may_catch(invoke: Invoke, kind: str) -> None:
    class Forgiving:
        def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> Any:
            try:
                return proceed(asked)
            except ZeroDivisionError:
                return ToolOutcome("infinity")

    class AForgiving:
        async def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> Any:
            try:
                return await proceed(asked)
            except ZeroDivisionError:
                return ToolOutcome("infinity")

    def divide() -> str:
        return str(1 / 0)

    asked, model = service(
        call("divide"),
        "ok",
        tools=[divide],
        interceptors=[Forgiving() if kind == "blocking" else AForgiving()],
    )
    invoke(asked, "ask", "hi")
    (told,) = results(model.requests[-1].messages)
    assert (told.text, told.is_error) == ("infinity", False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("given", [None, "text", 7])
def test_what_is_no_outcome_is_named(invoke: Invoke, kind: str, given: Any) -> None:
    asked, model = service(
        call("echo", text="x"), "ok", tools=[echo], interceptors=[Around(kind, after=lambda outcome: given)]
    )
    invoke(asked, "ask", "hi")
    assert (
        f"Around.around gave a {type(given).__name__}, not a ToolOutcome"
        in texts(model.requests[-1].messages)[0]
    )


@pytest.mark.parametrize("times", [0, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_it_proceeds_as_often_as_it_likes(invoke: Invoke, kind: str, times: int) -> None:
    ran, heard = list[str](), list[Any]()

    def work() -> str:
        ran.append("work")
        return "done"

    class Often:
        def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> Any:
            outcomes = [proceed(asked) for _ in range(times)]
            return outcomes[-1] if outcomes else ToolOutcome("cached")

    class AOften:
        async def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> Any:
            outcomes = [await proceed(asked) for _ in range(times)]
            return outcomes[-1] if outcomes else ToolOutcome("cached")

    asked, model = service(
        call("work"),
        "ok",
        tools=[work],
        interceptors=[Often() if kind == "blocking" else AOften()],
        listeners=[heard.append],
    )
    invoke(asked, "ask", "hi")
    assert ran == ["work"] * times
    assert texts(model.requests[-1].messages) == ["done" if times else "cached"]
    assert [type(e) for e in heard if isinstance(e, ToolStarted | ToolFinished)] == [
        ToolStarted,
        ToolFinished,
    ]


def test_an_asynchronous_one_may_give_up_a_call_of_a_blocking_service() -> None:
    """The part it gave up ends: nothing is run after it, and an asynchronous tool is cancelled."""
    log: list[str] = []

    class Impatient:
        async def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> Any:
            return await asyncio.wait_for(proceed(asked), 0.05)

    async def slow() -> str:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            log.append("cancelled")
            raise
        return "late"

    asked, model = service(call("slow"), "sorry", tools=[slow], interceptors=[Impatient()])
    began = time.monotonic()
    assert asked.ask("hi").content == "sorry"
    assert time.monotonic() - began < 2
    assert within(1, lambda: log == ["cancelled"])
    assert "TimeoutError" in texts(model.requests[-1].messages)[0]


# Cancellation


def test_a_waiting_thread_is_let_go_when_the_call_is_cancelled() -> None:
    """Its `proceed` raises: before it is called, while it runs, and afterwards."""
    left: list[str] = []
    gates = {name: threading.Event() for name in ("before", "during")}

    class Slow:
        def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> Any:
            if asked.id == "before":
                gates["before"].wait(5)
            try:
                return proceed(asked)
            except BaseException as error:
                left.append(f"{asked.id} {type(error).__name__}")
                raise

    async def hang() -> str:
        gates["during"].set()
        await asyncio.sleep(5)
        return "late"

    memory = MessageWindowChatMemory(100)
    asked, _ = service(
        [call("hang", "before"), call("hang", "during")],
        tools=[hang],
        interceptors=[Slow()],
        chat_memory=memory,
    )

    async def main() -> None:
        task = asyncio.create_task(asked.aask("hi"))
        while not gates["during"].is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        gates["before"].set()
        assert await asyncio.to_thread(within, 2, lambda: len(left) == 2)

    asyncio.run(main())
    assert sorted(left) == ["before CancelledError", "during CancelledError"]
    assert len(results(memory.messages())) == 2


def test_a_thread_that_comes_after_the_loop_is_let_go_too() -> None:
    left: list[str] = []
    gate, began = threading.Event(), threading.Event()

    class Slow:
        def around(self, asked: ToolCall, context: ToolContext, proceed: Any) -> Any:
            began.set()
            gate.wait(5)
            try:
                return proceed(asked)
            except BaseException as error:
                left.append(type(error).__name__)
                raise

    asked, _ = service(call("echo", text="x"), tools=[echo], interceptors=[Slow()])

    async def main() -> None:
        task = asyncio.create_task(asked.aask("hi"))
        while not began.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(main())
    gate.set()
    assert within(2, lambda: left == ["CancelledError"])

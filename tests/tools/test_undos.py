"""What undos are given, and effects that came late, were refused, or belong to a cancelled call."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import aiservices
from aiservices import (
    Tool,
    ToolContext,
    ToolError,
    ToolExecution,
    ToolFailedError,
    ToolOutcome,
    tool,
)
from aiservices.events import Compensated

from .calling import Invoke, World, boom, call, service, texts, within

KINDS = ("blocking", "asynchronous")
ROLLED_BACK = "Tool 'book' was executed successfully but was rolled back due to failure of tool 'boom'"


async def cancelled(asked: Any, began: threading.Event) -> None:
    """Ask, and cancel it once `began` is set."""
    task = asyncio.create_task(asked.aask("hi"))
    while not began.is_set():
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def outcomes(result: Any) -> list[bool | None]:
    """For each call whether it was undone; `None` where nobody tried."""
    return [e.compensation.undone if e.compensation else None for e in result.tool_executions]


# What an undo is given


def test_an_undo_gets_the_arguments_as_interceptors_left_them(invoke: Invoke) -> None:
    class Rewrite:
        def around(self, asked: Any, context: ToolContext, proceed: Callable[[Any], Any]) -> Any:
            return proceed(replace(asked, arguments='{"what": "other"}'))

    world = World()
    asked, _ = service(
        [call("book", what="a"), call("boom")],
        "ok",
        tools=[world.tool(), boom],
        compensation="tool_error",
        interceptors=[Rewrite()],
    )
    invoke(asked, "ask", "hi")
    assert world.log == ["book other", "cancel other #other"]


def test_an_undo_may_ask_for_the_execution_and_the_context(invoke: Invoke) -> None:
    got: list[Any] = []

    @tool
    def credit(names: list[str], context: ToolContext) -> dict[str, str]:
        got.append(context.idempotency_key)
        names.append("spoilt")
        return {"id": "TX-42"}

    @credit.compensation
    def uncredit(names: list[str], execution: ToolExecution, context: ToolContext) -> None:
        got.extend([names, execution.value, execution.text, context.idempotency_key])

    asked, _ = service(
        [call("credit", names=["a"]), call("boom")], "ok", tools=[credit, boom], compensation="tool_error"
    )
    invoke(asked, "ask", "hi")
    key, names, value, text, same_key = got
    assert (names, value, text, same_key) == (["a"], {"id": "TX-42"}, '{"id":"TX-42"}', key)


def test_a_tool_whose_value_cannot_be_told_has_done_its_work_and_is_undone(invoke: Invoke) -> None:
    """In either mode: the model was told that it failed."""
    for mode in ("tool_error", "invocation_failure"):
        undone: list[Any] = []

        @tool
        def book() -> Any:
            return object()

        @book.compensation
        def cancel(result: Any) -> None:
            undone.append(result)  # noqa: B023 - run at once

        asked, model = service(call("book"), "ok", tools=[book], compensation=mode)
        assert outcomes(invoke(asked, "ask", "hi")) == [True]
        assert [type(value) for value in undone] == [object]
        assert "TypeError" in texts(model.requests[-1].messages)[0]


@pytest.mark.parametrize("mode", ["tool_error", "invocation_failure"])
def test_an_interceptor_that_refuses_a_success_has_it_undone(invoke: Invoke, mode: Any) -> None:
    class Audit:
        def around(self, asked: Any, context: ToolContext, proceed: Callable[[Any], Any]) -> Any:
            proceed(asked)
            raise ToolError("too expensive")

    world = World()
    asked, model = service(
        call("book", what="a"), "ok", tools=[world.tool()], compensation=mode, interceptors=[Audit()]
    )
    assert outcomes(invoke(asked, "ask", "hi")) == [True]
    assert world.log == ["book a", "cancel a #a"]
    assert texts(model.requests[-1].messages) == ["too expensive"]


def test_an_undo_that_fails_after_a_refused_success_is_not_hidden(invoke: Invoke) -> None:
    class Audit:
        def around(self, asked: Any, context: ToolContext, proceed: Callable[[Any], Any]) -> Any:
            proceed(asked)
            raise ToolError("too expensive")

    world = World()
    made: Tool[..., Any] = aiservices.tool(name="book")(world.book)
    made.compensation(boom)
    asked, model = service(call("book", what="a"), "ok", tools=[made], interceptors=[Audit()])
    assert outcomes(invoke(asked, "ask", "hi")) == [False]
    (text,) = texts(model.requests[-1].messages)
    assert text.startswith("too expensive\n")
    assert "undoing it failed (ValueError): what it did still stands" in text


def test_an_answer_that_an_interceptor_gave_itself_is_not_undone(invoke: Invoke) -> None:
    class Cached:
        def around(self, asked: Any, context: ToolContext, proceed: Callable[[Any], Any]) -> Any:
            return ToolOutcome("cached") if asked.name == "book" else proceed(asked)

    world = World()
    asked, model = service(
        [call("book", what="a"), call("boom")],
        "ok",
        tools=[world.tool(), boom],
        compensation="tool_error",
        interceptors=[Cached()],
    )
    assert outcomes(invoke(asked, "ask", "hi")) == [None, None]
    assert world.log == []
    assert texts(model.requests[-1].messages)[0] == "cached"


def test_a_tool_that_ran_twice_for_one_call_is_undone_twice(invoke: Invoke) -> None:
    class Twice:
        def around(self, asked: Any, context: ToolContext, proceed: Callable[[Any], Any]) -> Any:
            proceed(asked)
            return proceed(asked)

    world = World()
    asked, _ = service(
        [call("book", what="a"), call("boom")],
        "ok",
        tools=[world.tool(), boom],
        compensation="tool_error",
        interceptors=[Twice()],
        on_tool_error=lambda error, context: "no",
    )
    assert outcomes(invoke(asked, "ask", "hi")) == [True, None]
    assert world.log == ["book a", "book a", "cancel a #a", "cancel a #a"]


# Late successes


@pytest.mark.parametrize("mode", ["tool_error", "invocation_failure", "off"])
def test_a_blocking_tool_that_succeeds_after_its_timeout_is_undone(invoke: Invoke, mode: Any) -> None:
    """The model was told that it failed, and may try again."""
    world, release, heard = World(), threading.Event(), list[Any]()

    @tool(timeout=0.05)
    def book(what: str) -> str:
        release.wait(5)
        return world.book(what)

    book.compensation(world.cancel)
    asked, _ = service(
        call("book", what="a"), "sorry", tools=[book], compensation=mode, listeners=[heard.append]
    )
    result = invoke(asked, "ask", "hi")
    assert result.tool_executions[0].is_error
    assert world.log == []
    release.set()
    if mode == "off":
        assert within(2, lambda: world.log == ["book a"])
        return
    assert within(2, lambda: any(isinstance(event, Compensated) for event in heard))
    assert world.log == ["book a", "cancel a #a"]
    assert (
        heard[-1].execution.compensation.reason == "because it ended after its call had failed (TimeoutError)"
    )


def test_a_blocking_tool_that_succeeds_after_the_cancellation_is_undone() -> None:
    """Row 383."""
    world, began, release = World(), threading.Event(), threading.Event()

    @tool
    def book(what: str) -> str:
        began.set()
        release.wait(5)
        return world.book(what)

    book.compensation(world.cancel)
    asked, _ = service(
        [call("book", "1", what="a"), call("book", "2", what="b")], tools=[book], parallel_tools=False
    )

    asyncio.run(cancelled(asked, began))
    release.set()
    assert within(2, lambda: len(world.log) == 2)
    assert world.log == ["book a", "cancel a #a"]


def test_what_is_undone_for_being_late_is_not_undone_for_a_failure_as_well(invoke: Invoke) -> None:
    world, release, undoing = World(), threading.Event(), threading.Event()

    @tool(timeout=0.03)
    def book(what: str) -> str:
        release.wait(5)
        return world.book(what)

    @book.compensation
    def cancel(what: str, result: str | None) -> None:
        undoing.set()
        time.sleep(0.03)
        world.cancel(what, result)

    def down(request: Any) -> Any:
        release.set()
        assert undoing.wait(2)
        raise OSError("down")

    asked, _ = service(call("book", what="a"), down, tools=[book])
    with pytest.raises(OSError, match="down"):
        invoke(asked, "ask", "hi")
    assert within(2, lambda: world.standing == [])
    time.sleep(0.05)
    assert world.log == ["book a", "cancel a #a"]


def test_a_late_failure_needs_no_undo(invoke: Invoke) -> None:
    world, release, ended = World(), threading.Event(), threading.Event()

    @tool(timeout=0.03)
    def book(what: str) -> str:
        release.wait(5)
        ended.set()
        raise OSError

    book.compensation(world.cancel)
    asked, _ = service(call("book", what="a"), "sorry", tools=[book])
    invoke(asked, "ask", "hi")
    release.set()
    assert ended.wait(2)
    time.sleep(0.02)
    assert world.log == []


# Cancellation


@pytest.mark.parametrize("kind", KINDS)
def test_a_cancelled_call_is_undone_to_the_end_however_often_it_is_cancelled(kind: str) -> None:
    world = World()

    def cancel(what: str, result: str | None) -> None:
        time.sleep(0.03)
        world.cancel(what, result)

    async def acancel(what: str, result: str | None) -> None:
        await asyncio.sleep(0.03)
        world.cancel(what, result)

    async def hang() -> str:
        await asyncio.sleep(5)
        return "late"

    made: Tool[..., Any] = aiservices.tool(name="book")(world.book)
    made.compensation(cancel if kind == "blocking" else acancel)
    calls = [call("book", str(i), what=str(i)) for i in range(3)]
    asked, _ = service([*calls, call("hang")], tools=[made, hang])

    async def main() -> None:
        task = asyncio.create_task(asked.aask("hi"))
        while len(world.standing) < 3:
            await asyncio.sleep(0.001)
        for _ in range(5):
            task.cancel()
            await asyncio.sleep(0.01)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert world.standing == []
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert len(world.log) == 6


def test_an_undo_after_a_failed_call_is_not_broken_off_by_a_cancellation() -> None:
    """It would be undone once more: the thread of the first undo goes on."""
    world, began = World(), threading.Event()

    def cancel(what: str, result: str | None) -> None:
        began.set()
        time.sleep(0.05)
        world.cancel(what, result)

    made: Tool[..., Any] = aiservices.tool(name="book")(world.book)
    made.compensation(cancel)
    asked, _ = service([call("book", what="a"), call("boom")], tools=[made, boom], compensation="tool_error")

    asyncio.run(cancelled(asked, began))
    time.sleep(0.1)
    assert world.log == ["book a", "cancel a #a"]


def test_ctrl_c_during_an_undo_takes_effect_after_it() -> None:
    world = World()

    def cancel(what: str, result: str | None) -> None:
        if what == "c":
            signal.raise_signal(signal.SIGINT)
        world.cancel(what, result)

    made: Tool[..., Any] = aiservices.tool(name="book")(world.book)
    made.compensation(cancel)
    calls = [call("book", what, what=what) for what in "abc"]
    asked, _ = service(calls, OSError("down"), tools=[made], parallel_tools=False)
    with pytest.raises(KeyboardInterrupt) as caught:
        asked.ask("hi")
    assert isinstance(caught.value.__context__, OSError)
    assert world.standing == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_cancelling_and_failing_at_the_same_time_undoes_once() -> None:
    """Row 384."""
    for number in range(30):
        world = World()

        async def fail() -> str:
            await asyncio.sleep(0.002)
            raise OSError

        async def main() -> None:
            asked, _ = service(
                [call("book", what="a"), call("fail")],
                tools=[world.tool(kind="asynchronous"), fail],  # noqa: B023
                on_tool_error="raise",
            )
            task = asyncio.create_task(asked.aask("hi"))
            await asyncio.sleep(0.0002 * number)  # noqa: B023
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled() or isinstance(task.exception(), ToolFailedError)

        asyncio.run(main())
        assert world.log in ([], ["book a", "cancel a #a"])

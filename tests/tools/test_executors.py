"""Executors: how a call is run, apart from what the model sees."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any

import pytest

import aiservices
from aiservices import ToolCall, ToolContext, ToolError, ToolExecutor, ToolOutcome, ToolRegistry, tool

from .calling import Invoke, World, boom, call, results, service, texts

tenant: ContextVar[str] = ContextVar("tenant", default="?")


def local(text: str) -> str:
    raise AssertionError("the executor runs the calls")


class Blocking(ToolExecutor):
    def execute(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        return ToolOutcome(f"{call.name} by {type(self).__name__} for {tenant.get()}", value=call.arguments)


class Asynchronous(ToolExecutor):
    async def aexecute(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        await asyncio.sleep(0)
        return ToolOutcome(f"{call.name} by {type(self).__name__} for {tenant.get()}", value=call.arguments)


class Both(ToolExecutor):
    def __init__(self) -> None:
        self.used: list[str] = []

    def execute(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        self.used.append("execute")
        return ToolOutcome(f"{call.name} by Both for {tenant.get()}", value=call.arguments)

    async def aexecute(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        self.used.append("aexecute")
        return ToolOutcome(f"{call.name} by Both for {tenant.get()}", value=call.arguments)


@pytest.mark.parametrize("kind", [Blocking, Asynchronous, Both])
@pytest.mark.parametrize("calls", [1, 3])
def test_one_half_is_enough(invoke: Invoke, kind: Any, calls: int) -> None:
    executor = kind()
    asked, model = service(
        [call("local", str(i), text="x") for i in range(calls)], "ok", tools=[local], tool_executor=executor
    )
    token = tenant.set("acme")
    result = invoke(asked, "ask", "hi")
    tenant.reset(token)
    assert texts(model.requests[-1].messages) == [f"local by {kind.__name__} for acme"] * calls
    assert {execution.value for execution in result.tool_executions} == {'{"text": "x"}'}


def test_the_half_that_fits_is_used() -> None:
    both = Both()
    asked, _ = service(call("local", text="x"), "ok", tools=[local], tool_executor=both)
    asked.ask("hi")
    asked, _ = service(call("local", text="x"), "ok", tools=[local], tool_executor=both)
    asyncio.run(asked.aask("hi"))
    assert both.used == ["execute", "aexecute"]


def test_no_half_is_a_mistake_of_the_class() -> None:
    with pytest.raises(TypeError, match="Neither overrides neither execute nor aexecute"):

        class Neither(ToolExecutor):
            pass


def test_it_is_asked_only_for_tools_that_are_there(invoke: Invoke) -> None:
    """AJ-11"""
    seen: list[str] = []

    class Noting(ToolExecutor):
        def execute(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
            seen.append(call.name)
            return ToolOutcome("ok")

    asked, model = service(
        [call("local", text="x"), call("nobody")],
        "ok",
        tool_registry=ToolRegistry([local]),
        tool_executor=Noting(),
    )
    invoke(asked, "ask", "hi")
    assert seen == ["local"]
    assert "no tool 'nobody'" in texts(model.requests[-1].messages)[1]


@pytest.mark.parametrize("error", [ToolError("no"), KeyError("x"), aiservices.ToolArgumentsError("bad")])
def test_what_it_raises_is_what_the_tool_raised(invoke: Invoke, error: Exception) -> None:
    class Failing(ToolExecutor):
        def execute(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
            raise error

    asked, _ = service(
        call("local", text="x"),
        "ok",
        tools=[local],
        tool_executor=Failing(),
        on_tool_argument_error=lambda error, context: "the arguments",
    )
    (execution,) = invoke(asked, "ask", "hi").tool_executions
    assert execution.error is error
    assert (execution.text == "the arguments") is isinstance(error, aiservices.ToolArgumentsError)


@pytest.mark.parametrize("kind", ["execute", "aexecute"])
def test_what_is_no_outcome_is_named(invoke: Invoke, kind: str) -> None:
    def execute(self: Any, call: ToolCall, context: ToolContext) -> Any:
        return "text"

    async def aexecute(self: Any, call: ToolCall, context: ToolContext) -> Any:
        return "text"

    odd: Any = type("Odd", (ToolExecutor,), {kind: execute if kind == "execute" else aexecute})
    asked, model = service(call("local", text="x"), "ok", tools=[local], tool_executor=odd())
    invoke(asked, "ask", "hi")
    (told,) = results(model.requests[-1].messages)
    assert told.is_error
    assert f"Odd.{kind} gave a str, not a ToolOutcome" in told.text


def test_what_it_did_is_undone_with_the_value_it_gave(invoke: Invoke) -> None:
    world = World()

    class Remote(ToolExecutor):
        def execute(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
            if call.name == "boom":
                return ToolOutcome("it broke", is_error=True)
            return ToolOutcome("booked", value=world.book("a"))

    asked, model = service(
        [call("book", what="a"), call("boom")],
        "sorry",
        tools=[world.tool(), boom],
        tool_executor=Remote(),
        compensation="tool_error",
        parallel_tools=False,
    )
    invoke(asked, "ask", "hi")
    assert world.log == ["book a", "cancel a #a"]
    assert texts(model.requests[-1].messages)[1] == "it broke"


def test_an_outcome_that_is_an_error_is_no_success(invoke: Invoke) -> None:
    undone: list[str] = []

    @tool
    def book() -> ToolOutcome:
        return ToolOutcome("sold out", is_error=True)

    @book.compensation
    def cancel() -> None:
        undone.append("book")

    asked, _ = service([call("book"), call("boom")], "sorry", tools=[book, boom], compensation="tool_error")
    invoke(asked, "ask", "hi")
    assert undone == []

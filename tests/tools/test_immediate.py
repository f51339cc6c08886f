"""Immediate tools: what they give goes to the caller, without another request to the model."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from aiservices import (
    ConfigurationError,
    ImageContent,
    ImmediateValueError,
    Result,
    ReturnBehavior,
    Tool,
    ToolError,
    ToolSpec,
    tool,
)
from aiservices.memory import MessageWindowChatMemory
from aiservices.messages import AiMessage, FinishReason

from .calling import Invoke, World, call, results, service

RETURNS = {
    "T": ReturnBehavior.TO_MODEL,
    "I": ReturnBehavior.IMMEDIATE,
    "L": ReturnBehavior.IMMEDIATE_IF_LAST,
}


def tools() -> list[Tool[..., Any]]:
    def make(name: str) -> Tool[..., Any]:
        def give(value: str | None = None, fails: bool = False) -> str | None:
            if fails:
                raise ToolError("no")
            return value

        return tool(name=name, returns=RETURNS[name])(give)

    return [make(name) for name in RETURNS]


# Rows 339 to 368. T: to the model; I: immediate; L: immediate if last; x: failed.
IMMEDIATE = ("I", "I I", "L", "L L", "T L", "I L", "L I", "T I L", "I T L")
ASKED_AGAIN = (
    "T",
    "T T",
    "T I",
    "I T",
    "L T",
    "T L I",
    "I L T",
    "L T I",
    "L I T",
    "Tx",
    "Ix",
    "Lx",
    "Ix I",
    "I Ix",
    "Tx L",
    "T Lx",
    "Ix L",
    "I Lx",
    "Tx I L",
    "T Ix L",
    "T I Lx",
)


def round_of(row: str) -> list[Any]:
    return [
        call(name[0], str(number), value=f"{name}{number}", fails=name.endswith("x"))
        for number, name in enumerate(row.split())
    ]


@pytest.mark.parametrize("row", IMMEDIATE)
def test_the_values_go_to_the_caller(invoke: Invoke, row: str) -> None:
    asked, model = service(round_of(row), tools=tools())
    result = invoke(asked, "ask", "hi")
    assert len(model.requests) == 1
    assert result.content is None
    assert result.immediate
    assert result.finish_reason is FinishReason.TOOL_CALLS
    values = [f"{name}{number}" for number, name in enumerate(row.split())]
    assert [execution.value for execution in result.tool_executions] == values
    assert [message.text for message in results(result.exchange)] == values


@pytest.mark.parametrize("row", ASKED_AGAIN)
def test_otherwise_the_model_is_asked_again(invoke: Invoke, row: str) -> None:
    asked, model = service(round_of(row), "ok", tools=tools())
    result = invoke(asked, "ask", "hi")
    assert (result.content, result.immediate, len(model.requests)) == ("ok", False, 2)
    assert len(result.tool_executions) == len(row.split())


def test_only_the_last_round_counts(invoke: Invoke) -> None:
    asked, model = service(call("T", value="a"), call("I", value="b"), tools=tools(), returns=str)
    assert invoke(asked, "ask", "hi") == "b"
    assert len(model.requests) == 2


@pytest.mark.parametrize("names", [("I",), ("I", "L"), ("T", "L")])
def test_a_plain_return_type_gets_the_one_value_there_is(invoke: Invoke, names: tuple[str, ...]) -> None:
    calls = [call(name, str(i), value="it" if i == len(names) - 1 else None) for i, name in enumerate(names)]
    asked, _ = service(calls, tools=tools(), returns=str | None)
    assert invoke(asked, "ask", "hi") == "it"


def test_no_value_at_all_is_none(invoke: Invoke) -> None:
    asked, _ = service([call("I", "1"), call("I", "2")], tools=tools(), returns=str | None)
    assert invoke(asked, "ask", "hi") is None


def test_several_values_fit_no_plain_type(invoke: Invoke) -> None:
    asked, _ = service([call("I", "1", value="a"), call("I", "2", value="b")], tools=tools(), returns=str)
    with pytest.raises(
        ImmediateValueError, match=r"Asker.a?ask cannot return .*\(str, str\): declare -> Result"
    ) as caught:
        invoke(asked, "ask", "hi")
    assert [execution.value for execution in caught.value.tool_executions] == ["a", "b"]


def test_a_value_of_another_type_that_only_shows_now_is_an_error(invoke: Invoke) -> None:
    dynamic = Tool(ToolSpec("give"), lambda: 7, returns=ReturnBehavior.IMMEDIATE)
    asked, _ = service(call("give"), tools=[dynamic], returns=str)
    with pytest.raises(ImmediateValueError, match=r"\(int\)") as caught:
        invoke(asked, "ask", "hi")
    assert caught.value.call == call("give")


def test_a_misfit_that_shows_at_once_is_refused_at_once() -> None:
    @tool(returns=ReturnBehavior.IMMEDIATE)
    def give() -> int:
        return 7

    with pytest.raises(ConfigurationError, match="the immediate tool 'give' returns"):
        service(tools=[give], returns=str)
    service(tools=[give], returns=int)
    service(tools=[give], returns=Result[str])


def test_values_of_any_type_pass_as_they_are(invoke: Invoke) -> None:
    value = {"a": [1, 2]}

    @tool(returns=ReturnBehavior.IMMEDIATE)
    def give() -> dict[str, list[int]]:
        return value

    asked, _ = service(call("give"), tools=[give], returns=dict[str, list[int]])
    assert invoke(asked, "ask", "hi") is value


class Model(BaseModel):
    id: str


@dataclass
class Data:
    id: str


class Typed(TypedDict):
    id: str


class Named(NamedTuple):
    id: str


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Model, Model(id="a")),
        (Data, Data("a")),
        (Typed, {"id": "a"}),
        (Named, Named("a")),
        (list[Model], [Model(id="a")]),
        (Data | None, Data("a")),
        (ImageContent, ImageContent(url="https://example.com/cat.png")),
    ],
    ids=str,
)
def test_a_value_of_a_class_passes_where_the_method_returns_that_class(
    invoke: Invoke, kind: Any, value: Any
) -> None:
    def book() -> Any:
        return value

    book.__annotations__["return"] = kind
    asked, _ = service(call("book"), returns=kind, tools=[tool(returns=ReturnBehavior.IMMEDIATE)(book)])
    assert invoke(asked, "ask", "hi") == value
    spec = ToolSpec("book", "", {"type": "object", "properties": {}})
    other = Tool(spec, lambda: Decimal(1), returns=ReturnBehavior.IMMEDIATE)
    asked, _ = service(call("book"), returns=kind, tools=[other])
    with pytest.raises(ImmediateValueError, match="Decimal"):
        invoke(asked, "ask", "hi")


def test_a_misfit_undoes_what_was_done(invoke: Invoke) -> None:
    world = World()
    made = tool(name="book", returns=ReturnBehavior.IMMEDIATE)(world.book)
    made.compensation(world.cancel)
    asked, _ = service([call("book", "1", what="a"), call("book", "2", what="b")], tools=[made], returns=str)
    with pytest.raises(ImmediateValueError):
        invoke(asked, "ask", "hi")
    assert world.standing == []


def test_memory_ends_with_the_results(invoke: Invoke) -> None:
    memory = MessageWindowChatMemory(100)
    asked, model = service(
        [call("I", "1", value="a"), call("I", "2", value="b")], "fine", tools=tools(), chat_memory=memory
    )
    invoke(asked, "ask", "hi")
    kept = memory.messages()
    assert [message.text for message in results(kept)] == ["a", "b"]
    assert isinstance(kept[-3], AiMessage)
    assert len(kept) == 4
    assert invoke(asked, "ask", "and now?").content == "fine"
    assert len(model.requests[-1].messages) == 5


def test_a_tool_that_is_not_there_is_not_immediate(invoke: Invoke) -> None:
    """A call of a tool that is not there has failed: the model is asked again."""
    asked, model = service([call("I", value="a"), call("nobody")], "ok", tools=tools())
    assert invoke(asked, "ask", "hi").content == "ok"
    assert len(model.requests) == 2

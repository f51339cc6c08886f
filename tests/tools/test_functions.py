"""`@tool` on everything that can be called, and what it refuses."""

from __future__ import annotations

import asyncio
import functools
import math
from collections.abc import Callable
from typing import Any

import pytest

import aiservices
from aiservices import ConfigurationError, ToolContext
from aiservices.messages import ToolCall, ToolSpec
from aiservices.testing import ScriptedChatModel
from aiservices.tools import ReturnBehavior, Tool, ToolRegistry, tool, tools_of
from tests.tools.given import CONTEXT, Asker, audited, called, properties, results


@tool
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


@tool
async def triple(number: int) -> int:
    return 3 * number


class Doubler:
    """Something that doubles."""

    def __call__(self, number: int) -> int:
        return 2 * number


class Desk:
    """One tool for each kind of method, in both orders of the decorators."""

    def __init__(self, more: int = 10) -> None:
        self.more = more

    @tool
    def add(self, a: int, b: int) -> int:
        return a + b + self.more

    @tool
    async def add_later(self, a: int, b: int) -> int:
        return a + b + self.more

    @tool
    @staticmethod
    def outer_static(a: int) -> int:
        return a

    @staticmethod
    @tool
    def inner_static(a: int) -> int:
        return a

    @tool
    @staticmethod
    async def static_later(a: int) -> int:
        return a

    @tool
    @classmethod
    def outer_class(cls, a: int) -> str:
        return f"{cls.__name__} {a}"

    @classmethod
    @tool
    def inner_class(cls, a: int) -> str:
        return f"{cls.__name__} {a}"

    @property
    def broken(self) -> int:
        raise AssertionError("a property was evaluated")


class LargeDesk(Desk):
    pass


def test_a_tool_is_called_like_the_function_it_was_made_of() -> None:
    assert double(4) == 8
    assert double(number=4) == 8
    assert asyncio.run(triple(4)) == 12
    assert (double.name, vars(double)["__name__"], double.__doc__) == ("double", "double", "Double a number.")
    assert repr(double) == "<tool double>"
    assert double.spec == ToolSpec(
        "double",
        "Double a number.",
        {
            "type": "object",
            "properties": {"number": {"type": "integer"}},
            "required": ["number"],
            "additionalProperties": False,
        },
        strict=True,
    )


def test_what_the_decorator_says_wins_over_the_function() -> None:
    """Rows 250 and 256."""

    @tool(
        name="get_it",
        description="Get it.",
        returns=ReturnBehavior.IMMEDIATE,
        timeout=5,
        attributes={"one": "one", "two": 2},
    )
    def f() -> int:
        """Do it."""
        return 1

    assert (f.spec.name, f.spec.description, f.spec.attributes) == (
        "get_it",
        "Get it.",
        {"one": "one", "two": 2},
    )
    assert (f.returns, f.timeout, f()) == (ReturnBehavior.IMMEDIATE, 5, 1)


def test_a_tool_without_parameters_says_so() -> None:
    """Row 252: an object without properties, as every provider takes it, not nothing."""

    @tool
    def now(ctx: ToolContext) -> str:
        return ctx.service

    assert now.spec.parameters == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("make", "name", "description"),
    [
        (Doubler, "Doubler", "Something that doubles."),
        (lambda: Doubler().__call__, "__call__", ""),
        (lambda: functools.partial(double.execute), "double", "Double a number."),
        (lambda: functools.partial(Doubler()), "Doubler", ""),
        (lambda: functools.lru_cache(double.execute), "double", "Double a number."),
        (lambda: double.execute, "double", "Double a number."),
    ],
    ids=["object", "method", "partial", "partial of object", "cached", "function"],
)
def test_whatever_can_be_called_can_be_a_tool(make: Callable[[], Any], name: str, description: str) -> None:
    (made,) = tools_of(make())
    assert (made.name, made.spec.description) == (name, description)
    assert called(made, '{"number": 4}') == 8


def test_a_partial_offers_what_is_left() -> None:
    def add(a: int, b: int, c: int = 1) -> int:
        return a + b + c

    first = functools.partial(add, 10)
    assert set(properties(first)) == {"b", "c"}
    assert called(first, '{"b": 2}') == 13
    named = functools.partial(add, b=20)
    assert tools_of(named)[0].spec.parameters["required"] == ["a"]
    assert called(named, '{"a": 1}') == 22
    assert called(named, '{"a": 1, "b": 2}') == 4


def test_the_docstring_of_a_constructor_says_nothing_of_a_call() -> None:
    class Adder:
        """Adds.

        Args:
            more: How much, given to the constructor.
        """

        def __call__(self, number: int) -> int:
            return number

    assert tools_of(Adder())[0].spec.description == "Adds."


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (lambda number: number, r"tool '<lambda>', parameter 'number': it has no annotation"),
        (lambda: 1, r"tool '<lambda>': providers take names of 1 to 64 letters"),
        (len, r"tool 'len', parameter 'obj': it has no annotation"),
        (print, r"tool 'print', parameter 'args': a model cannot send a varying number of arguments"),
        (math.sqrt, r"tool 'sqrt', parameter 'x': it has no annotation"),
        (max, r"tool 'max': nothing tells its parameters: wrap it in a function"),
    ],
    ids=["lambda", "lambda without parameters", "len", "print", "sqrt", "max"],
)
def test_what_says_too_little_is_refused_with_a_hint(item: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        ToolRegistry([item])


def test_a_lambda_is_a_tool_under_a_name() -> None:
    assert called(tool(name="one")(lambda: 1)) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": 0}, "tool 'f': timeout is 0: give seconds above 0"),
        ({"timeout": -1.5}, "timeout is -1.5"),
        ({"timeout": math.nan}, "timeout is nan"),
        ({"returns": "later"}, "tool 'f': returns is 'later': give a ReturnBehavior"),
    ],
)
def test_a_wrong_option_is_told_where_the_tool_is_declared(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):

        @tool(**options)
        def f() -> None: ...


def test_a_class_and_what_cannot_be_called_are_no_tools() -> None:
    with pytest.raises(ConfigurationError, match="Desk is a class: make a tool of a function that makes one"):
        tool(Desk)
    with pytest.raises(ConfigurationError, match="3 cannot be called"):
        tool(3)  # type: ignore[call-overload]
    with pytest.raises(ConfigurationError, match="'go' cannot be called"):
        Tool(ToolSpec("x"), "go")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("add", '{"a": 1, "b": 2}', 13),
        ("add_later", '{"a": 1, "b": 2}', 13),
        ("outer_static", '{"a": 1}', 1),
        ("inner_static", '{"a": 1}', 1),
        ("static_later", '{"a": 1}', 1),
        ("outer_class", '{"a": 1}', "LargeDesk 1"),
        ("inner_class", '{"a": 1}', "LargeDesk 1"),
    ],
)
def test_methods_of_every_kind_are_tools(name: str, arguments: str, value: object) -> None:
    """TOOL-14 and row 263: given an object, and given one bound method."""
    desk = LargeDesk()
    registry = ToolRegistry([desk])
    assert "self" not in registry[name].spec.parameters["properties"]
    assert "cls" not in registry[name].spec.parameters["properties"]
    assert called(registry[name], arguments) == value
    assert called(getattr(desk, name), arguments) == value


def test_each_object_has_tools_of_its_own(invoke: Any) -> None:
    """TOOL-14."""
    call = ToolCall("c1", "add", '{"a": 1, "b": 2}')
    assert [result.text for result in results(invoke, [Desk(10)], call)] == ["13"]
    assert [result.text for result in results(invoke, [Desk(20).add], call)] == ["23"]


def test_a_method_without_its_object_is_refused_and_a_static_one_needs_none() -> None:
    with pytest.raises(
        ConfigurationError, match="tool 'add' is a method of a class: give an object of that class"
    ):
        ToolRegistry([Desk.add])
    with pytest.raises(ConfigurationError, match="is a method of a class"):
        ToolRegistry([Doubler.__call__])
    assert called(Desk.outer_static, '{"a": 1}') == called(Desk.inner_static, '{"a": 1}') == 1
    assert called(LargeDesk.outer_class, '{"a": 1}') == "LargeDesk 1"


def test_methods_work_on_objects_without_a_dictionary() -> None:
    class Slotted:
        __slots__ = ("number",)

        @tool
        def get(self) -> int:
            return 7

    assert called(Slotted()) == 7


def test_a_decorator_around_a_tool_runs_and_the_tool_keeps_what_it_said() -> None:
    """TOOL-33: also a function's own attributes never change the tool's."""
    log: list[str] = []

    @audited(log)
    @tool(name="outside", returns=ReturnBehavior.IMMEDIATE, timeout=3)
    def f(number: int) -> int:
        return number

    @tool
    @audited(log)
    def g(number: int) -> int:
        """Inside."""
        return number

    registry = ToolRegistry([f, g])
    assert list(registry) == ["outside", "g"]
    assert (registry["outside"].returns, registry["outside"].timeout) == (ReturnBehavior.IMMEDIATE, 3)
    assert called(registry["outside"], '{"number": 1}') == called(registry["g"], '{"number": 1}') == 1
    assert log == ["f", "g"]


def test_attributes_of_a_function_do_not_become_those_of_its_tool() -> None:
    def f(number: int) -> int:
        return number

    f.timeout = -1  # type: ignore[attr-defined]
    f.execute = None  # type: ignore[attr-defined]
    made = tool(f)
    assert (made.timeout, made(3)) == (None, 3)


def test_a_decorated_method_is_found_in_its_object_and_bound() -> None:
    log: list[str] = []

    class Desk:
        @audited(log)
        @tool
        def add(self, a: int) -> int:
            return a + 1

    assert called(Desk(), '{"a": 1}') == called(Desk().add, '{"a": 1}') == 2
    assert log == ["add", "add"]
    with pytest.raises(ConfigurationError, match="is a method of a class"):
        ToolRegistry([Desk.add])


def test_a_tool_of_a_tool_is_the_same_call() -> None:
    assert called(tool(name="again")(double), '{"number": 2}') == 4


def test_a_schema_is_built_once_for_a_tool_and_not_for_each_call() -> None:
    model = ScriptedChatModel(
        ToolCall("1", "double", '{"number": 1}'), ToolCall("2", "double", '{"number": 2}'), "done"
    )
    service = aiservices.create(Asker, chat_model=model, tools=[double])
    first = double.signature
    service.ask("go")
    assert all(request.tools[0].parameters is double.spec.parameters for request in model.requests)
    assert double.signature is first


def test_a_tool_gets_its_context_wherever_it_asks_for_it() -> None:
    def first(ctx: ToolContext, q: str) -> str:
        return f"{ctx.memory_id} {q}"

    assert called(first, '{"q": "x"}') == f"{CONTEXT.memory_id} x"

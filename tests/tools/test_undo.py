"""Compensations as they are declared: what they may ask for, and what does not fit the tool."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Annotated, Any, Optional, Protocol

import pytest
from pydantic import Field

import aiservices
from aiservices import ConfigurationError, InvocationParameters, MemoryId, ToolContext
from aiservices.messages import ToolExecution, ToolSpec
from aiservices.stores import MemoryStore
from aiservices.testing import ScriptedChatModel
from aiservices.tools import Tool, ToolOutcome, ToolRegistry, tool
from tests.tools.given import CONTEXT, PARAMETERS, Asker

if TYPE_CHECKING:
    from decimal import Decimal as Money

EXECUTION = ToolExecution(CONTEXT.call, "booking", None, False, None, "booking")


def booking() -> Tool[..., Any]:
    """A new tool each time, for an undo of its own."""

    @tool
    def book(city: str, seats: Annotated[int, Field(ge=1)] = 1, *, ctx: ToolContext) -> str:
        return f"{city} {seats} {ctx.service}"

    return book


def undone(made: Tool[..., Any], text: str = '{"city": "PAR", "seats": 2}') -> Any:
    """What the tool's undo returns when it undoes a call with these arguments."""
    (registered,) = ToolRegistry([made]).values()
    assert registered.undo is not None
    value = registered.undo.prepared(registered.signature.read(text), EXECUTION, CONTEXT)()
    return asyncio.run(value) if inspect.iscoroutine(value) else value


def test_an_undo_gets_the_arguments_it_names_and_what_it_asks_for() -> None:
    made = booking()

    @made.compensation
    def cancel(  # type: ignore[no-untyped-def]
        seats: int,
        city,
        result: str,
        execution: ToolExecution,
        context: ToolContext,
        parameters: InvocationParameters,
        user: Annotated[str, MemoryId],
        extra: int = 5,
    ) -> Any:
        return city, seats, result, execution, context, parameters, user, extra

    assert undone(made) == ("PAR", 2, "booking", EXECUTION, CONTEXT, PARAMETERS, "m1", 5)
    assert undone(made, '{"city": "PAR"}')[1] == 1


def test_an_undo_may_want_nothing_everything_or_be_asynchronous() -> None:
    made = booking()
    made.compensation(lambda: "nothing")
    assert undone(made) == "nothing"

    made = booking()

    @made.compensation
    async def cancel(**arguments: Any) -> Any:
        return arguments

    assert undone(made) == {"city": "PAR", "seats": 2}

    made = booking()

    @made.compensation
    def cancel_by_position(result: str, city: str, /, *, seats: int) -> Any:
        return result, city, seats

    assert undone(made) == ("booking", "PAR", 2)


def test_the_tools_own_parameter_wins_over_the_result_of_the_call() -> None:
    @tool
    def publish(result: int, execution: str = "now") -> str:
        return f"{result} {execution}"

    @publish.compensation
    def withdraw(result: int, execution: str) -> Any:
        return result, execution

    assert undone(publish, '{"result": 3}') == (3, "now")
    assert publish.undo is not None
    assert not publish.undo.needs_result


def test_what_is_injected_into_the_tool_is_injected_into_the_undo_under_the_same_name() -> None:
    made = booking()

    @made.compensation
    def cancel(ctx, city):  # type: ignore[no-untyped-def]
        return ctx, city

    assert undone(made) == (CONTEXT, "PAR")


def no_such(town: str) -> None: ...


def other_type(city: int) -> None: ...


def other_result(result: int) -> None: ...


def several(town: str, seats: str, result: int) -> None: ...


def unknown_name(city: Money) -> None: ...


def many(*things: str) -> None: ...


@pytest.mark.parametrize(
    ("undo", "message"),
    [
        (no_such, "'town' is no parameter of the tool: it has city, seats"),
        (other_type, "'city' is annotated otherwise in the tool: give it the same type"),
        (other_result, "'result' is not what the tool returns: annotate it as str"),
        (several, r"'town' is no .*\n.*'seats' is annotated otherwise.*\n.*'result' is not what"),
        (unknown_name, "parameter 'city': the annotation names 'Money', which cannot be found"),
        (many, "'things' is no parameter of the tool"),
    ],
)
def test_an_undo_that_does_not_fit_is_a_mistake_of_the_declaration(undo: Any, message: str) -> None:
    made = booking()
    made.compensation(undo)
    with pytest.raises(ConfigurationError, match=f"the compensation of tool 'book'.*{message}"):
        aiservices.create(Asker, chat_model=ScriptedChatModel(), tools=[made])


def test_the_same_type_may_be_said_with_or_without_its_field_or_not_at_all() -> None:
    @tool
    def book(
        seats: Annotated[int, Field(ge=1)],
        names: list[Annotated[str, Field(max_length=9)]],
        *,
        x: int = Field(1),
    ) -> None: ...

    @book.compensation
    def cancel(seats: int, names: list[str], x: Annotated[int, "more"]) -> Any:
        return seats, names, x

    assert undone(book, '{"seats": 1, "names": ["a"]}') == (1, ["a"], 1)

    @tool
    def rent(seats: int) -> None: ...

    @rent.compensation
    def give_back(seats: Any) -> Any:
        return seats

    assert undone(rent, '{"seats": 1}') == 1


def test_the_result_is_taken_as_what_the_tool_may_return() -> None:
    for returned, taken in [
        (int, float),
        (bool, int),
        (int, object),
        (Any, str),
        (ToolOutcome, str),
        (str | None, int),
    ]:

        @tool
        def book(city: str) -> Any: ...

        @book.compensation
        def cancel(result: Any) -> None: ...

        book.execute.__annotations__["return"] = returned
        cancel.__annotations__["result"] = taken
        again = tool(book.execute)
        again.compensation(cancel)
        assert undone(again, '{"city": "PAR"}') is None


class Printable(Protocol):
    def shown(self) -> str: ...


@pytest.mark.parametrize(
    ("hint", "needed"),
    [
        (str, True),
        (Printable, True),
        (Annotated[str, "x"], True),
        (str | None, False),
        (Optional[str], False),  # noqa: UP045 - as people write it
        (Annotated[str | None, "x"], False),
        (Any, False),
        (object, False),
        (None, False),
        (inspect.Parameter.empty, False),
    ],
    ids=str,
)
def test_with_a_log_an_undo_that_takes_the_result_must_take_none(hint: Any, needed: bool) -> None:
    """A call that died before its outcome was logged has no result."""

    @tool
    def book(city: str) -> Any: ...

    @book.compensation
    def cancel(city: str, result: Any) -> None: ...

    if hint is inspect.Parameter.empty:
        del cancel.__annotations__["result"]
    else:
        cancel.__annotations__["result"] = hint
    assert book.undo is not None
    assert book.undo.needs_result is needed
    if needed:
        with pytest.raises(
            ConfigurationError, match="with a compensation_log there may be none after a crash"
        ):
            aiservices.create(
                Asker, chat_model=ScriptedChatModel(), tools=[book], compensation_log=MemoryStore()
            )
    aiservices.create(Asker, chat_model=ScriptedChatModel(), tools=[book])


def test_a_tool_has_one_undo() -> None:
    made = booking()
    made.compensation(lambda: None)
    with pytest.raises(ConfigurationError, match="the tool 'book' has a compensation already: keep one"):
        made.compensation(lambda: None)


def test_an_undo_declared_late_counts() -> None:
    made = booking()
    assert made.undo is None
    made.compensation(lambda: "late")
    assert undone(made) == "late"


class Desk:
    def __init__(self) -> None:
        self.log: list[str] = []

    @tool
    def book(self, city: str) -> str:
        return city

    @book.compensation
    def cancel(self, city: str) -> str:
        return f"{type(self).__name__} cancels {city}"

    @tool
    @staticmethod
    def rent(city: str) -> str:
        return city

    @rent.compensation
    def give_back(city: str) -> str:  # type: ignore[misc]  # noqa: N805
        return f"gives back {city}"

    @tool
    @classmethod
    def hire(cls, city: str) -> str:
        return city

    @hire.compensation
    def fire(cls, city: str) -> str:  # noqa: N805
        return f"{cls.__name__} fires in {city}"  # type: ignore[attr-defined]

    @tool
    def open_up(self, city: str) -> str:
        return city

    @open_up.compensation
    @staticmethod
    def close(city: str) -> str:
        return f"closes {city}"


class Branch(Desk):
    def book(self, city):  # type: ignore[no-untyped-def,override]
        return city


class StrictBranch(Desk):
    def cancel(self, city: str) -> str:
        return f"never in {city}"


@pytest.mark.parametrize(
    ("desk", "name", "told"),
    [
        (Desk(), "book", "Desk cancels PAR"),
        (Branch(), "book", "Branch cancels PAR"),
        (StrictBranch(), "book", "never in PAR"),
        (Desk(), "rent", "gives back PAR"),
        (Branch(), "hire", "Branch fires in PAR"),
        (Desk(), "open_up", "closes PAR"),
    ],
)
def test_the_undo_of_a_method_belongs_to_the_same_object(desk: Desk, name: str, told: str) -> None:
    """Inherited, overridden, static and class methods alike; given the object, or its method alone."""
    registry = ToolRegistry([desk])
    assert undone(registry[name], '{"city": "PAR"}') == told
    if (
        not isinstance(desk, Branch) or name != "book"
    ):  # there it is a plain method, of which nothing is known
        assert undone(getattr(desk, name), '{"city": "PAR"}') == told


def test_a_static_tool_without_an_object_keeps_its_undo() -> None:
    assert undone(Desk.rent, '{"city": "PAR"}') == "gives back PAR"


def test_a_tool_may_be_the_undo_of_another() -> None:
    made = booking()

    @made.compensation
    @tool
    def cancel(city: str) -> str:
        return f"cancels {city}"

    assert undone(made) == "cancels PAR"
    assert list(ToolRegistry([made, cancel])) == ["book", "cancel"]


def test_a_dynamic_tool_may_have_an_undo_of_what_its_schema_names() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}, "seats": {"type": "integer"}}}

    def undo(city: str, seats: int = 1) -> Any:
        return city, seats

    made = Tool(ToolSpec("book.it", "", schema), lambda **arguments: None, undo_function=undo)
    assert undone(made, '{"city": "PAR"}') == ("PAR", 1)
    wrong = Tool(ToolSpec("book", "", schema), lambda **arguments: None, undo_function=no_such)
    with pytest.raises(ConfigurationError, match="'town' is no parameter of the tool: it has city, seats"):
        ToolRegistry([wrong])

"""The scope: values by name, the history, and what can be saved of them."""

from __future__ import annotations

import threading
from collections import namedtuple
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from aiservices import AiMessage, InMemoryStore, ToolCall, UserMessage
from aiservices.agentic import AgenticScope, agent, sequence
from aiservices.agentic.saving import Codec
from aiservices.errors import AgentError

from .styles import Style, publish, write


class Shade(Enum):
    DARK = 1


class Pair(NamedTuple):
    left: int
    right: date


@dataclass
class Deep:
    pairs: list[Pair]
    shade: Shade


class Model(BaseModel):
    deep: Deep


@dataclass
class Loose:
    anything: Any


Untyped = namedtuple("Untyped", "x y")


def test_values_are_read_and_written_and_none_removes() -> None:
    """G7, LG-14, LG-19"""
    scope = AgenticScope({"a": 1})
    scope.write("b", [2])
    assert (scope.read("a"), scope.read("c"), scope.read("c", 3)) == (1, None, 3)
    scope.write("a", None)
    assert scope.state == {"b": [2]}
    scope.state["b"] = "copy"
    assert scope.read("b") == [2]
    assert repr(scope) == "AgenticScope(b)"


@pytest.mark.parametrize("key", [7, None, ("a",)])
def test_a_key_that_is_no_text_is_refused(style: Style, key: Any) -> None:
    def write_it(scope: AgenticScope) -> None:
        scope.write(key, 1)

    with pytest.raises(TypeError, match="keys of a scope are texts"):
        style.invoke(sequence(write_it, store=InMemoryStore()), memory_id="m")


def test_an_inner_scope_sees_the_outer_one_and_keeps_its_own() -> None:
    outer = AgenticScope({"a": 1, "b": 2})
    inner = AgenticScope({"c": 3}, outer=outer)
    inner.write("a", None)
    inner.write("b", 20)
    assert (inner.state, outer.state) == ({"b": 20, "c": 3}, {"a": 1, "b": 2})
    assert (inner.read("a", "gone"), inner.has("a"), inner.has("b"), inner.has("d")) == (
        "gone",
        False,
        True,
        False,
    )


def test_what_is_still_to_come_is_waited_for_in_a_thread() -> None:
    """G8, G9"""
    scope = AgenticScope()
    promise = scope.delay("late")
    assert scope.has("late")
    read: list[Any] = []
    thread = threading.Thread(target=lambda: read.append(scope.read("late")))
    thread.start()
    scope.write("late", 7)
    scope.arrived("late", promise)
    promise.keep()
    thread.join(5)
    assert read == [7]
    scope.delay("failed").keep(ZeroDivisionError("boom"))
    with pytest.raises(ZeroDivisionError, match="boom"):
        scope.read("failed")


def test_a_conversation_tells_what_was_given_and_answered(style: Style) -> None:
    story = sequence(sequence(write, name="draft"), agent(name="both")(lambda story, topic: "fine"), publish)
    scope = style.run(story, topic="bees").scope
    assert scope.conversation().splitlines() == [
        "User: bees",
        "write agent: a story about bees",
        "User: story: a story about bees, topic: bees",
        "both agent: fine",
        "User: a story about bees",
        "publish agent: published: a story about bees",
    ]
    assert scope.conversation("write").splitlines() == ["User: bees", "write agent: a story about bees"]
    assert scope.conversation("draft").splitlines() == ["User: bees", "draft agent: a story about bees"]


VALUES: list[Any] = [
    {"$": "a key like ours", 1: "a key that is no text"},
    (1, (2, {3}), frozenset({4})),
    float("inf"),
    10**40,
    b"\x00\xff",
    datetime(2024, 1, 2, 3, 4, 5, 6, tzinfo=timezone(timedelta(hours=2))),
    timedelta(days=1, microseconds=3),
    Decimal("1.10"),
    UUID(int=7),
    Shade.DARK,
    Pair(1, date(2024, 2, 29)),
    Deep([Pair(1, date(1, 1, 1))], Shade.DARK),
    Model(deep=Deep([], Shade.DARK)),
    [AiMessage("hi", (ToolCall("1", "t", "{}"),)), UserMessage("x")],
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_are_saved_and_come_back_equal(value: Any) -> None:
    """AGT-11"""
    codec = Codec()
    back = codec.decode(codec.encode(value, "it"))
    assert (back, type(back)) == (value, type(value))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner) | st.sets(st.integers())
    ),
)


@given(JSON)
def test_any_data_is_saved_without_loss(value: Any) -> None:
    codec = Codec()
    assert codec.decode(codec.encode(value, "it")) == value


def circular() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (object(), "it holds a builtins.object"),
        ([{"a": threading.Lock()}], "_thread.lock"),
        (Untyped(object(), 1), "test_scope.Untyped"),
        (circular(), "it holds itself"),
        (Loose(date(2024, 1, 2)), "test_scope.Loose"),
        (range(3), "builtins.range"),
        (Model, "ModelMetaclass"),
    ],
)
def test_what_would_not_come_back_is_refused(value: Any, says: str) -> None:
    """G15, G16"""
    with pytest.raises(AgentError, match="'k' cannot be saved") as caught:
        Codec().encode(value, "'k'")
    assert says in str(caught.value)


def test_a_class_within_a_function_is_known_when_it_is_declared() -> None:
    @dataclass
    class Inner:
        x: int

    value = Inner(1)
    with pytest.raises(AgentError, match="declare the class in the annotation"):
        Codec().encode(value, "it")
    codec = Codec([dict[str, list[Inner]] | None])
    assert codec.decode(codec.encode(value, "it")) == value


def test_no_module_is_imported_for_a_stored_name() -> None:
    with pytest.raises(AgentError, match="a saved value is a antigravity:fly, which is not known here"):
        Codec().decode({"$": "antigravity:fly", "v": {}})
    with pytest.raises(AgentError, match="not known here"):
        Codec().decode({"$": "subprocess:Popen", "v": ["true"]})

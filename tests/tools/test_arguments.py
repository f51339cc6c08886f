"""From what a model sends to the arguments of the function: exact, whole, and never guessed."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from aiservices import ToolArgumentsError
from aiservices.messages import ToolCall
from aiservices.tools import Tool, tool
from outputparsers import output_parser
from tests.tools.given import called, results


class Letter(Enum):
    A = "A"
    B = "B"


@dataclass
class Person:
    name: str
    age: int


@dataclass
class Bag:
    things: list[str] = field(default_factory=list)


class Dog(BaseModel):
    type: Literal["dog"] = "dog"
    name: str


class Fish(BaseModel):
    type: Literal["fish"] = "fish"
    name: str


def taking(hint: Any, **default: Any) -> Tool[..., Any]:
    """A tool that gives back its only parameter `it`."""

    def f(it: Any) -> Any:
        return it

    f.__annotations__["it"] = hint
    if default:
        f.__defaults__ = (default["default"],)
    return tool(f)


@pytest.mark.parametrize(
    ("hint", "sent", "value"),
    [
        (int, "1.0", 1),  # row 275
        (int, "9007199254740993", 2**53 + 1),  # row 279
        (int, "9007199254740993.0", 2**53 + 1),
        (int, "9223372036854775817", 2**63 + 9),  # row 280
        (int, '"12"', 12),
        (Decimal, "0.1", Decimal("0.1")),  # row 281
        (Decimal, "1234567890.123456789", Decimal("1234567890.123456789")),  # row 282
        (list[Decimal], "[0.12345678901234567891]", [Decimal("0.12345678901234567891")]),
        (float, '"1.1"', 1.1),  # row 284
        (bool, "true", True),  # row 285
        (bool, '"true"', True),  # row 286 refuses it; a model that quotes a word means it
        (Letter, '"A"', Letter.A),  # row 287
        (Letter, '"a"', Letter.A),  # row 289: whatever the locale
        (str | None, "null", None),  # row 292
        (list[int], "[1.0, 2.0, 3.0]", [1, 2, 3]),  # row 294
        (set[Letter], '["A", "B"]', {Letter.A, Letter.B}),  # row 295
        (dict[str, int], '{"A": 1.0}', {"A": 1}),  # row 296
        (Person, '{"name": "Klaus", "age": 42}', Person("Klaus", 42)),  # row 297
        (list[Person], '[{"name": "K", "age": 1}]', [Person("K", 1)]),  # row 298
        (dict[str, Person], '{"k": {"name": "K", "age": 1}}', {"k": Person("K", 1)}),
        (Annotated[Dog | Fish, Field(discriminator="type")], '{"type": "fish", "name": "W"}', Fish(name="W")),
        (UUID, '"12345678-1234-5678-1234-567812345678"', UUID("12345678-1234-5678-1234-567812345678")),
        (list[dt.date], '["2024-02-29"]', [dt.date(2024, 2, 29)]),  # TOOL-03
    ],
)
def test_an_argument_is_of_the_annotated_type(hint: Any, sent: str, value: object) -> None:
    given = called(taking(hint), f'{{"it": {sent}}}')
    assert given == value
    assert type(given) is type(value)


@pytest.mark.parametrize(
    ("hint", "sent", "problem"),
    [
        (int, "1.5", "it: Input should be a valid integer, got a number with a fractional part"),  # row 276
        (int, '"abc"', 'it: Input should be a valid integer, .* got "abc"'),  # row 277
        (int, "null", "it: Input should be a valid integer, got null"),
        (int, "true", "it: Input should be a valid integer, got true"),
        (
            Annotated[int, Field(lt=2**31)],
            "2147483648",
            "it: Input should be less than 2147483648",
        ),  # row 278
        (float, "1e999", "it: Input should be a finite number"),  # row 283
        (Letter, '"D"', "it: Input should be 'A' or 'B', got \"D\""),  # row 288
        (Person, '{"name": "K", "age": 1, "x": 1}', "it.x: no such key here"),  # row 299
        (list[Person], '[{"name": "K"}]', r"it\[0\].age: Field required"),
        (str, "3", "it: Input should be a valid string, got 3"),
        (list[int], '["a", 1, "b"]', r"it\[0\]: .*it\[2\]: "),
    ],
)
def test_a_wrong_argument_is_told_with_its_path_and_tool(hint: Any, sent: str, problem: str) -> None:
    with pytest.raises(ToolArgumentsError, match=f"(?s)the arguments of tool 'f' do not fit: .*{problem}"):
        called(taking(hint), f'{{"it": {sent}}}')


def test_missing_arguments_are_named_and_never_none() -> None:
    """Rows 290, 291, 293 and 316 in their better form: what is required is required, for objects as well."""

    def f(a: str, b: Letter, c: Person, d: int = 1) -> None: ...

    with pytest.raises(ToolArgumentsError) as caught:
        called(f, '{"d": "x"}')
    assert caught.value.problems[:3] == ("a: Field required", "b: Field required", "c: Field required")
    assert caught.value.problems[3].startswith("d: Input should be a valid integer")
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("text", [None, "", "  ", "null", '""', "{}", " { } ", "\n"])
def test_nothing_stands_for_no_arguments(text: str | None) -> None:
    """TOOL-06 and row 272."""

    def now() -> str:
        return "12:00"

    assert called(now, text) == "12:00"
    with pytest.raises(ToolArgumentsError, match="it: Field required"):
        called(taking(int), text)


@pytest.mark.parametrize(
    ("hint", "default"),
    [
        (int, 10),
        (float, 3.14),
        (bool, True),
        (int, 9999999999),
        (str, ""),
        (Letter, Letter.B),
        (Bag, Bag(["x"])),
        (Dog, Dog(name="W")),
        (list[str], ["red", "green"]),
        (set[int], {1, 2, 3}),
        (dict[str, int], {"a": 1}),
        (list[int], []),
        (str | None, None),
    ],
)
def test_a_default_stands_for_what_is_left_out(hint: Any, default: Any) -> None:
    """Rows 300 to 311; but an explicit null is no omission where the type does not allow it."""
    assert called(taking(hint, default=default)) == default
    if default is not None:
        with pytest.raises(ToolArgumentsError):
            called(taking(hint, default=default), '{"it": null}')


def test_a_present_argument_wins_over_the_default_and_a_wrong_one_does_not_fall_back() -> None:
    """Rows 314 and 315."""
    assert called(taking(int, default=10), '{"it": 42}') == 42
    with pytest.raises(ToolArgumentsError, match="banana"):
        called(taking(int, default=10), '{"it": "banana"}')


@pytest.mark.parametrize("hint", [list[str], Bag, dict[str, int], tuple[list[str], int]])
def test_a_default_that_a_tool_changes_is_fresh_in_the_next_call(hint: Any) -> None:
    """Rows 312 and 313."""
    defaults: dict[Any, Any] = {list[str]: [], Bag: Bag(), dict[str, int]: {}, tuple[list[str], int]: ([], 1)}
    made = taking(hint, default=defaults[hint])
    for _ in range(2):
        match called(made):
            case Bag() as bag:
                assert bag.things == []
                bag.things.append("x")
            case (list() as first, 1):
                assert first == []
                first.append("x")
            case list() as items:
                assert items == []
                items.append("x")
            case dict() as entries:
                assert entries == {}
                entries["x"] = 1


def test_a_sentinel_stays_the_same_object() -> None:
    missing: Any = object()
    assert called(taking(int | object, default=missing)) is missing


def test_large_integers_and_long_decimals_reach_the_tool_exactly(invoke: Any) -> None:
    """TOOL-02."""
    seen: list[object] = []

    def lookup(id: int, amt: Decimal) -> str:
        seen.append((id, amt))
        return "ok"

    text = '{"id":9007199254740993,"amt":1234567890.123456789}'
    assert results(invoke, [lookup], ToolCall("c1", "lookup", text))[0].text == "ok"
    assert seen == [(9007199254740993, Decimal("1234567890.123456789"))]


def test_what_was_encoded_twice_is_decoded_where_no_text_is_allowed() -> None:
    """PAR-24 and MCP-01."""

    def up(
        data: dict[str, Any], note: str, tags: list[str] | None = None, either: str | list[str] = ""
    ) -> Any:
        return data, note, tags, either

    sent = {"data": '{"a":1}', "note": '{"b":2}', "tags": "null", "either": '["x"]'}
    assert called(up, json.dumps(sent)) == ({"a": 1}, '{"b":2}', None, '["x"]')
    assert called(up, json.dumps('{"data":{},"note":"007"}')) == ({}, "007", None, "")
    assert called(up, '{"data":{},"note":"[1,2]","tags":"[\\"a\\"]"}') == ({}, "[1,2]", ["a"], "")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"foo":"bar", "qux": 12,}', {"foo": "bar", "qux": 12}),  # row 266
        ('"{\\"foo\\":\\"bar\\"}"', {"foo": "bar"}),  # row 268
        ('{"foo":[{"foo":"bar",},]}', {"foo": [{"foo": "bar"}]}),  # row 269
        ('{ "foo" : "John" , "age" : 30 , }', {"foo": "John", "age": 30}),  # row 274
        ('```json\n{"foo": 1}\n```', {"foo": 1}),
        ('{"foo": "SELECT \\"a\\" FROM b"}', {"foo": 'SELECT "a" FROM b'}),  # row 271
    ],
)
def test_broken_json_is_repaired_only_when_it_is_broken(text: str, value: dict[str, Any]) -> None:
    def f(foo: Any, qux: int = 0, age: int = 0) -> Any:
        return {name: part for name, part in {"foo": foo, "qux": qux, "age": age}.items() if part}

    assert called(f, text) == value


@pytest.mark.parametrize("text", ["{ invalid json }", "[1]", "3", '"x"', '{"it": 1', "{,}", "\ud83d", "None"])
def test_what_is_no_object_is_an_argument_error(text: str) -> None:
    """Row 273; TOOL-05 sends half an object."""
    with pytest.raises(ToolArgumentsError, match="the arguments of tool 'f' do not fit"):
        called(taking(int), text)


@given(
    st.text()
    | st.text(alphabet='{}[]":,\\ 0123456789.eE-truefalsnuit')
    | st.binary().map(lambda raw: raw.decode("latin-1"))
)
def test_any_text_is_read_or_is_an_argument_error(text: str) -> None:
    made = _ANYTHING
    try:
        made.signature.read(text)
    except ToolArgumentsError as error:
        assert error.problems  # noqa: PT017 - it need not be raised


_ANYTHING = taking(dict[str, Decimal | int | list[str] | None] | Person, default=None)


class Model(BaseModel):
    number: int = Field(ge=0)
    letters: list[Letter] = []
    price: Decimal | None = None


_finite = st.floats(allow_nan=False, allow_infinity=False)
_decimals = st.decimals(allow_nan=False, allow_infinity=False)
_models = st.builds(
    Model,
    number=st.integers(min_value=0),
    letters=st.lists(st.sampled_from(Letter)),
    price=st.none() | _decimals,
)
_KINDS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (int, st.integers()),
    (float, _finite),
    (Decimal, _decimals),
    (str, st.text(st.characters(codec="utf-8"))),
    (bool, st.booleans()),
    (Letter, st.sampled_from(Letter)),
    (dt.date, st.dates()),
    (UUID, st.uuids()),
    (Person, st.builds(Person, st.text(st.characters(codec="utf-8")), st.integers())),
    (Model, _models),
    (list[Model], st.lists(_models, max_size=3)),
    (dict[str, int], st.dictionaries(st.text(st.characters(codec="utf-8")), st.integers(), max_size=3)),
    (str | None, st.none() | st.text(st.characters(codec="utf-8"))),
    (tuple[int, bool], st.tuples(st.integers(), st.booleans())),
]
_TOOLS = [(taking(hint), output_parser(dict[str, hint]), values) for hint, values in _KINDS]  # type: ignore[valid-type]


@given(st.data())
def test_what_is_rendered_is_accepted_by_the_schema_and_read_back(data: st.DataObject) -> None:
    made, parser, values = data.draw(st.sampled_from(_TOOLS))
    value = data.draw(values)
    text = parser.render({"it": value})
    again = Tool(made.spec, lambda **arguments: arguments)
    assert again.signature.read(text)
    read = made.signature.read(text)["it"]
    assert read == value
    assert type(read) is type(value)

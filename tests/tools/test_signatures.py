"""From annotations to what a model is asked for: types, defaults, fields, names, injected parameters."""

from __future__ import annotations

import datetime as dt
import typing
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Literal

import jsonschema
import pytest
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from typing_extensions import TypedDict

from aiservices import ConfigurationError, InvocationParameters, MemoryId, ToolContext
from aiservices.messages import ToolCall
from aiservices.models.openai.contents import tool_form
from aiservices.tools import Tool, ToolRegistry, tool, tools_of
from tests.tools.given import CONTEXT, PARAMETERS, called, properties, results

if TYPE_CHECKING:
    from decimal import Decimal as Money


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Query(BaseModel):
    n: int
    colour: Colour = Colour.RED


@dataclass
class Cat:
    name: str
    sub: list[Cat]


class Movie(TypedDict):
    title: str


class Aliased(BaseModel):
    from_: str = Field(alias="from")
    to: str


class Camel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)
    first_name: str
    born_on: dt.date = Field(validation_alias="born", serialization_alias="bornOn")


def parameters_of(function: Any) -> dict[str, Any]:
    return dict(tools_of(function)[0].spec.parameters)


def test_deferred_annotations_are_resolved(invoke: Any) -> None:
    """SCH-05: this module defers them all."""
    seen: list[object] = []

    def find(q: Query, limit: int = 3) -> str:
        seen.append((q, limit))
        return "found"

    shown = parameters_of(find)
    assert shown["required"] == ["q"]
    assert shown["properties"]["q"]["properties"]["n"] == {"type": "integer"}
    assert shown["properties"]["limit"] == {"type": "integer"}
    assert [r.text for r in results(invoke, [find], ToolCall("c1", "find", '{"q":{"n":4}}'))] == ["found"]
    assert seen == [(Query(n=4), 3)]


def test_a_name_that_only_type_checkers_know_is_an_error_that_says_so() -> None:
    """SCH-07."""

    def pay(amount: Money) -> None: ...

    def pay_all(amounts: dict[str, list[Money]] | None = None) -> None: ...

    with pytest.raises(ConfigurationError) as caught:
        ToolRegistry([pay, pay_all])
    for problem, name in zip(
        caught.value.problems, ("pay', parameter 'amount'", "pay_all', parameter 'amounts'"), strict=True
    ):
        assert problem.startswith(f"tool '{name}: the annotation names 'Money', which cannot be found")
        assert "TYPE_CHECKING" in problem


def test_what_a_tool_returns_need_not_be_known() -> None:
    def pay(amount: int) -> Money | None: ...

    assert parameters_of(pay)["required"] == ["amount"]


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        ("typing.Nope", "the annotation names 'Nope', which cannot be found"),
        ("1 +", "is not a type"),
        ("missing.Name", "the annotation names 'missing', which cannot be found"),
    ],
)
def test_an_annotation_that_makes_no_sense_names_tool_and_parameter(annotation: str, message: str) -> None:
    def pay(amount: int) -> None: ...

    pay.__annotations__["amount"] = annotation
    with pytest.raises(ConfigurationError, match=f"tool 'pay', parameter 'amount': .*{message}"):
        ToolRegistry([pay])


def test_a_name_that_is_defined_later_is_found_later() -> None:
    made: list[Tool[..., Any]] = []

    def declare() -> None:
        @tool
        def f(item: Later) -> None: ...  # type: ignore[name-defined]  # noqa: F821

        made.append(f)

    declare()
    assert repr(made[0]) == "<tool f>"
    with pytest.raises(ConfigurationError, match="'Later', which cannot be found"):
        ToolRegistry(made)
    globals()["Later"] = Query
    try:
        assert list(ToolRegistry(made)) == ["f"]
    finally:
        del globals()["Later"]


def test_local_types_and_types_within_a_class_are_found_where_the_tool_is_declared() -> None:
    @dataclass
    class Local:
        n: int
        next: Local | None = None

    class Desk:
        class Inner(BaseModel):
            n: int

        @tool
        def f(self, inner: Inner, local: Local) -> int:
            return inner.n + local.n

        @tool
        def list(self) -> None: ...

        @tool
        def g(self, items: typing.List[int]) -> int:  # noqa: UP006 - `list` is a method here
            return sum(items)

    registry = ToolRegistry([Desk()])
    assert called(registry["f"], '{"inner": {"n": 1}, "local": {"n": 2, "next": {"n": 3}}}') == 3
    assert called(registry["g"], '{"items": [1, 2]}') == 3


def test_recursive_types_have_their_definitions_at_the_root() -> None:
    """SCH-16."""

    def save(c: Cat) -> Cat:
        return c

    shown = parameters_of(save)
    assert shown["properties"]["c"] == {"$ref": "#/$defs/Cat"}
    assert set(shown["$defs"]) == {"Cat"}
    answer = '{"c":{"name":"r","sub":[{"name":"s","sub":[]}]}}'
    assert called(save, answer) == Cat("r", [Cat("s", [])])


def test_the_model_sees_the_names_that_validation_takes() -> None:
    """SCH-08 and SCH-31."""

    def f(a: Aliased, p: Camel, own: Annotated[int, Field(alias="class")] = 3) -> Any:
        return a.from_, p.born_on, own

    shown = properties(f)
    assert set(shown["a"]["properties"]) == {"from", "to"}
    assert set(shown["p"]["properties"]) == {"firstName", "born"}
    assert set(shown) == {"a", "p", "class"}
    sent = '{"a":{"from":"x","to":"y"},"p":{"firstName":"Ana","born":"2024-01-02"}%s}'
    assert called(f, sent % "") == ("x", dt.date(2024, 1, 2), 3)
    assert called(f, sent % ',"class":4') == ("x", dt.date(2024, 1, 2), 4)


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (bool, {"type": "boolean"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (Colour, {"enum": ["red", "blue"], "type": "string"}),
        (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}),
        (list[list[int]], {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}),
        (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (dict[str, Any], {"type": "object", "additionalProperties": True}),
        (Any, {}),
        (dt.date, {"type": "string", "format": "date"}),
        (Annotated[int, Field(ge=1, le=9)], {"type": "integer", "minimum": 1, "maximum": 9}),
    ],
    ids=str,
)
def test_a_type_is_told_as_a_schema(hint: Any, schema: dict[str, Any]) -> None:
    """Section 8.3: a parameter without default is required, also one that may be null (rows 253, 254)."""

    def f(it: Any) -> None: ...

    f.__annotations__["it"] = hint
    shown = parameters_of(f)
    assert shown["properties"]["it"] == schema
    assert shown["required"] == ["it"]
    assert shown["additionalProperties"] is False
    jsonschema.Draft202012Validator.check_schema(shown)


def test_a_parameter_with_a_default_may_be_left_out_and_the_default_is_not_told() -> None:
    """Row 255. Defaults are Python values, used as they are: rows 243 to 248 have no place here."""

    def f(a: int, b: int = 10, c: str | None = None, d: object = ...) -> None: ...

    shown = parameters_of(f)
    assert shown["required"] == ["a"]
    assert not any("default" in schema for schema in shown["properties"].values())


def test_a_field_may_stand_where_the_default_does() -> None:
    def f(
        x: int = Field(3, ge=1, description="How many."),
        y: list[int] = Field(default_factory=list, max_length=2),  # noqa: B008
        z: int = Field(ge=5),
    ) -> Any:
        y.append(x)
        return x, y, z

    shown = parameters_of(f)
    assert shown["properties"]["x"] == {"type": "integer", "minimum": 1, "description": "How many."}
    assert shown["properties"]["y"]["maxItems"] == 2
    assert shown["required"] == ["z"]
    assert called(f, '{"z": 5}') == called(f, '{"z": 5}') == (3, [3], 5)


def test_a_field_in_the_annotation_may_bring_the_default() -> None:
    def f(
        x: Annotated[int, Field(3, ge=1)],
        y: Annotated[list[int], Field(default_factory=list)],
        z: Annotated[int, Field(4)] = 5,
    ) -> Any:
        return x, y, z

    assert "required" not in parameters_of(f)
    assert called(f) == (3, [], 5)


def test_a_schema_is_strict_where_no_parameter_may_be_left_out() -> None:
    def whole(a: int, cat: Cat) -> None: ...

    def optional(a: int, b: int = 1) -> None: ...

    def free(a: dict[str, int]) -> None: ...

    specs = ToolRegistry([whole, optional, free]).specs
    assert [spec.strict for spec in specs] == [True, False, False]
    assert [tool_form(spec).get("strict") for spec in specs] == [True, None, None]


def test_injected_parameters_are_in_no_schema_and_given_by_type() -> None:
    """TOOL-24 and row 252."""

    def a(*, ctx: ToolContext, q: str) -> Any:
        return ctx, q

    def b(q: str, ctx: Annotated[ToolContext, "the call"]) -> Any:
        return ctx, q

    class Desk:
        @tool
        def c(self, q: str, ctx: ToolContext | None = None) -> Any:
            return ctx, q

    def d(ctx: ToolContext, /, q: str) -> Any:
        return ctx, q

    for item in (a, b, Desk(), d):
        assert set(properties(item)) == {"q"}
        assert called(item, '{"q": "x"}') == (CONTEXT, "x")
        with pytest.raises(Exception, match="ctx: no such key here"):
            called(item, '{"q": "x", "ctx": {}}')


def test_parameters_and_memory_id_of_the_invocation_are_injected() -> None:
    def f(
        q: str,
        user: Annotated[str, MemoryId],
        given: InvocationParameters,
        maybe: Annotated[int | None, MemoryId()] = None,
    ) -> Any:
        return q, user, given

    with pytest.raises(
        ConfigurationError, match="tool 'f', parameter 'maybe': 'user' is a MemoryId already: keep one"
    ):
        tool(f)

    def g(q: str, user: Annotated[str, MemoryId], given: InvocationParameters) -> Any:
        return q, user, given

    assert set(properties(g)) == {"q"}
    assert called(g, '{"q": "x"}') == ("x", "m1", PARAMETERS)


def test_two_contexts_are_one_too_many() -> None:
    def f(a: ToolContext, *, b: ToolContext) -> None: ...

    with pytest.raises(
        ConfigurationError, match="tool 'f', parameter 'b': 'a' is a ToolContext already: keep one"
    ):
        tool(f)


def test_a_list_of_contexts_is_no_context() -> None:
    def f(contexts: list[ToolContext]) -> None: ...

    with pytest.raises(
        ConfigurationError, match="tool 'f', parameter 'contexts': a model cannot be asked for it"
    ):
        tool(f)


def test_a_varying_number_of_arguments_cannot_be_asked_for() -> None:
    def f(*numbers: int) -> None: ...

    def g(**numbers: int) -> None: ...

    def h(*ctx: ToolContext) -> None: ...

    for function in (f, g, h):
        with pytest.raises(ConfigurationError, match="a model cannot send a varying number of arguments"):
            tool(function)


def test_parameters_that_callers_cannot_name_or_must_name_are_given_as_they_are_declared() -> None:
    def f(a: int, b: int = 2, /, c: int = 3, *, d: int = 4) -> Any:
        return a, b, c, d

    assert called(f, '{"a": 1}') == (1, 2, 3, 4)
    assert called(f, '{"d": 9, "c": 8, "b": 7, "a": 6}') == (6, 7, 8, 9)


def test_no_name_of_a_parameter_is_taken() -> None:
    def f(_x: int, model_config: int, schema: int, items: int, self: int, function: int, context: int) -> Any:
        return _x + model_config + schema + items + self + function + context

    names = ["_x", "model_config", "schema", "items", "self", "function", "context"]
    assert list(properties(f)) == names
    assert called(f, "{" + ", ".join(f'"{name}": 1' for name in names) + "}") == 7


def test_a_type_that_no_model_can_send_names_tool_parameter_and_type() -> None:
    def f(a: Any, b: bytes, c: int = 1) -> None: ...

    with pytest.raises(ConfigurationError, match=r"tool 'f', parameter 'b': .*bytes do not travel as JSON"):
        tool(f)


def test_typed_dictionaries_and_decimals_are_understood() -> None:
    def f(movie: Movie, price: Decimal) -> Any:
        return movie, price

    assert called(f, '{"movie": {"title": "M"}, "price": 1.10}') == ({"title": "M"}, Decimal("1.1"))

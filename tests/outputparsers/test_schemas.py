"""The schemas sent to models: rows 175 to 190 and the area SCH."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, cast
from uuid import UUID

import jsonschema
import pytest
from pydantic import BaseModel, Field

from outputparsers import output_parser
from tests.outputparsers.schema_subjects import (
    EVERY,
    Animal,
    Camel,
    Currency,
    Deep,
    Derived,
    Id,
    Invoice,
    Keyed,
    Limited,
    Member,
    Movie,
    Node,
    Owner,
    Person,
    Point,
    Twice,
    parts_of,
    schema_of,
)


@pytest.mark.parametrize("type_", EVERY)
def test_every_schema_is_valid_and_an_object_at_the_root(type_: Any) -> None:
    schema = schema_of(type_)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    definitions = schema.get("$defs", {})
    for part in parts_of(schema):
        assert not {"default", "oneOf", "discriminator", "title", "allOf", "const"} & part.keys()
        assert not any(key.startswith("x-") for key in part)
        if "$ref" in part:
            assert part == {"$ref": part["$ref"]}
            assert part["$ref"].removeprefix("#/$defs/") in definitions


@pytest.mark.parametrize("type_", EVERY)
def test_a_strict_schema_is_closed_and_fully_required(type_: Any) -> None:
    parser = output_parser(type_)
    if not parser.strict:
        pytest.skip("not within the strict subset")
    for part in parts_of(schema_of(type_)):
        assert not {"uniqueItems", "propertyNames", "prefixItems", "minLength", "maxLength"} & part.keys()
        if part.get("type") == "object":
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])


@pytest.mark.parametrize(
    ("type_", "strict"),
    [
        *(
            (type_, True)
            for type_ in (int, Animal, Person, Node, list[Person], Invoice, Owner, Point, Derived)
        ),
        *((type_, True) for type_ in (Person | None, Person | Node, tuple[int, ...], set[str], Limited)),
        *((type_, False) for type_ in (dict[str, int], dict, list, tuple[int, str], Movie, list[Any], str)),
        *((type_, False) for type_ in (dict[str, Person], list[dict[str, int]])),
    ],
)
def test_free_maps_fixed_tuples_and_optional_keys_are_not_strict(type_: Any, strict: bool) -> None:
    assert output_parser(type_).strict is strict


@pytest.mark.parametrize(
    ("type_", "kind"),
    [(bool, "boolean"), (int, "integer"), (float, "number"), (Annotated[str, Field(max_length=3)], "string")],
)
def test_scalars_are_wrapped_as_value(type_: Any, kind: str) -> None:
    schema = schema_of(type_)
    assert schema["properties"]["value"]["type"] == kind
    assert schema["required"] == ["value"]


@pytest.mark.parametrize(
    ("type_", "name"),
    [
        (int, "integer"),
        (Annotated[int, Field(ge=0)], "integer"),
        (float, "number"),
        (Decimal, "number"),
        (bool, "boolean"),
        (str, "string"),
        (Animal, "Animal"),
        (Person, "Person"),
        (list[Animal], "List_of_Animal"),
        (set[Person], "Set_of_Person"),
        (frozenset[int], "Set_of_integer"),
        (tuple[int, ...], "Tuple_of_integer"),
        (tuple[int, str], "Tuple_of_integer_and_string"),
        (Sequence[Person], "List_of_Person"),
        (dict[str, Person], "Map_of_Person"),
        (Person | None, "Person_or_None"),
        (list[list[str]], "List_of_List_of_string"),
        (Id, "Id"),
    ],
)
def test_schemas_are_named_for_the_type(type_: Any, name: str) -> None:
    assert output_parser(type_).schema_name == name


@pytest.mark.parametrize("type_", EVERY)
def test_names_are_what_providers_accept(type_: Any) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", output_parser(type_).schema_name)


def test_names_of_long_unions_are_cut() -> None:
    class AVeryLongNameForAClassThatHoldsNothingButIsNamedForEverything(BaseModel):
        x: int

    long: Any = AVeryLongNameForAClassThatHoldsNothingButIsNamedForEverything
    assert len(output_parser(cast("Any", list[list[long]])).schema_name) == 64


def test_a_list_of_choices() -> None:
    values = schema_of(list[Animal])["properties"]["values"]
    assert values == {"type": "array", "items": {"type": "string", "enum": ["CAT", "DOG"]}}


def test_plain_text_has_no_schema() -> None:
    """Row 180: dates and maps do have one here, so that providers can hold models to it."""
    assert output_parser(str).json_schema() is None


def test_descriptions_of_fields_win_over_those_of_classes() -> None:
    properties = schema_of(Member)["properties"]
    assert properties["home"]["description"] == "where they live"
    assert properties["work"]["anyOf"][0]["description"] == "A town."
    assert properties["names"]["description"] == "all names"
    assert properties["title"]["description"] == "how to address them"
    assert {"title", "default"} <= properties.keys()


def test_optional_fields_are_nullable_and_required_in_strict_schemas() -> None:
    schema = schema_of(Person)
    assert schema["required"] == ["name", "age"]
    assert {part["type"] for part in schema["properties"]["age"]["anyOf"]} == {"integer", "null"}
    assert schema["additionalProperties"] is False


def test_optional_fields_are_left_out_of_required_in_loose_schemas() -> None:
    class Loose(BaseModel):
        name: str
        age: int = 3
        more: dict[str, int] = {}

    schema = schema_of(Loose)
    assert schema["required"] == ["name"]
    assert "additionalProperties" not in schema


def test_a_recursive_type_is_one_definition() -> None:
    schema = schema_of(Node)
    assert list(schema["$defs"]) == ["Node"]
    assert schema["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    assert set(schema_of(Deep)["$defs"]) == {"Deep", "Ring"}


def test_a_type_used_twice_is_written_twice() -> None:
    schema = schema_of(Twice)
    assert "$defs" not in schema
    assert schema["properties"]["first"] == schema["properties"]["second"]


def test_inlining_stops_before_a_schema_explodes() -> None:
    class Level0(BaseModel):
        x: int

    level: Any = Level0
    for number in range(1, 14):
        level = type(f"Level{number}", (BaseModel,), {"__annotations__": {"a": level, "b": level}})
    assert len(str(schema_of(level))) < 200_000


def test_defaults_never_reach_a_provider() -> None:
    schema = schema_of(Invoice)
    assert "default" not in str(schema)
    assert schema["required"] == ["total", "cur", "note"]
    assert {"type": "null"} in schema["properties"]["note"]["anyOf"]
    parsed = output_parser(Invoice).parse('{"total":"9.90","cur":"EUR","note":null}')
    assert parsed == Invoice(total=Decimal("9.90"), cur=Currency.EUR, note=None)


def test_discriminated_unions_are_any_of_closed_arms() -> None:
    arms = schema_of(Owner)["properties"]["pet"]["anyOf"]
    assert [arm["required"] for arm in arms] == [["kind", "lives"], ["kind", "bark"]]


def test_aliases_are_those_answers_are_validated_by() -> None:
    assert list(schema_of(Camel)["properties"]) == ["firstName", "born", "nick", "from"]


def test_an_alias_of_an_alias_keeps_type_and_limits() -> None:
    described = schema_of(Keyed)["properties"]["k"]
    assert described["type"] == "string"
    assert described["description"] == "d (at most 8 characters)"


def test_limits_strict_schemas_have_no_word_for_are_told_in_words() -> None:
    properties = schema_of(Limited)["properties"]
    assert properties["code"]["pattern"] == "^[a-z]+$"
    assert properties["code"]["description"] == "(at least 2 characters, at most 5 characters)"
    assert "(?=x)x" in properties["looking"]["description"]
    assert "uri" in properties["link"]["description"]
    assert (properties["n"]["minimum"], properties["n"]["exclusiveMaximum"]) == (1, 10)


def test_only_what_a_constructor_takes_is_asked_for() -> None:
    schema = schema_of(Derived)
    assert list(schema["properties"]) == ["tags", "n", "raw"]
    assert schema["properties"]["tags"]["type"] == "array"


def test_named_tuples_are_objects() -> None:
    schema = schema_of(Point)
    assert schema["properties"] == {"x": {"type": "integer"}, "y": {"type": "integer"}}


def test_maps_are_described_by_their_values() -> None:
    assert schema_of(dict[str, int])["additionalProperties"] == {"type": "integer"}
    assert schema_of(dict[Animal, int])["propertyNames"]["enum"] == ["CAT", "DOG"]


def test_lists_of_lists_are_nested_arrays() -> None:
    values = schema_of(list[list[str]])["properties"]["values"]
    assert values == {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}


def test_uuids_are_described_unless_the_field_is() -> None:
    class Ids(BaseModel):
        a: UUID
        b: UUID = Field(description="mine")

    properties = schema_of(Ids)["properties"]
    assert properties["a"] == {"type": "string", "format": "uuid", "description": "a UUID"}
    assert properties["b"]["description"] == "mine"


def test_enum_members_show_their_values_not_their_names() -> None:
    class Colour(Enum):
        RED = "red"

    assert schema_of(Colour)["properties"]["value"]["enum"] == ["red"]


def test_a_caller_may_change_the_schema_it_was_given() -> None:
    parser = output_parser(Person)
    first = parser.json_schema()
    assert first is not None
    first["properties"].clear()
    assert parser.json_schema() != first

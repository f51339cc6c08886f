"""Schemas for the decoder: bounded, and no wider than they were."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiservices.models.local.schemas import MOST_TOKENS, bounded, described, tokens_for
from tests.models.local.asking import fields


@pytest.mark.parametrize(
    ("schema", "made"),
    [
        ({"type": "string"}, {"type": "string", "maxLength": 500}),
        ({"type": "string", "maxLength": 9000}, {"type": "string", "maxLength": 9000}),
        ({"type": "string", "minLength": 600}, {"type": "string", "minLength": 600, "maxLength": 600}),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
        ({"type": "string", "pattern": "^(?=a)b"}, {"type": "string", "maxLength": 500}),
        ({"type": "integer"}, {"type": "integer", "minimum": -(10**15), "maximum": 10**15}),
        (
            {"type": "integer", "exclusiveMinimum": 0},
            {"type": "integer", "exclusiveMinimum": 0, "maximum": 10**15},
        ),
        (
            {"type": "integer", "minimum": 10**16},
            {"type": "integer", "minimum": 10**16, "maximum": 11 * 10**15},
        ),
        ({"type": "number"}, {"type": "number", "multipleOf": 1e-6}),
        ({"type": "array", "uniqueItems": True}, {"type": "array", "maxItems": 50}),
        ({"type": "array", "minItems": 60}, {"type": "array", "minItems": 60, "maxItems": 60}),
        ({"type": "object"}, {"type": "object", "maxProperties": 20}),
        ({"type": "boolean"}, {"type": "boolean"}),
        ({"enum": ["a", "b"], "type": "string"}, {"enum": ["a", "b"], "type": "string"}),
    ],
)
def test_what_has_no_bound_gets_one(schema: dict[str, Any], made: dict[str, Any]) -> None:
    assert bounded(schema) == made


def test_bounds_reach_every_part_and_objects_are_closed() -> None:
    part, made = {"type": "string", "title": "T"}, {"type": "string", "maxLength": 500}
    schema = {
        "type": "object",
        "properties": {"title": part, "list": {"type": "array", "items": part}, "any": {"anyOf": [part]}},
        "$defs": {"Part": part},
    }
    assert bounded(schema) == {
        "type": "object",
        "properties": {
            "title": made,
            "list": {"type": "array", "items": made, "maxItems": 50},
            "any": {"anyOf": [made]},
        },
        "$defs": {"Part": made},
        "additionalProperties": False,
    }


leaves = st.one_of(
    st.just({"type": "string"}),
    st.builds(lambda low: {"type": "integer", "minimum": low}, st.integers(-(10**17), 10**17)),
    st.builds(lambda high: {"type": "integer", "maximum": high}, st.integers(-(10**17), 10**17)),
    st.builds(lambda least: {"type": "string", "minLength": least}, st.integers(0, 700)),
    st.just({"type": ["boolean", "null"]}),
)
schemas = st.recursive(
    leaves,
    lambda parts: st.one_of(
        st.builds(lambda part: {"type": "array", "items": part}, parts),
        st.builds(lambda part: {"type": "object", "properties": {"p": part}, "required": ["p"]}, parts),
        st.builds(lambda some: {"anyOf": some}, st.lists(parts, min_size=1, max_size=2)),
    ),
    max_leaves=4,
)


def smallest(schema: dict[str, Any]) -> Any:
    """A value at the lower bounds of a bounded schema."""
    if "anyOf" in schema:
        return smallest(schema["anyOf"][0])
    match schema["type"]:
        case "string":
            return "x" * schema.get("minLength", 0)
        case "integer":
            return schema["minimum"]
        case "array":
            return [smallest(schema["items"])]
        case "object":
            return {"p": smallest(schema["properties"]["p"])}
        case _:
            return None


@given(schemas)
def test_a_bounded_schema_has_values_and_they_fit_the_schema_it_was_made_of(schema: dict[str, Any]) -> None:
    value = smallest(bounded(schema))
    jsonschema.validate(value, bounded(schema))
    jsonschema.validate(value, schema)


def test_the_model_sees_names_and_descriptions_but_no_titles() -> None:
    schema = {
        "title": "Trip",
        **fields(title={"type": "string", "title": "Title", "description": "Of the trip."}),
    }
    assert described(schema) == {
        "type": "object",
        "properties": {"title": {"type": "string", "description": "Of the trip."}},
        "required": ["title"],
    }


def test_the_tokens_of_an_answer_follow_from_its_schema() -> None:
    small = fields(age={"type": "integer"})
    town = fields(name={"type": "string", "maxLength": 400})
    assert tokens_for(small) == 64
    assert 200 < tokens_for(town) < 300
    assert tokens_for({**fields(home={"$ref": "#/$defs/Town"}), "$defs": {"Town": town}}) > tokens_for(town)
    for endless in (
        fields(names={"type": "array", "items": {"type": "string"}}),
        fields(map={"type": "object", "additionalProperties": {"type": "string"}}),
        {**fields(kid={"anyOf": [{"$ref": "#"}, {"type": "null"}]})},
        {},
    ):
        assert tokens_for(endless) == MOST_TOKENS

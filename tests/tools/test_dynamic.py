"""Tools described by a JSON Schema: remote ones, and those made at run time."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from aiservices import ConfigurationError, ToolArgumentsError, ToolContext
from aiservices.messages import ToolCall, ToolSpec
from aiservices.tools import Tool, ToolRegistry
from tests.tools.given import called, results

SCHEMAS: dict[str, tuple[dict[str, Any], str, Any]] = {
    "anyOf without type": (
        {"type": "object", "properties": {"x": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
        '{"x": null}',
        {"x": None},
    ),
    "array without items": (
        {"type": "object", "properties": {"x": {"type": "array"}}},
        '{"x": [1, "a"]}',
        {"x": [1, "a"]},
    ),
    "list of types": ({"properties": {"x": {"type": ["string", "null"]}}}, '{"x": "a"}', {"x": "a"}),
    "reference": (
        {"type": "object", "properties": {"x": {"$ref": "#/$defs/X"}}, "$defs": {"X": {"type": "integer"}}},
        '{"x": 9007199254740993}',
        {"x": 9007199254740993},
    ),
    "another draft": (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "definitions": {"a": {"type": "string"}},
            "properties": {"x": {"$ref": "#/definitions/a"}},
        },
        '{"x": "a"}',
        {"x": "a"},
    ),
    "names that are no identifiers": (
        {"type": "object", "properties": {"content-type": {"type": "string"}, "self": {}, "class": {}}},
        '{"content-type": "a", "self": 1, "class": 2}',
        {"content-type": "a", "self": 1, "class": 2},
    ),
    "data that looks like a reference": (
        {"type": "object", "properties": {"x": {"const": {"$ref": "#/nowhere"}}}},
        '{"x": {"$ref": "#/nowhere"}}',
        {"x": {"$ref": "#/nowhere"}},
    ),
    "nothing": ({}, "", {}),
}


@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_dynamic_tool_takes_any_schema_as_it_is_and_is_called_by_name(kind: str) -> None:
    schema, text, value = SCHEMAS[kind]
    seen: list[object] = []

    def execute(ctx: ToolContext, **arguments: Any) -> dict[str, Any]:
        seen.append(ctx.memory_id)
        return arguments

    made = Tool(ToolSpec("remote", "Far away.", schema), execute)
    (spec,) = ToolRegistry([made]).specs
    assert spec.parameters == schema
    assert called(made, text) == value
    assert seen == ["m1"]


def test_arguments_of_a_dynamic_tool_are_checked_with_every_problem_and_its_path() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "string"}}}}
        },
        "required": ["a", "c"],
        "additionalProperties": False,
    }
    made = Tool(ToolSpec("remote", "", schema), lambda **arguments: arguments)
    with pytest.raises(ToolArgumentsError) as caught:
        called(made, '{"a": [{"b": 1}, {"b": "s"}, {"b": 2}], "d": 1}')
    assert set(caught.value.problems) == {
        "'c' is a required property",
        "Additional properties are not allowed ('d' was unexpected)",
        "a[0].b: 1 is not of type 'string'",
        "a[2].b: 2 is not of type 'string'",
    }


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "object", "properties": {"x": {"type": "strin"}}}, r"\$\.properties\.x\.type"),
        (
            {"type": "object", "properties": {"x": {"$ref": "#/$defs/Y"}}},
            r"refer to '#/\$defs/Y', which is not in them",
        ),
        ({"type": "array"}, "are of type 'array', not an object"),
        ({"type": "object", "required": "x"}, r"\$\.required"),
    ],
)
def test_a_wrong_schema_is_a_mistake_of_the_declaration(schema: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"tool 'remote': its parameters .*{message}"):
        ToolRegistry([(ToolSpec("remote", "", schema), print)])


def test_nothing_is_fetched_for_a_reference_to_elsewhere(tmp_path: Path) -> None:
    elsewhere = tmp_path / "schema.json"
    elsewhere.write_text('{"type": "integer"}')
    schema = {"type": "object", "properties": {"x": {"$ref": elsewhere.as_uri()}}}
    made = Tool(ToolSpec("remote", "", schema), lambda **arguments: arguments)
    warnings.simplefilter("ignore")  # the validator warns when it fetches, which would hide that it does
    with pytest.raises(ToolArgumentsError, match=r"refers to 'file://.*schema\.json', which is not in it"):
        called(made, '{"x": 1}')


def test_a_model_cannot_send_what_is_injected_into_a_dynamic_tool() -> None:
    def execute(ctx: ToolContext, **arguments: Any) -> Any:
        return ctx.memory_id, arguments

    made = Tool(ToolSpec("remote", "", {"type": "object"}), execute)
    assert called(made, '{"ctx": "forged", "x": 1}') == ("m1", {"x": 1})


def test_a_dynamic_tool_may_be_an_object_or_asynchronous(invoke: Any) -> None:
    class Remote:
        async def __call__(self, ctx: ToolContext, **arguments: Any) -> str:
            return f"{ctx.call.id} {arguments}"

    pair = (ToolSpec("remote", "", {"properties": {"a-b": {}}}), Remote())
    (result,) = results(invoke, [pair], ToolCall("c1", "remote", '{"a-b": 1}'))
    assert result.text == "c1 {'a-b': 1}"

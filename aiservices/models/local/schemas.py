"""JSON Schemas as the constrained decoder takes them: bounded, so that a small model cannot run on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

Schema: TypeAlias = Mapping[str, Any]

LONGEST_TEXT: Final = 500
"""Characters of a string that says no `maxLength`, `format` or `pattern` of its own."""
LARGEST_INTEGER: Final = 10**15
"""The bound, up and down, of an integer that says none. All digits are exact in a JSON reader."""
MOST_ITEMS: Final = 50
"""Items of an array that says no `maxItems`."""
MOST_ENTRIES: Final = 20
"""Entries of an open object that says no `maxProperties`."""
FINEST_FRACTION: Final = 1e-6
"""Numbers that say no `multipleOf` have six decimal places."""

FEWEST_TOKENS: Final = 64
MOST_TOKENS: Final = 1024
CHARACTERS_OF_A_TOKEN: Final = 2
CHARACTERS_OF_A_NUMBER: Final = 16
CHARACTERS_OF_A_FORMAT: Final = 40

# Fixed white space, as models write it most: fewer tokens, and no room to run on in. `lenient` skips keywords
# that the decoder doesn't know; what they say is checked when the answer is parsed.
_GUIDANCE: Final = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
    "lenient": True,
}
_ANNOTATIONS: Final = frozenset(
    {"title", "description", "default", "examples", "deprecated", "$schema", "$id"}
)
_OF_SCHEMAS: Final = ("properties", "$defs", "definitions", "patternProperties")
_OF_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_OF_ONE: Final = ("items", "additionalProperties", "not")


def bounded(schema: Schema) -> dict[str, Any]:
    """The schema with a bound on everything that says none; see the constants of this module.

    An object that lists its properties is closed. What fits the result fits `schema` too, but for what the
    decoder cannot watch over: `uniqueItems`, look-around in a `pattern`, `not`, conditions.
    """
    made = {key: value for key, value in schema.items() if key not in _ANNOTATIONS}
    for key in _OF_SCHEMAS:
        if isinstance(made.get(key), Mapping):
            made[key] = {name: _part(part) for name, part in made[key].items()}
    for key in _OF_LISTS:
        if isinstance(made.get(key), Sequence):
            made[key] = [_part(part) for part in made[key]]
    for key in _OF_ONE:
        if key in made:
            made[key] = _part(made[key])
    if "enum" in made or "const" in made:
        return made
    for kind in _kinds(made):
        _BOUNDS.get(kind, _leave)(made)
    return made


def guided(schema: Schema) -> dict[str, Any]:
    """The bounded schema with the decoder's own options."""
    return {**bounded(schema), "x-guidance": _GUIDANCE}


def described(schema: Schema) -> dict[str, Any]:
    """The schema for the eyes of the model: without titles and without what closes it."""
    dropped = {"title", "additionalProperties", "$schema"}
    return {
        key: _described(key, value)
        for key, value in schema.items()
        if key not in dropped or isinstance(value, Mapping)
    }


def tokens_for(schema: Schema) -> int:
    """How many tokens an answer of this schema may take: from its bounds, between 64 and 1024."""
    characters = _characters(bounded(schema), schema, depth=0)
    return max(FEWEST_TOKENS, min(MOST_TOKENS, characters // CHARACTERS_OF_A_TOKEN + FEWEST_TOKENS // 2))


def _part(part: Any) -> Any:
    return bounded(part) if isinstance(part, Mapping) else part


def _kinds(schema: Schema) -> tuple[str, ...]:
    kind = schema.get("type", ())
    return (kind,) if isinstance(kind, str) else tuple(kind)


def _leave(_: dict[str, Any]) -> None:
    """Booleans and null need no bound."""


def _bound_text(schema: dict[str, Any]) -> None:
    if "(?" in schema.get("pattern", ""):
        del schema["pattern"]  # the decoder has no look-around
    if not schema.keys() & {"maxLength", "pattern", "format"}:
        schema["maxLength"] = max(LONGEST_TEXT, schema.get("minLength", 0))


def _bound_integer(schema: dict[str, Any]) -> None:
    if not schema.keys() & {"minimum", "exclusiveMinimum"}:
        upper = schema.get("maximum", schema.get("exclusiveMaximum", 0))
        schema["minimum"] = -LARGEST_INTEGER + min(0, int(upper))
    if not schema.keys() & {"maximum", "exclusiveMaximum"}:
        lower = schema.get("minimum", schema.get("exclusiveMinimum", 0))
        schema["maximum"] = LARGEST_INTEGER + max(0, int(lower))


def _bound_number(schema: dict[str, Any]) -> None:
    schema.setdefault("multipleOf", FINEST_FRACTION)


def _bound_array(schema: dict[str, Any]) -> None:
    schema.pop("uniqueItems", None)  # unknown to the decoder; checked when the answer is parsed
    schema.setdefault("maxItems", max(MOST_ITEMS, schema.get("minItems", 0)))


def _bound_object(schema: dict[str, Any]) -> None:
    if schema.get("properties"):
        schema.setdefault("additionalProperties", False)
    if schema.get("additionalProperties", True) is not False:
        schema.setdefault("maxProperties", max(MOST_ENTRIES, schema.get("minProperties", 0)))


_BOUNDS: Final = MappingProxyType(
    {
        "string": _bound_text,
        "integer": _bound_integer,
        "number": _bound_number,
        "array": _bound_array,
        "object": _bound_object,
    }
)


def _described(key: str, value: Any) -> Any:
    if key in _OF_SCHEMAS and isinstance(value, Mapping):
        return {name: described(part) if isinstance(part, Mapping) else part for name, part in value.items()}
    if key in ("enum", "const", "required"):
        return value
    if isinstance(value, Mapping):
        return described(value)
    if isinstance(value, list | tuple):
        return [described(part) if isinstance(part, Mapping) else part for part in value]
    return value


def _characters(schema: Schema, root: Schema, *, depth: int) -> int:
    """The length of the longest answer, roughly; what has no end counts as much as may be had at all."""
    endless = MOST_TOKENS * CHARACTERS_OF_A_TOKEN
    if depth > 8 or "$ref" in schema:
        return endless if depth > 8 else _referred(schema, root, depth)
    if "enum" in schema:
        return max((len(str(value)) + 2 for value in schema["enum"]), default=0)
    choices = [part for key in _OF_LISTS[:2] for part in schema.get(key, ())]
    if choices:
        return max(_characters(part, root, depth=depth + 1) for part in choices)
    return max(
        (_LENGTHS.get(kind, _length_of_word)(schema, root, depth) for kind in _kinds(schema)), default=endless
    )


def _referred(schema: Schema, root: Schema, depth: int) -> int:
    target: Any = root
    for step in str(schema["$ref"]).removeprefix("#/").split("/"):
        target = target.get(step, {}) if isinstance(target, Mapping) else {}
    return _characters(bounded(target), root, depth=depth + 1)


def _length_of_word(_schema: Schema, _root: Schema, _depth: int) -> int:
    return CHARACTERS_OF_A_NUMBER


def _length_of_text(schema: Schema, _root: Schema, _depth: int) -> int:
    length: int = schema.get("maxLength", CHARACTERS_OF_A_FORMAT if "format" in schema else LONGEST_TEXT)
    return length + 2


def _length_of_array(schema: Schema, root: Schema, depth: int) -> int:
    items = schema.get("items")
    each = _characters(items, root, depth=depth + 1) if isinstance(items, Mapping) else LONGEST_TEXT
    return int(schema["maxItems"]) * (each + 2) + 2


def _length_of_object(schema: Schema, root: Schema, depth: int) -> int:
    if schema.get("additionalProperties", True) is not False:
        return MOST_TOKENS * CHARACTERS_OF_A_TOKEN
    parts = schema.get("properties", {}).items()
    return 2 + sum(len(name) + 6 + _characters(part, root, depth=depth + 1) for name, part in parts)


_LENGTHS: Final = MappingProxyType(
    {"string": _length_of_text, "array": _length_of_array, "object": _length_of_object}
)

"""Making a JSON Schema plain: no titles, no single-use references, one way to say each thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

JsonSchema: TypeAlias = dict[str, Any]

_NAMED = frozenset({"properties", "$defs", "patternProperties"})
_LISTED = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE = frozenset({"items", "additionalProperties", "propertyNames", "contains", "not"})
_DROPPED = frozenset({"title", "default", "discriminator", "examples", "deprecated", "readOnly", "writeOnly"})
_PREFIX = "#/$defs/"
_LARGEST_INLINED = 2_000


def with_subschemas(schema: JsonSchema, change: Callable[[JsonSchema], JsonSchema]) -> JsonSchema:
    """A copy of `schema` whose direct subschemas have been changed."""
    made: JsonSchema = {}
    for key, value in schema.items():
        if key in _NAMED and isinstance(value, dict):
            made[key] = {name: change(part) for name, part in value.items()}
        elif key in _LISTED:
            made[key] = [change(part) for part in value]
        elif key in _SINGLE and isinstance(value, dict):
            made[key] = change(value)
        else:
            made[key] = value
    return made


def simplified(schema: JsonSchema) -> JsonSchema:
    """The same schema without titles, defaults and `oneOf`, and references only for recursive types."""
    plain = _plain(schema)
    return _Inlining(plain.pop("$defs", {})).whole(plain)


def _plain(schema: JsonSchema) -> JsonSchema:
    made = {key: value for key, value in with_subschemas(schema, _plain).items() if key not in _DROPPED}
    if "oneOf" in made:
        made["anyOf"] = made.pop("oneOf")
    if "const" in made:
        made["enum"] = [made.pop("const")]
    return made


class _Inlining:
    """Replaces references by what they point to, unless the type is recursive or the whole would be huge."""

    def __init__(self, definitions: dict[str, JsonSchema]) -> None:
        self._definitions = definitions
        self._needed: dict[str, JsonSchema] = {}
        self._size = 0
        self._recursive = {name for name in definitions if self._reaches(name, definitions[name], set())}

    def whole(self, root: JsonSchema) -> JsonSchema:
        name = _name(root)
        inlined = self._inline({**self._definitions[name], **_siblings(root)} if name else root)
        return {**inlined, "$defs": self._needed} if self._needed else inlined

    def _inline(self, schema: JsonSchema) -> JsonSchema:
        self._size += 1
        name = _name(schema)
        if not name:
            return with_subschemas(schema, self._inline)
        if name not in self._recursive and self._size < _LARGEST_INLINED:
            return self._inline({**self._definitions[name], **_siblings(schema)})
        if name not in self._needed:
            self._needed[name] = {}  # met again while it is being inlined
            self._needed[name] = self._inline(self._definitions[name])
        # Beside a reference providers take no other word.
        reference = {"$ref": schema["$ref"]}
        return {"anyOf": [reference], **_siblings(schema)} if _siblings(schema) else reference

    def _reaches(self, name: str, schema: JsonSchema, seen: set[str]) -> bool:
        for target in _references(schema):
            if target == name:
                return True
            if target not in seen:
                seen.add(target)
                if self._reaches(name, self._definitions[target], seen):
                    return True
        return False


def _name(schema: JsonSchema) -> str:
    return str(schema.get("$ref", "")).removeprefix(_PREFIX)


def _siblings(schema: JsonSchema) -> JsonSchema:
    return {key: value for key, value in schema.items() if key != "$ref"}


def _references(schema: JsonSchema) -> list[str]:
    found = [_name(schema)] if "$ref" in schema else []

    def collect(part: JsonSchema) -> JsonSchema:
        found.extend(_references(part))
        return part

    with_subschemas(schema, collect)
    return found

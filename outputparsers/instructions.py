"""Instructions for models that take no schema: what to answer with, in words and a sketch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, assert_never

from .classifying import Shape, Wire
from .schema import ENUM_DESCRIPTIONS, KIND, NAME

if TYPE_CHECKING:
    from .simplifying import JsonSchema

_FORMATS = {
    "date": "date string, yyyy-MM-dd (2023-12-31)",
    "time": "time string, HH:mm:ss (12:34:56)",
    "date-time": "date and time string, yyyy-MM-ddTHH:mm:ss (2023-12-31T12:34:56)",
    "duration": "duration string, ISO 8601 (PT1H30M)",
    "uuid": "UUID string",
}
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "greater than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "matching the regular expression {}",
}


_ONE_OBJECT = (
    "You must answer strictly with a single JSON object, with no other text, in the following format:"
)


def instructions_for(schema: JsonSchema, wire: Wire) -> str:
    """The instructions for a type with this bare schema; they begin with a line break."""
    words = _Words(schema)
    match wire.shape:
        case Shape.TEXT:
            return ""
        case Shape.OBJECT:
            lines = [_ONE_OBJECT, words.sketch(schema, "")]
        case Shape.COLLECTION:
            lines = _collection(schema, words)
        case Shape.SCALAR if wire.takes_text and not wire.takes_objects:
            lines = _scalar(schema, words, wire)
        case Shape.SCALAR:
            lines = _union(schema, words)
        case _:
            assert_never(wire.shape)
    return "\n".join(["", *lines, *words.definitions()])


def _collection(schema: JsonSchema, words: _Words) -> list[str]:
    if "items" not in schema:
        return [_ONE_OBJECT, f'{{"values": {words.sketch(schema, "")}}}']
    repeated = " Do not repeat a value." if schema.get("uniqueItems") else ""
    limits = _bounds(schema).removeprefix(", ")
    return [
        _ONE_OBJECT,
        f'{{"values": [{words.sketch(schema["items"], "")}, ...]}}',
        f"List as many values as there are ({limits})."
        if limits
        else "List as many values as there are, in order." + repeated,
    ]


def _scalar(schema: JsonSchema, words: _Words, wire: Wire) -> list[str]:
    if schema.get("type") == "boolean":
        return ["You must answer strictly with one of [true, false], with no other text."]
    if wire.labels:
        descriptions = schema.get(ENUM_DESCRIPTIONS, [""] * len(wire.labels.wires))
        pairs = zip(wire.labels.texts, descriptions, strict=True)
        lines = [f"{label} - {text}" if text else label for label, text in pairs]
        return [
            *filter(None, [schema.get("description")]),
            "You must answer strictly with one of these values, with no other text:",
            *lines,
        ]
    about = f": {schema['description']}" if "description" in schema else ""
    return [f"You must answer strictly with {_article(words.kind(schema, ''))}, with no other text{about}."]


def _union(schema: JsonSchema, words: _Words) -> list[str]:
    arms = [words.sketch(arm, "") for arm in schema.get("anyOf", [schema])]
    return [
        'You must answer strictly with a single JSON object of the form {"value": ...}, with no other text.',
        "The value must have exactly one of these shapes, with no other keys:",
        *(f"{number}. {arm}" for number, arm in enumerate(arms, start=1)),
    ]


def _article(words: str) -> str:
    return f"an {words}" if words[0] in "aeiou" else f"a {words}"


class _Words:
    """Writes schemas as sketches; collects the recursive types it had to mention by name."""

    def __init__(self, schema: JsonSchema) -> None:
        self._definitions: dict[str, JsonSchema] = schema.get("$defs", {})

    def definitions(self) -> list[str]:
        """One line per recursive type."""
        return [f"{_name(name, part)} is {self.sketch(part, '')}" for name, part in self._definitions.items()]

    def sketch(self, schema: JsonSchema, indent: str) -> str:
        """An object as braces and fields; anything else in words, in parentheses."""
        if schema.get("type") == "object" and "properties" in schema:
            return self._object(schema, indent)
        return f"({self._typed(schema, indent)})"

    def _object(self, schema: JsonSchema, indent: str) -> str:
        deeper = indent + "  "
        required = schema.get("required", [])
        fields = [
            f"{deeper}{json.dumps(name, ensure_ascii=False)}: "
            f"({self._typed(part, deeper, optional=name not in required)})"
            for name, part in schema["properties"].items()
        ]
        return "{\n" + ",\n".join(fields) + f"\n{indent}}}" if fields else "{}"

    def _typed(self, schema: JsonSchema, indent: str, *, optional: bool = False) -> str:
        described = schema.get("description", "")
        parts = [described] if described else []
        parts.append(f"type: {self.kind(schema, indent)}")
        parts += ["may be left out"] if optional else []
        return "; ".join(parts)

    def kind(self, schema: JsonSchema, indent: str) -> str:
        """The type of a value in words."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[-1]
            return _name(name, self._definitions[name])
        if KIND in schema:
            return str(schema[KIND]) + _bounds(schema["anyOf"][0])
        if "anyOf" in schema:
            return _either([self.kind(arm, indent) for arm in schema["anyOf"]])
        if "enum" in schema:
            return _choice(schema)
        match schema.get("type"):
            case "array":
                return self._array(schema, indent)
            case "object":
                return self._mapping(schema, indent)
            case _:
                return _scalar_kind(schema)

    def _array(self, schema: JsonSchema, indent: str) -> str:
        if "prefixItems" in schema:
            items = ", ".join(self.kind(item, indent) for item in schema["prefixItems"])
            return f"array of exactly [{items}]"
        unique = " without repetitions" if schema.get("uniqueItems") else ""
        return f"array{unique} of {self.kind(schema.get('items', {}), indent)}{_bounds(schema)}"

    def _mapping(self, schema: JsonSchema, indent: str) -> str:
        if "properties" in schema:
            name = schema.get(NAME, "")
            return f"{name}: {self._object(schema, indent)}" if name else self._object(schema, indent)
        values = schema.get("additionalProperties", {})
        names = _choice(schema["propertyNames"]) if "enum" in schema.get("propertyNames", {}) else ""
        keys = f" with keys from {names.removeprefix('enum, must be one of ')}" if names else ""
        kind = self.kind(values, indent) if isinstance(values, dict) else "any JSON value"
        return f"JSON object{keys}; type of its values: {kind}"


def _scalar_kind(schema: JsonSchema) -> str:
    match schema.get("type"):
        case "integer":
            return _integer(schema)
        case "number":
            return "floating point number" + _bounds(schema)
        case "string":
            return _FORMATS.get(schema.get("format", ""), "string") + _bounds(schema)
        case "boolean":
            return "boolean, one of [true, false]"
        case "null":
            return "null"
        case _:
            return "any JSON value"


def _name(name: str, schema: JsonSchema) -> str:
    return str(schema.get(NAME, name))


def _either(kinds: list[str]) -> str:
    return " or ".join(dict.fromkeys(kinds))


def _choice(schema: JsonSchema) -> str:
    words = [word if isinstance(word, str) else json.dumps(word) for word in schema["enum"]]
    about = schema.get(ENUM_DESCRIPTIONS)
    if about:
        words = [f"{word} ({text})" if text else word for word, text in zip(words, about, strict=True)]
    return f"enum, must be one of [{', '.join(words)}]"


def _integer(schema: JsonSchema) -> str:
    if "minimum" in schema and "maximum" in schema:
        return f"integer number in range [{schema['minimum']}, {schema['maximum']}]"
    return "integer number" + _bounds(schema)


def _bounds(schema: dict[str, Any]) -> str:
    said = [text.format(schema[key]) for key, text in _BOUNDS.items() if key in schema]
    return ", " + ", ".join(said) if said else ""

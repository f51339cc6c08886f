"""JSON Schemas in the dialect model providers take.

No `default`, no `oneOf`, no `discriminator`, no titles; references only for recursive types; an object at
the root. In the strict subset every property is required and every object closed; types that do not fit it
(free maps, fixed tuples, optional keys) keep a looser form that is still a good schema.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, cast

from pydantic.json_schema import GenerateJsonSchema

from .labels import Labels, enum_labels, literal_labels
from .simplifying import simplified, with_subschemas
from .tolerating import named_tuple_as_object

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import core_schema as cs

    from .simplifying import JsonSchema
    from .walking import Node

ENUM_DESCRIPTIONS = "x-enum-descriptions"
OPTIONAL_KEYS = "x-optional-keys"
NAME = "x-name"
KIND = "x-kind"
_NOTES = frozenset({ENUM_DESCRIPTIONS, OPTIONAL_KEYS, NAME, KIND})

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
_STRICT_FORMATS = frozenset(
    {"date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"},
)
_FOREIGN = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "uniqueItems": "without repetitions",
}
_UNFIT = frozenset({"prefixItems", "not", "allOf", "patternProperties", "propertyNames", "contains"})


def bare_schema(adapter: TypeAdapter[Any]) -> JsonSchema:
    """The schema of a type as it is: not wrapped, with notes for the instructions."""
    return simplified(adapter.json_schema(schema_generator=_Generator))


def wrapped_schema(schema: JsonSchema, key: str) -> JsonSchema:
    """An object whose only property is the value: what providers want at the root."""
    inner = {name: part for name, part in schema.items() if name != "$defs"}
    wrapper: JsonSchema = {"type": "object", "properties": {key: inner}, "required": [key]}
    return wrapper | {"$defs": schema["$defs"]} if "$defs" in schema else wrapper


def loose_schema(schema: JsonSchema) -> JsonSchema:
    """`schema` without the notes: what is sent when a type does not fit the strict subset."""
    plain = {key: value for key, value in schema.items() if key not in _NOTES}
    return with_subschemas(plain, loose_schema)


def strict_schema(schema: JsonSchema) -> JsonSchema | None:
    """`schema` within the strict subset, or None when its type does not fit."""
    return loose_schema(_strict(schema)) if _fits(schema) else None


def _fits(schema: JsonSchema) -> bool:
    kinds = {"type", "anyOf", "enum", "$ref"}
    free_map = schema.get("type") == "object" and bool(
        schema.get("additionalProperties", "properties" not in schema)
    )
    free_array = schema.get("type") == "array" and not schema.get("items")
    if (
        not kinds & schema.keys()
        or _UNFIT & schema.keys()
        or OPTIONAL_KEYS in schema
        or free_map
        or free_array
    ):
        return False
    fits = True

    def look(part: JsonSchema) -> JsonSchema:
        nonlocal fits
        fits = fits and _fits(part)
        return part

    with_subschemas(schema, look)
    return fits


def _strict(schema: JsonSchema) -> JsonSchema:
    made = with_subschemas(schema, _strict)
    if made.get("type") == "object":
        made |= {"required": list(made["properties"]), "additionalProperties": False}
    said = [text.format(made.pop(key)) for key, text in _FOREIGN.items() if key in made]
    if "(?" in made.get("pattern", ""):  # look-around is not for everyone
        said.append(f"matching {made.pop('pattern')}")
    if made.get("format", "date") not in _STRICT_FORMATS:
        said.append(f"format {made.pop('format')}")
    if said:
        made["description"] = " ".join(filter(None, [made.get("description"), f"({', '.join(said)})"]))
    return made


class _Generator(GenerateJsonSchema):
    """Pydantic's generator, with labels for choices, objects for named tuples, and no defaults."""

    def default_schema(self, schema: cs.WithDefaultSchema) -> JsonSchema:
        return self.generate_inner(schema["schema"])

    def enum_schema(self, schema: cs.EnumSchema) -> JsonSchema:
        described = super().enum_schema(schema).get("description")
        made = _choice(enum_labels(schema["cls"]))
        return made | {"description": described} if described else made

    def literal_schema(self, schema: cs.LiteralSchema) -> JsonSchema:
        return _choice(literal_labels(schema["expected"]))

    def decimal_schema(self, schema: cs.DecimalSchema) -> JsonSchema:
        number, text = super().decimal_schema(schema)["anyOf"]
        return {"anyOf": [number, {"type": text["type"]}], KIND: "floating point number"}

    def uuid_schema(self, schema: cs.UuidSchema) -> JsonSchema:
        return super().uuid_schema(schema) | {"description": "a UUID"}

    def named_tuple_schema(self, schema: cs.NamedTupleSchema) -> JsonSchema:
        return self._by_name(dict(schema), schema["cls"])

    def call_schema(self, schema: cs.CallSchema) -> JsonSchema:
        return self._by_name(dict(schema), cast("type", schema["function"]))

    def _by_name(self, node: Node, named_tuple: type) -> JsonSchema:
        made = self.generate_inner(cast("cs.CoreSchema", named_tuple_as_object(node)["schema"]))
        return _described(made, named_tuple) | {NAME: named_tuple.__name__}

    def typed_dict_schema(self, schema: cs.TypedDictSchema) -> JsonSchema:
        made = super().typed_dict_schema(schema)
        fields = schema["fields"].values()
        optional = any(
            not self.field_is_required(field, schema.get("total", True))
            and field["schema"]["type"] != "default"
            for field in fields
        )
        return made | {OPTIONAL_KEYS: True} if optional else made

    def dataclass_schema(self, schema: cs.DataclassSchema) -> JsonSchema:
        return _described(super().dataclass_schema(schema), schema["cls"]) | {NAME: schema["cls"].__name__}

    def model_schema(self, schema: cs.ModelSchema) -> JsonSchema:
        return super().model_schema(schema) | {NAME: schema["cls"].__name__}

    def field_is_present(self, field: Any) -> bool:
        return super().field_is_present(field) and field.get("init", True)


def _choice(labels: Labels) -> JsonSchema:
    made: JsonSchema = {"enum": list(labels.wires)}
    types = list(dict.fromkeys(_TYPES[type(wire)] for wire in labels.wires))
    made["type"] = types[0] if len(types) == 1 else types
    if any(labels.descriptions):
        made[ENUM_DESCRIPTIONS] = list(labels.descriptions)
    return made


def _described(schema: JsonSchema, cls: type) -> JsonSchema:
    """The class's docstring, unless it is the signature a dataclass or named tuple gets for want of one."""
    document = cls.__doc__
    if not document or document.startswith(f"{cls.__name__}(") or "description" in schema:
        return schema
    return schema | {"description": inspect.cleandoc(document)}


def ambiguous_arms(schema: JsonSchema) -> list[tuple[str, str]]:
    """Pairs of union arms that look the same but for their names and descriptions."""
    found: list[tuple[str, str]] = []

    def look(part: JsonSchema) -> JsonSchema:
        arms = part.get("anyOf", [])
        shapes = [_anonymous(arm) for arm in arms]
        for second, shape in enumerate(shapes):
            if shape in shapes[:second]:
                found.append((_arm_name(arms[shapes.index(shape)]), _arm_name(arms[second])))
        return with_subschemas(part, look)

    look(schema)
    return found


def _anonymous(schema: JsonSchema) -> JsonSchema:
    plain = {key: value for key, value in schema.items() if key not in _NOTES and key != "description"}
    return with_subschemas(plain, _anonymous)


def _arm_name(schema: JsonSchema) -> str:
    return str(schema.get(NAME) or schema.get("$ref", "").rsplit("/", 1)[-1] or schema.get("type", "one arm"))

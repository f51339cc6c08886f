"""Putting records together from parts that are validated already, with some of them missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .walking import Node

_INSTANCE = frozenset({"type", "cls", "root_model", "fields", "slots", "generic_origin"})
_FIELDS = frozenset({"type", "model_name", "dataclass_name", "cls_name"})
_CONFIG = frozenset({"title", "validate_by_name", "validate_by_alias", "extra_fields_behavior"})
_DEFAULT = frozenset({"default", "default_factory", "copy_default"})
_ANY: Node = {"type": "any"}


def keys_of(fields: Any, *, by_name: bool) -> Iterator[tuple[frozenset[str], Node]]:
    """Of each field the keys it may come under, its name among them if `by_name`, and its schema."""
    named = fields.items() if isinstance(fields, dict) else ((field["name"], field) for field in fields)
    for name, field in named:
        alias = field.get("validation_alias", name)
        paths = [[alias]] if isinstance(alias, str) else alias if isinstance(alias[0], list) else [alias]
        keys = frozenset(path[0] for path in paths if len(path) == 1)
        yield keys | {name} if by_name else keys, field["schema"]


def has_default(field: Node) -> bool:
    """Whether the schema of a field has a default that is made without code of the user."""
    if field["type"] != "default":
        return False
    factory = field.get("default_factory")
    return "default" in field or (isinstance(factory, type) and factory.__module__ == "builtins")


def shallow(node: Node, *, defaults: bool = False) -> Node:
    """The core schema of a record that takes parts as they are; others are None, or have their defaults."""
    match node["type"]:
        case "model" | "dataclass":
            return instance(node, shallow(node["schema"], defaults=defaults))
        case "function-after" if "cls_name" in node["schema"]:  # a named tuple
            return {**node, "schema": _optional(node["schema"], defaults)}
        case "function-before" | "function-after" | "function-wrap":
            return shallow(node["schema"], defaults=defaults)
        case _:
            return _optional(node, defaults)


def instance(node: Node, schema: Node) -> Node:
    """The core schema of the instances of a class, made of what `schema` gives; without code of the user."""
    config = {key: value for key, value in (node.get("config") or {}).items() if key in _CONFIG}
    made = {key: value for key, value in node.items() if key in _INSTANCE}
    return made | {"schema": schema, "config": config}


def _optional(node: Node, defaults: bool) -> Node:
    absent = {"on_error": "omit"} if node["type"] == "typed-dict" and "cls" in node else {"default": None}

    def field_of(field: Node) -> Node:
        schema = field["schema"]
        filled = defaults and has_default(schema)
        default = {key: schema[key] for key in _DEFAULT & schema.keys()} if filled else absent
        return _field(field, {"type": "default", "schema": _ANY, **default})

    match node["fields"]:
        case dict() as named:
            fields: object = {name: field_of(field) for name, field in named.items()}
        case listed:
            fields = [field_of(field) for field in listed if not field.get("init_only")]
    return {**{key: value for key, value in node.items() if key in _FIELDS}, "fields": fields}


def _field(field: Node, inner: Node) -> Node:
    made = {**field, "schema": inner}
    if field["type"] == "typed-dict-field":
        made["required"] = False
    return made

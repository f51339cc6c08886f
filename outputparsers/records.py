"""Putting records together from parts that are validated already, with some of them missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .walking import Node

_INSTANCE = frozenset({"type", "cls", "root_model", "fields", "slots", "generic_origin"})
_FIELDS = frozenset({"type", "model_name", "dataclass_name", "cls_name"})
_CONFIG = frozenset({"title", "validate_by_name", "validate_by_alias", "extra_fields_behavior"})
_ANY: Node = {"type": "any"}


def by_key(fields: Any) -> Iterator[tuple[str, Node]]:
    """The schemas of fields, by the keys they may come under: aliases first."""
    named = fields.items() if isinstance(fields, dict) else ((field["name"], field) for field in fields)
    listed = list(named)
    for name, field in listed:
        alias = field.get("validation_alias", name)
        paths = [[alias]] if isinstance(alias, str) else alias if isinstance(alias[0], list) else [alias]
        for path in paths:
            if len(path) == 1:
                yield path[0], field["schema"]
    for name, field in listed:  # where names are taken besides aliases
        yield name, field["schema"]


def shallow(node: Node) -> Node:
    """The core schema of a record that takes parts as they are, none of them required."""
    match node["type"]:
        case "model" | "dataclass":
            return instance(node, shallow(node["schema"]))
        case "function-after" if "cls_name" in node["schema"]:  # a named tuple
            return {**node, "schema": _optional(node["schema"])}
        case "function-before" | "function-after" | "function-wrap":
            return shallow(node["schema"])
        case _:
            return _optional(node)


def instance(node: Node, schema: Node) -> Node:
    """The core schema of the instances of a class, made of what `schema` gives; without code of the user."""
    config = {key: value for key, value in (node.get("config") or {}).items() if key in _CONFIG}
    made = {key: value for key, value in node.items() if key in _INSTANCE}
    made |= {"schema": schema, "config": config}
    return made | {"post_init": False} if node["type"] == "dataclass" else made


def _optional(node: Node) -> Node:
    absent = {"on_error": "omit"} if node["type"] == "typed-dict" and "cls" in node else {"default": None}
    inner = {"type": "default", "schema": _ANY, **absent}
    match node["fields"]:
        case dict() as named:
            fields: object = {name: _field(field, inner) for name, field in named.items()}
        case listed:
            fields = [_field(field, inner) for field in listed if not field.get("init_only")]
    return {**{key: value for key, value in node.items() if key in _FIELDS}, "fields": fields}


def _field(field: Node, inner: Node) -> Node:
    made = {**field, "schema": inner}
    if field["type"] == "typed-dict-field":
        made["required"] = False
    return made

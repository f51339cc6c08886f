"""Growing values from the beginning of an answer: what has arrived, typed; None for what has not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from .extracting import end_of_block, spoken_text
from .tolerating import NAMED_TUPLES, named_tuple_as_object, tolerant
from .walking import join_definitions, split_definitions, with_parts

if TYPE_CHECKING:
    from .walking import Node

_UNSTABLE = re.compile(r"[:\[,\s](-?[0-9][0-9.eE+-]*|-)$")
_COMPLETE_STRINGS = re.compile(r'(?:[^"]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_SCHEMA_OF = {
    "function-before": "schema",
    "function-after": "schema",
    "function-wrap": "schema",
    "default": "schema",
    "custom-error": "schema",
    "json-or-python": "json_schema",
    "lax-or-strict": "lax_schema",
}
_KEPT = frozenset(
    {"type", "schema", "items_schema", "keys_schema", "values_schema", "choices", "discriminator"}
)
_OBJECTS = frozenset({"model", "dataclass", "typed-dict", "tagged-union", "definition-ref", "function-after"})
_ANY: Node = {"type": "any"}
_CONFIG = frozenset({"title", "validate_by_name", "validate_by_alias", "extra_fields_behavior"})


def growing(core: Node) -> Node:
    """The core schema of partial values: nothing required, nothing constrained, no user code called.

    Objects are instances whose missing fields are None, lists hold what has arrived, and a scalar that is not
    complete is None. A union of objects without a discriminator stays a dictionary: its arm may still change.
    """
    node, definitions = split_definitions(core)
    return join_definitions(
        _grown(node), {name: _grown(definition) for name, definition in definitions.items()}
    )


def partial_json(text: str) -> Any:
    """The JSON value that has arrived so far, or None: without the last number, which may still grow."""
    answer = _arrived(text)
    if answer is None:
        return None
    try:
        return from_json(answer, allow_partial="trailing-strings", allow_inf_nan=False)
    except (ValueError, TypeError):  # half a surrogate pair is a TypeError
        return None


def _arrived(text: str) -> str | None:
    answer = spoken_text(text)
    if answer.lstrip().lower().startswith(("<think", "<|")):
        return None
    opening = _OPENING.search(answer)
    if not opening:
        return None
    answer = answer[opening.start() : end_of_block(answer, opening.start())]
    unstable = _UNSTABLE.search(answer[-64:])
    if unstable and _COMPLETE_STRINGS.fullmatch(answer):
        return answer[: len(answer) - len(unstable.group(1))]
    return answer


def _grown(node: Node) -> Node:
    match node["type"]:
        case "model" | "dataclass" as kind:
            return _instance(node, kind)
        case "model-fields" | "dataclass-args" | "typed-dict":
            return _fields(node)
        case kind if kind in NAMED_TUPLES:
            return {**named_tuple_as_object(node), "schema": _fields(named_tuple_as_object(node)["schema"])}
        case "union":
            return _union(node)
        case "list" | "set" | "frozenset" | "dict" | "deque" | "tuple":
            return _collection(node)
        case "enum" | "literal" | "date" | "time" | "datetime":
            return tolerant(_plain(node))
        case "chain":
            return _grown(node["steps"][0])
        case kind if kind in _SCHEMA_OF:
            return _grown(node[_SCHEMA_OF[kind]])
        case _:
            return _leaf(node)


def _leaf(node: Node) -> Node:
    if node["type"] in ("nullable", "tagged-union"):
        return with_parts(_plain(node), _grown)
    simple = {"str", "int", "float", "decimal", "bool", "none", "timedelta", "uuid", "url", "definition-ref"}
    if node["type"] not in simple:
        return _ANY
    return node if node["type"] == "definition-ref" else {"type": node["type"]}


def _plain(node: Node) -> Node:
    kept = _KEPT | {"cls", "members", "sub_type", "expected"}
    return {key: value for key, value in node.items() if key in kept}


def _instance(node: Node, kind: str) -> Node:
    config = {key: value for key, value in (node.get("config") or {}).items() if key in _CONFIG}
    kept = {"type", "cls", "root_model", "fields", "slots", "generic_origin"}
    made = {key: value for key, value in node.items() if key in kept}
    made |= {"schema": _grown(node["schema"]), "config": config}
    return made | {"post_init": False} if kind == "dataclass" else made


def _fields(node: Node) -> Node:
    """Every field optional; one that is wrong so far is as good as absent."""
    absent = {"on_error": "omit"} if node["type"] == "typed-dict" and "cls" in node else _MISSING
    match node["fields"]:
        case dict() as named:
            fields: object = {name: _field(field, absent) for name, field in named.items()}
        case listed:
            fields = [_field(field, absent) for field in listed if not field.get("init_only")]
    kept = {
        key: value
        for key, value in node.items()
        if key in ("type", "model_name", "dataclass_name", "cls_name")
    }
    return {**kept, "fields": fields}


_MISSING: Node = {"default": None, "on_error": "default"}


def _field(field: Node, absent: Node) -> Node:
    inner = {"type": "default", "schema": _grown(field["schema"]), **absent}
    made = {**field, "schema": inner}
    if field["type"] == "typed-dict-field":
        made["required"] = False
    return made


def _collection(node: Node) -> Node:
    if node["type"] == "tuple":
        return {"type": "tuple", "items_schema": [_ANY], "variadic_item_index": 0}
    changed = with_parts(_plain(node), _grown)
    for part in ("items_schema", "values_schema"):
        if part in changed:
            changed[part] = {"type": "default", "schema": changed[part], "on_error": "omit"}
    return changed


def _union(node: Node) -> Node:
    arms = [choice[0] if isinstance(choice, tuple) else choice for choice in node["choices"]]
    if sum(arm["type"] in _OBJECTS for arm in arms) > 1:
        return _ANY
    return {"type": "union", "choices": [_grown(arm) for arm in arms]}


def partial_text(text: str) -> str | None:
    """What the reader has been told so far, or None while the model is still thinking."""
    spoken = spoken_text(text)
    return spoken if spoken and not _is_preamble(spoken) else None


def _is_preamble(text: str) -> bool:
    """Whether `text` still may be, or is, the beginning of a thought or of a channel marker."""
    start = text.lstrip().lower()
    return any(
        start.startswith(mark) or mark.startswith(start) for mark in ("<think", "<|channel|", "<|start|")
    )

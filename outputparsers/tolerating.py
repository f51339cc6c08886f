"""The validator an answer meets: the type's own, kinder about words and stricter about guesses.

Kinder: members of enums and literals by value, by name and in any case. Stricter: no NaN and no infinity,
no dates from bare numbers, no numbers from true, no unknown keys within the arms of a union, and named tuples
come from objects only. All of it is written into the core schema once: a right answer costs next to nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .digits import as_written, whole_as_written
from .labels import Labels, enum_labels, literal_labels, plain_word
from .walking import join_definitions, split_definitions, with_parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from .walking import Node

ARM = "\0"
"""Starts the label of a union's arm in the location of an error, where no key of JSON would."""

NAMED_TUPLES = frozenset({"named-tuple", "call"})
"""What pydantic writes for a named tuple: since 2.14 the former, before that a call of its class."""

_OBJECTS = frozenset({"model-fields", "dataclass-args", "typed-dict"})
_WRAPPERS = {
    "model", "dataclass", "nullable", "default", "chain", "definitions", "json-or-python", "lax-or-strict",
    "function-before", "function-after", "function-wrap",
}  # fmt: skip
_THROUGH = frozenset(_WRAPPERS | {"list", "set", "frozenset", "tuple", "dict", "deque"})
_STARTS = {"date": r"^\s*\d{4}-\d", "datetime": r"^\s*\d{4}-\d", "time": r"^\s*\d\d:\d"}
_NOT_A_NUMBER = {"int": "int_type", "float": "float_type", "decimal": "decimal_type"}
_CLOSED = "#closed"


def tolerant(core: Node) -> Node:
    """The core schema answers are validated with."""
    node, definitions = split_definitions(core)
    return _Tolerance(definitions).whole(node)


class _Tolerance:
    """One pass over one core schema; remembers which definitions are needed in closed form."""

    def __init__(self, definitions: dict[str, Node]) -> None:
        self._definitions = definitions
        self._closed: dict[str, Node] = {}
        self._changes: dict[str, Callable[[Node], Node]] = {
            "bool": _boolean,
            "enum": _enum,
            "literal": _literal,
            "int": _number,
            "float": _number,
            "decimal": _number,
            "date": _spelled_out,
            "datetime": _spelled_out,
            "time": _spelled_out,
            "any": _finite_everywhere,
            "union": self._union,
            "model": self._instance,
            "dataclass": self._instance,
        }

    def whole(self, node: Node) -> Node:
        root = self._open(node)
        named = {name: self._open(definition) for name, definition in self._definitions.items()}
        return join_definitions(root, named | self._closed)

    def _open(self, node: Node) -> Node:
        kind = node.get("type", "")
        if kind in NAMED_TUPLES:
            return self._open(named_tuple_as_object(node))
        change = self._changes.get(kind)
        return change(node) if change else with_parts(node, self._open)

    def _shut(self, node: Node) -> Node:
        """As `_open`, and the objects reached without passing through a field refuse unknown keys."""
        kind = node.get("type", "")
        if kind in NAMED_TUPLES:
            return self._shut(named_tuple_as_object(node))
        if kind == "definition-ref":
            return {**node, "schema_ref": self._closed_definition(node["schema_ref"])}
        if kind in _OBJECTS and node.get("extra_behavior") != "allow":
            return {**self._open(node), "extra_behavior": "forbid"}
        if kind in _THROUGH and _extra(node) != "allow":
            return with_parts(node, self._shut)
        return self._open(node)

    def _closed_definition(self, name: str) -> str:
        closed = name + _CLOSED
        if closed not in self._closed:
            self._closed[closed] = {}  # a recursive definition meets its own name while it is being closed
            self._closed[closed] = self._shut(self._definitions[name])
        return closed

    def _instance(self, node: Node) -> Node:
        made = with_parts(node, self._open)
        fields = made["schema"]
        if _extra(node) == "allow" and fields["type"] == "model-fields" and "extras_schema" not in fields:
            fields |= {"extra_behavior": "allow", "extras_schema": _finite_everywhere({"type": "any"})}
        return made

    def _union(self, node: Node) -> Node:
        arms = [choice[0] if isinstance(choice, tuple) else choice for choice in node["choices"]]
        labelled = [(self._shut(arm), f"{ARM}{index}") for index, arm in enumerate(arms)]
        return {**with_parts({**node, "choices": []}, self._open), "choices": labelled}


def _extra(node: Node) -> object:
    return (node.get("config") or {}).get("extra_fields_behavior")


def _enum(node: Node) -> Node:
    return _labelled(node, enum_labels(node["cls"]), "enum")


def _literal(node: Node) -> Node:
    return _labelled(node, literal_labels(node["expected"]), "literal_error")


def _boolean(node: Node) -> Node:
    """Its words as those of other closed choices are read; which words there are is pydantic's business."""
    if node.get("strict"):
        return node
    return {
        "type": "function-before",
        "function": {"type": "no-info", "function": _plain},
        "schema": node,
    }


def _plain(given: object) -> object:
    return plain_word(given) if isinstance(given, str) else given


def _labelled(node: Node, labels: Labels, error: str) -> Node:
    def read(answer: object) -> object:
        try:
            return labels.read(answer)
        except LookupError:
            raise ValueError(answer) from None  # reported as the union's own error

    exact = {key: value for key, value in node.items() if key not in ("ref", "metadata")}
    by_word: Node = {"type": "function-plain", "function": {"type": "no-info", "function": read}}
    # Pydantic would take true for the number 1, so numbers are looked up here.
    only_words = all(isinstance(wire, str) for wire in labels.wires)
    return {
        "type": "union",
        "mode": "left_to_right",
        "choices": [exact, by_word] if only_words else [by_word],
        "custom_error_type": error,
        "custom_error_context": {"expected": _listed([repr(wire) for wire in labels.wires])},
    }


def _listed(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _number(node: Node) -> Node:
    """Numbers and texts of numbers, finite ones; true is no 1.

    The strict arm is what a right answer takes; the other reads 42.0 and "42" and says what is wrong.
    """
    finite = _finite(node)
    if node.get("strict"):
        return finite
    kinds = [
        {"type": "int", "strict": True},
        {"type": "float", "strict": True},
        {"type": "str", "strict": True},
    ]
    given = {
        "type": "union",
        "mode": "left_to_right",
        "choices": kinds,
        "custom_error_type": _NOT_A_NUMBER[node["type"]],
    }
    arms = [
        (_strict(finite), f"{ARM}number"),
        ({"type": "chain", "steps": [given, finite]}, f"{ARM}text"),
    ]
    return {"type": "union", "mode": "left_to_right", "choices": arms}


def _finite(node: Node) -> Node:
    """Without infinities, and with the digits that were written."""
    made = with_parts(node, lambda part: part)
    match node["type"]:
        case "int" if not node.get("strict"):
            return _before(whole_as_written, made)
        case "decimal":
            return _before(as_written, {**made, "allow_inf_nan": False})
        case "float":
            return {**made, "allow_inf_nan": False}
        case _:
            return made


def _strict(number: Node) -> Node:
    if number["type"] != "function-before":
        return {**number, "strict": True}
    strict = {**number["schema"], "strict": True}
    return strict if strict["type"] == "int" else {**number, "schema": strict}


def _before(function: Any, schema: Node) -> Node:
    return {
        "type": "function-before",
        "function": {"type": "with-info", "function": function},
        "schema": schema,
    }


def _spelled_out(node: Node) -> Node:
    """Only texts that begin like a date or a time: 2024 is no moment in 1970."""
    kind = node["type"]
    text = {"type": "str", "pattern": _STARTS[kind]}
    first = {"type": "custom-error", "schema": text, "custom_error_type": f"{kind}_type"}
    return {"type": "chain", "steps": [first, {**with_parts(node, lambda part: part), "strict": False}]}


def _finite_everywhere(node: Node) -> Node:
    check = {"type": "no-info", "function": _refuse_non_finite}
    return {"type": "function-after", "function": check, "schema": node}


def _refuse_non_finite(value: Any) -> Any:
    match value:
        case float() if not math.isfinite(value):
            raise ValueError("Input should be a finite number")
        case dict():
            for part in value.values():
                _refuse_non_finite(part)
        case list():
            for part in value:
                _refuse_non_finite(part)
        case _:
            pass
    return value


def named_tuple_as_object(node: Node) -> Node:
    """A named tuple as its fields by name: positions mean nothing to a model."""
    named_tuple = node.get("cls") or node["function"]
    listed = node["fields"] if "fields" in node else node["arguments_schema"]["arguments_schema"]
    fields = {field["name"]: _field(field) for field in listed}
    build = {"type": "no-info", "function": lambda values: named_tuple(**values)}
    return {
        "type": "function-after",
        "function": build,
        "schema": {"type": "typed-dict", "fields": fields, "cls_name": named_tuple.__name__},
    }


def _field(field: Node) -> Node:
    required = field["schema"]["type"] != "default"
    alias = {"validation_alias": field["validation_alias"]} if "validation_alias" in field else {}
    return {"type": "typed-dict-field", "schema": field["schema"], "required": required, **alias}

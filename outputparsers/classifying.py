"""How the values of a type travel, judged by what the type is made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from .labels import Labels, boolean_labels, enum_labels, literal_labels
from .tolerating import NAMED_TUPLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .walking import Node


class Shape(StrEnum):
    """What an answer looks like as JSON; the value is the key of the wrapper where there is one."""

    TEXT = "text"
    OBJECT = "object"
    SCALAR = "value"
    COLLECTION = "values"


@dataclass(frozen=True, slots=True)
class Wire:
    """How values of a type travel.

    `takes_objects` and `takes_text` say whether the type, or an arm of it, is an object, or can be written
    without JSON; `verbatim` that any text will do; `exact_digits` that a JSON number could lose some
    of its digits.
    """

    shape: Shape
    labels: Labels | None
    takes_objects: bool
    takes_text: bool
    verbatim: bool
    exact_digits: bool


_OBJECTS = frozenset({"model", "dataclass", "typed-dict", "dict", "ordered-dict", "counter"}) | NAMED_TUPLES
_COLLECTIONS = frozenset({"list", "set", "frozenset", "tuple", "deque"})
_STRUCTURED = _OBJECTS | _COLLECTIONS | {"any"}
_THROUGH = {
    "default": "schema",
    "function-before": "schema",
    "function-after": "schema",
    "function-wrap": "schema",
    "custom-error": "schema",
    "json-or-python": "json_schema",
    "lax-or-strict": "lax_schema",
}
_PLAIN_TEXT = frozenset({"type", "metadata", "ref"})


def classified(node: Node, definitions: dict[str, Node]) -> Wire:
    """How the type `node` describes travels."""
    if node["type"] == "str" and node.keys() <= _PLAIN_TEXT:
        return Wire(Shape.TEXT, None, takes_objects=False, takes_text=True, verbatim=True, exact_digits=False)
    core = _unwrapped(node, definitions)
    shape = _shape(core)
    told = _items(core) if shape is Shape.COLLECTION else [core]
    arms = [arm for part in told for arm in _arms(part, definitions)]
    kinds = {arm["type"] for arm in arms}
    fits_lines = shape is not Shape.COLLECTION or not kinds & _STRUCTURED
    return Wire(
        shape,
        _labels(core),
        takes_objects=shape is Shape.SCALAR and bool(kinds & _OBJECTS),
        takes_text=shape is not Shape.OBJECT and bool(kinds - _STRUCTURED) and fits_lines,
        verbatim="str" in kinds,
        exact_digits=kinds == {"decimal"},
    )


def _shape(core: Node) -> Shape:
    if core["type"] in _OBJECTS:
        return Shape.OBJECT
    return Shape.COLLECTION if core["type"] in _COLLECTIONS else Shape.SCALAR


def _unwrapped(node: Node, definitions: dict[str, Node]) -> Node:
    """The node that decides, under validators, references and root models."""
    while True:
        kind = node["type"]
        if kind == "definition-ref":
            node = definitions[node["schema_ref"]]
        elif kind in _THROUGH:
            node = node[_THROUGH[kind]]
        elif kind == "model" and node.get("root_model"):
            node = (
                node["schema"]["fields"]["root"]["schema"] if "fields" in node["schema"] else node["schema"]
            )
        elif kind == "chain":
            node = node["steps"][0]
        else:
            return node


def _items(core: Node) -> list[Node]:
    items = core.get("items_schema", {"type": "any"})
    if isinstance(items, dict):
        return [items]
    one_kind = len(items) == 1 and "variadic_item_index" in core
    return list(items) if one_kind else [{"type": "any"}]


def _arms(node: Node, definitions: dict[str, Node], depth: int = 0) -> Iterator[Node]:
    core = _unwrapped(node, definitions)
    inner: list[Node] = []
    match core["type"]:
        case "nullable":
            inner = [core["schema"]]
        case "union":
            inner = [choice[0] if isinstance(choice, tuple) else choice for choice in core["choices"]]
        case "tagged-union":
            inner = list(core["choices"].values())
        case _:
            yield core
    for part in inner if depth < 8 else ():
        yield from _arms(part, definitions, depth + 1)


def _labels(core: Node) -> Labels | None:
    match core["type"]:
        case "bool":
            return boolean_labels()
        case "enum":
            return enum_labels(core["cls"])
        case "literal":
            return literal_labels(core["expected"])
        case _:
            return None

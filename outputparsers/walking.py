"""Walking over pydantic's core schemas: plain nested dictionaries, one per part of a type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Node: TypeAlias = dict[str, Any]

_PARTS = frozenset(
    {
        "schema", "items_schema", "keys_schema", "values_schema", "lax_schema", "strict_schema",
        "json_schema", "python_schema", "extras_schema", "extras_keys_schema", "arguments_schema",
        "var_args_schema", "var_kwargs_schema", "choices", "steps", "fields", "definitions",
    }
)  # fmt: skip


def split_definitions(core: Node) -> tuple[Node, dict[str, Node]]:
    """A core schema and the definitions its references point to, by name."""
    if core["type"] != "definitions":
        return core, {}
    return core["schema"], {node["ref"]: node for node in core["definitions"]}


def join_definitions(node: Node, definitions: dict[str, Node]) -> Node:
    """The inverse of `split_definitions`."""
    if not definitions:
        return node
    named = [{**definition, "ref": name} for name, definition in definitions.items()]
    return {"type": "definitions", "schema": node, "definitions": named}


def with_parts(node: Node, change: Callable[[Node], Node]) -> Node:
    """A copy of `node` whose direct parts have been changed. References are the caller's to keep."""
    changed = {key: _changed(value, change) if key in _PARTS else value for key, value in node.items()}
    changed.pop("ref", None)
    return changed


def parts(node: Node) -> Iterator[Node]:
    """The direct parts of `node`."""
    for key, value in node.items():
        if key in _PARTS:
            yield from _nodes(value)


def mentions(node: Node, kind: str) -> bool:
    """Whether there is a part of this type anywhere in `node`."""
    return node.get("type") == kind or any(mentions(part, kind) for part in parts(node))


def _changed(value: Any, change: Callable[[Node], Node]) -> Any:
    match value:
        case {"type": str()} | {"schema": dict()}:
            return change(value)
        case dict():
            return {key: _changed(part, change) for key, part in value.items()}
        case list():
            return [_changed(part, change) for part in value]
        case (dict() as part, label):
            return (change(part), label)
        case _:
            return value


def _nodes(value: Any) -> Iterator[Node]:
    match value:
        case {"type": str()} | {"schema": dict()}:
            yield value
        case dict():
            for part in value.values():
                yield from _nodes(part)
        case list() | tuple():
            for part in value:
                yield from _nodes(part)
        case _:
            return

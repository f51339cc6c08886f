"""Reading a type: is it supported, what is it called, what does it consist of."""

from __future__ import annotations

import re
import sys
import types
import typing
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import typing_extensions
from pydantic import BaseModel, PydanticSchemaGenerationError, PydanticUndefinedAnnotation, TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic_core import SchemaError

from .errors import UnsupportedTypeError
from .walking import parts, split_definitions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .walking import Node

_ALIASES = (
    typing_extensions.TypeAliasType,
    getattr(typing, "TypeAliasType", typing_extensions.TypeAliasType),
)
_ARITY = {list: 1, set: 1, frozenset: 1, dict: 2}
_NAMES = {"list": "List_of", "set": "Set_of", "frozenset": "Set_of", "tuple": "Tuple_of", "dict": "Map_of"}
_SCALAR_NAMES = {"int": "integer", "float": "number", "Decimal": "number", "bool": "boolean", "str": "string"}
_UNSUPPORTED_NODES = {
    "bytes": "bytes do not travel as JSON: write str",
    "callable": "a function is no answer: write the type of its result",
    "is-instance": "no answer can become an instance of it: write a dataclass or a pydantic model",
    "is-subclass": "a class is no answer: write an Enum or a Literal of its name",
    "generator": "an iterator is no finished answer: write list[...]",
    "none": "None alone says nothing: write X | None",
}


@dataclass(frozen=True, slots=True)
class ReadType:
    """A type, read once: how it is shown to people, what a schema of it is called, pydantic's view of it."""

    text: str
    schema_name: str
    adapter: TypeAdapter[Any]
    core: Node


def read_type(type_: Any, namespace: Mapping[str, object] | None = None) -> ReadType:
    """Read `type_`; UnsupportedTypeError says what is wrong with it and what to write instead."""
    text = type_text(type_)
    _check(type_, text, frozenset())
    adapter = _adapter(type_, text, namespace)
    core: Node = adapter.core_schema  # type: ignore[assignment]
    node, definitions = split_definitions(core)
    if node["type"] == "any":
        raise UnsupportedTypeError(f"{text} says nothing about the answer: write the type you expect, or str")
    for part in (node, *definitions.values()):
        _check_node(part, text)
    return ReadType(text, schema_name(type_), adapter, core)


def type_text(type_: Any) -> str:
    """A type as it would be written, without modules: `dict[str, Person | None]`."""
    if type_ is None or type_ is type(None):
        return "None"
    if type_ is Ellipsis:
        return "..."
    if isinstance(type_, _ALIASES):
        return str(type_.__name__)
    origin, args = typing.get_origin(type_), typing.get_args(type_)
    if origin is typing.Annotated or origin is typing_extensions.Annotated:
        return type_text(args[0])
    if origin in (typing.Union, types.UnionType):
        return " | ".join(map(type_text, args))
    if origin in (typing.Literal, typing_extensions.Literal):
        return f"Literal[{', '.join(_literal_text(arg) for arg in args)}]"
    if origin is not None and args:
        return f"{type_text(origin)}[{', '.join(map(type_text, args))}]"
    return str(getattr(type_, "__name__", None) or re.sub(r"\b[\w.]+\.(?=\w)", "", str(type_)))


def schema_name(type_: Any) -> str:
    """A name providers accept: `Person`, `integer`, `List_of_Person`."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", _name(type_)).strip("_")
    return name[:64] or "answer"


def _name(type_: Any) -> str:
    origin, args = typing.get_origin(type_), typing.get_args(type_)
    if origin is typing.Annotated:
        return _name(args[0])
    if origin in (typing.Union, types.UnionType):
        return "_or_".join(map(_name, args))
    if origin is typing.Literal:
        return "Literal"
    container = _NAMES.get(getattr(origin, "__name__", ""))
    if container:
        return f"{container}_{_name(args[-1] if container == 'Map_of' else args[0])}" if args else container
    text = type_text(type_)
    return _SCALAR_NAMES.get(text, text)


def _literal_text(value: object) -> str:
    return f"{type(value).__name__}.{value.name}" if isinstance(value, Enum) else repr(value)


def _adapter(type_: Any, text: str, namespace: Mapping[str, object] | None) -> TypeAdapter[Any]:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(type_, _parent_depth=_frames_to_caller())
        if not adapter.pydantic_complete:
            adapter.rebuild(raise_errors=True, _types_namespace=dict(namespace or {}))
    except PydanticUndefinedAnnotation as error:
        raise UnsupportedTypeError(
            f"{text} mentions the name {error.name!r}, which cannot be found: define it before the parser is "
            "built, at module level, and not under `if TYPE_CHECKING:`",
        ) from error
    except (PydanticSchemaGenerationError, PydanticUserError, SchemaError, NameError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise UnsupportedTypeError(
            f"{text} is not a type an answer can have ({reason}): write a dataclass, a TypedDict or a pydantic "
            "model, or register a parser for it",
        ) from error
    return adapter


def _frames_to_caller() -> int:
    """How far above `TypeAdapter` the first frame outside this package is: forward references see its names."""
    depth = 1
    while sys._getframe(depth).f_globals.get("__package__") == __package__:
        depth += 1
    return depth + 1


def _check(type_: Any, text: str, seen: frozenset[int]) -> None:
    """Refuse what pydantic would misread, here and in the arguments of `type_`."""
    if isinstance(type_, _ALIASES):
        if id(type_) not in seen:
            _check(type_.__value__, text, seen | {id(type_)})
        return
    _check_alone(type_, text)
    origin, args = typing.get_origin(type_), typing.get_args(type_)
    if origin in _ARITY and len(args) != _ARITY[origin]:
        wanted, suggestion = type_text(origin), " | ".join(map(type_text, args))
        raise UnsupportedTypeError(
            f"{wanted} takes {_ARITY[origin]} argument(s) but was given ({', '.join(map(type_text, args))}): "
            f"write {wanted}[{suggestion}] for a union",
        )
    if origin in (typing.Literal, typing_extensions.Literal):
        if not args:
            raise UnsupportedTypeError("a Literal without members has no possible answer: give it members")
        return
    for arg in args[:1] if origin is typing.Annotated else args:
        if arg is not Ellipsis:
            _check(arg, text, seen)
    if isinstance(type_, type) and issubclass(type_, BaseModel) and id(type_) not in seen:
        for field in type_.model_fields.values():
            _check(field.annotation, f"{text}, in {type_.__name__}", seen | {id(type_)})


def _check_alone(type_: Any, text: str) -> None:
    if isinstance(type_, types.ModuleType):
        raise UnsupportedTypeError(f"{type_.__name__} is a module, not a type: name a class in it")
    if isinstance(type_, types.FunctionType | types.BuiltinFunctionType | types.LambdaType):
        raise UnsupportedTypeError(f"{text} is a function, not a type: write the type it returns")
    if isinstance(type_, type) and issubclass(type_, Enum) and not list(type_):
        raise UnsupportedTypeError(
            f"the enum {type_.__name__} has no members, so no answer is possible: give it some"
        )
    parameters = () if isinstance(type_, type) and type_.__module__ == "builtins" else _parameters(type_)
    if parameters or isinstance(type_, typing.TypeVar):
        names = ", ".join(str(parameter) for parameter in parameters) or str(type_)
        raise UnsupportedTypeError(f"{text} leaves {names} open: write what it stands for, as in {text}[int]")


def _parameters(type_: Any) -> tuple[object, ...]:
    metadata = getattr(type_, "__pydantic_generic_metadata__", None)
    if metadata:
        return tuple(metadata["parameters"])
    return tuple(getattr(type_, "__parameters__", ())) if not isinstance(type_, _ALIASES) else ()


def _check_node(node: Node, text: str) -> None:
    for part in _walk(node):
        kind = part.get("type", "")
        if kind in _UNSUPPORTED_NODES and not (kind == "none" and part is not node):
            raise UnsupportedTypeError(
                f"{text}: {_node_name(part)} is not supported, {_UNSUPPORTED_NODES[kind]}"
            )
        if kind == "enum" and not part["members"]:
            raise UnsupportedTypeError(
                f"{text}: the enum {part['cls'].__name__} has no members: give it some"
            )
        alias = part.get("validation_alias")
        if isinstance(alias, list) and not any(isinstance(path, list) and len(path) == 1 for path in alias):
            raise UnsupportedTypeError(
                f"{text}: an AliasPath {alias} has no place in a schema: write a plain alias"
            )


def _node_name(node: Node) -> str:
    return type_text(node["cls"]) if "cls" in node else str(node["type"])


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for part in parts(node):
        yield from _walk(part)

"""Reading a type: is it supported, what is it called, what does it consist of."""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections import abc
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, PydanticSchemaGenerationError, PydanticUndefinedAnnotation, TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic_core import SchemaError

from .errors import UnsupportedTypeError
from .naming import ALIASES, LITERALS, schema_name, type_text
from .restating import restated
from .walking import parts, split_definitions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .walking import Node

_ARITY = {list: 1, set: 1, frozenset: 1, dict: 2}
_STREAMS = (
    abc.Iterator,
    abc.Iterable,
    abc.Generator,
    abc.AsyncIterator,
    abc.AsyncIterable,
    abc.AsyncGenerator,
)
_UNSUPPORTED_NODES = {
    "bytes": "bytes do not travel as JSON: write str",
    "callable": "a function is no answer: write the type of its result",
    "is-instance": "no answer can become an instance of it: write a dataclass or a pydantic model",
    "is-subclass": "a class is no answer: write an Enum or a Literal of its name",
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
    adapter = _adapter(_restated(type_, text), text, namespace)
    core: Node = adapter.core_schema  # type: ignore[assignment]
    node, definitions = split_definitions(core)
    if node["type"] == "any":
        raise UnsupportedTypeError(f"{text} says nothing about the answer: write the type you expect, or str")
    for part in (node, *definitions.values()):
        _check_node(part, text)
    return ReadType(text, schema_name(type_), adapter, core)


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
    except PydanticSchemaGenerationError as error:
        raise UnsupportedTypeError(
            f"nothing says how {text} is made from an answer: write a dataclass, a TypedDict or a pydantic "
            "model, or register a parser for it",
        ) from error
    except (PydanticUserError, SchemaError, NameError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise UnsupportedTypeError(f"{text} is not a type an answer can have: {reason}") from error
    return adapter


def _restated(type_: Any, text: str) -> Any:
    try:
        return restated(type_)
    except NameError as error:
        raise UnsupportedTypeError(f"{text} mentions a name that cannot be found: {error}") from error


def _frames_to_caller() -> int:
    """How far above `TypeAdapter` the first frame outside this package is: its names resolve references."""
    depth = 1
    while sys._getframe(depth).f_globals.get("__package__") == __package__:
        depth += 1
    return depth + 1


def _check(type_: Any, text: str, seen: frozenset[int]) -> None:
    """Refuse what pydantic would misread, here and in the arguments of `type_`."""
    if isinstance(type_, ALIASES):
        if id(type_) not in seen:
            _check(type_.__value__, text, seen | {id(type_)})
        return
    _check_alone(type_, text)
    origin, args = typing.get_origin(type_), typing.get_args(type_)
    _check_arguments(origin, args, text)
    if origin not in LITERALS:
        for arg in args[:1] if origin is typing.Annotated else args:
            if arg is not Ellipsis:
                _check(arg, text, seen)
    if isinstance(type_, type) and issubclass(type_, BaseModel) and id(type_) not in seen:
        for field in type_.model_fields.values():
            _check(field.annotation, f"{text}, in {type_.__name__}", seen | {id(type_)})


def _check_arguments(origin: Any, args: tuple[Any, ...], text: str) -> None:
    if origin in _STREAMS:
        raise UnsupportedTypeError(f"{text}: an iterator is no finished answer: write list[...]")
    if origin in LITERALS and not args:
        raise UnsupportedTypeError("a Literal without members has no possible answer: give it members")
    if origin in _ARITY and len(args) != _ARITY[origin]:
        wanted, suggestion = type_text(origin), " | ".join(map(type_text, args))
        raise UnsupportedTypeError(
            f"{text}: {wanted} takes {_ARITY[origin]} argument(s) but was given "
            f"({', '.join(map(type_text, args))}): write {wanted}[{suggestion}] for a union",
        )


def _check_alone(type_: Any, text: str) -> None:
    if isinstance(type_, types.ModuleType):
        raise UnsupportedTypeError(f"{type_.__name__} is a module, not a type: name a class in it")
    if isinstance(type_, types.FunctionType | types.BuiltinFunctionType | types.LambdaType):
        raise UnsupportedTypeError(f"{text} is a function, not a type: write the type it returns")
    if isinstance(type_, type) and issubclass(type_, Enum) and not list(type_):
        raise UnsupportedTypeError(
            f"the enum {type_.__name__} has no members, so no answer is possible: give it some"
        )
    if inspect.isabstract(type_) and type_.__module__ not in ("collections.abc", "typing"):
        raise UnsupportedTypeError(f"{type_.__name__} is abstract: write the union of its subclasses")
    parameters = () if isinstance(type_, type) and type_.__module__ == "builtins" else _parameters(type_)
    if parameters or isinstance(type_, typing.TypeVar):
        names = ", ".join(str(parameter) for parameter in parameters) or str(type_)
        raise UnsupportedTypeError(f"{text} leaves {names} open: write what it stands for, as in {text}[int]")


def _parameters(type_: Any) -> tuple[object, ...]:
    metadata = getattr(type_, "__pydantic_generic_metadata__", None)
    if metadata:
        return tuple(metadata["parameters"])
    return tuple(getattr(type_, "__parameters__", ())) if not isinstance(type_, ALIASES) else ()


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
    # What Python values may be does not matter: answers come as JSON.
    for part in (node["json_schema"],) if node.get("type") == "json-or-python" else parts(node):
        yield from _walk(part)

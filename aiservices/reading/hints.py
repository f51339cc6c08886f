"""Resolving annotations: forward references, names of the caller, type variables bound by subclassing."""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Mapping
from inspect import isfunction, unwrap
from types import FunctionType
from typing import Any, TypeVar, get_origin

from .complaints import Complaint


class UnresolvedNameError(Exception):
    """An annotation names something that cannot be found."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def resolve(annotation: object, owner: type, function: Callable[..., Any], names: Mapping[str, Any]) -> Any:
    """What an annotation means. Looked for in the function's module, its class, then the caller's `names`.

    Raises `UnresolvedNameError`, or `Complaint` for an annotation that is not a type.
    """
    plain = unwrap(function)
    globals_ = getattr(plain, "__globals__", vars(sys.modules.get(owner.__module__, typing)))

    def carrier() -> None: ...

    carrier.__annotations__ = {"it": annotation}
    try:
        hints = typing.get_type_hints(carrier, globals_, _Scope(owner, names, globals_), include_extras=True)
    except NameError as error:
        raise UnresolvedNameError(error.name or str(error)) from error
    except Exception as error:
        raise Complaint(f"the annotation {annotation!r} is not a type ({error})") from error
    return hints["it"]


class _Scope(dict[str, Any]):
    """The names an annotation may use beside its module's.

    A class made in a function sees that function's names first, as Python's own scoping has it; for any
    other class the module wins over the caller. The class's methods are no types and hide nothing.
    """

    def __init__(self, owner: type, names: Mapping[str, Any], globals_: Mapping[str, Any]) -> None:
        local = "<locals>" in owner.__qualname__
        super().__init__({name: value for name, value in names.items() if local or name not in globals_})
        self.setdefault(owner.__name__, owner)
        self.update({name: value for name, value in vars(owner).items() if not isfunction(value)})


def annotations_of(function: FunctionType) -> Mapping[str, Any]:
    """The raw annotations, without evaluating those that Python has deferred."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(function, format=annotationlib.Format.FORWARDREF)
    return function.__annotations__


def type_variables_of(protocol: type, given: Mapping[Any, Any]) -> dict[Any, Any]:
    """What the type variables of a Protocol's parents stand for, such as `T` in `class P(Base[Person])`."""
    bound: dict[Any, Any] = dict(given)
    for base in getattr(protocol, "__orig_bases__", ()):
        origin = get_origin(base)
        if origin is None or origin in (typing.Protocol, typing.Generic):
            continue
        parameters = getattr(origin, "__parameters__", ())
        arguments = [substitute(argument, bound) for argument in typing.get_args(base)]
        bound.update(type_variables_of(origin, dict(zip(parameters, arguments, strict=False))))
    for base in protocol.__bases__:
        if base not in [get_origin(item) for item in getattr(protocol, "__orig_bases__", ())]:
            bound.update(type_variables_of(base, {}) if base not in (object, typing.Generic) else {})
    return bound


def substitute(hint: Any, bound: Mapping[Any, Any]) -> Any:
    """The hint with its type variables replaced. Raises `Complaint` naming one that is not bound."""
    if isinstance(hint, TypeVar):
        if hint not in bound:
            raise Complaint(
                f"the type variable {hint} is not bound: subclass with a type, as in `class P(Base[str], Protocol)`"
            )
        return bound[hint]
    parameters = getattr(hint, "__parameters__", ())
    if isinstance(hint, type) or not parameters:
        return hint
    return hint[tuple(substitute(parameter, bound) for parameter in parameters)]

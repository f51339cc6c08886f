"""Resolving annotations: forward references, names of the caller, type variables bound by subclassing."""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Mapping
from inspect import isclass, ismodule, unwrap
from typing import Any, ForwardRef, TypeVar, cast, get_args, get_origin

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
        scope = _Scope(owner, plain, names, globals_)
        hints = typing.get_type_hints(carrier, globals_, scope, include_extras=True)
    except NameError as error:
        raise UnresolvedNameError(error.name or str(error)) from error
    except Exception as error:
        raise Complaint(f"the annotation {annotation!r} is not a type ({error})") from error
    return hints["it"]


class _Scope(dict[str, Any]):
    """The names an annotation may use beside its module's.

    A class made in a function sees that function's names first, as Python's own scoping has it; for any
    other class the module wins over the caller. Only what can be part of a type is taken from the caller and
    from the class: a variable or a method of the same name hides nothing.
    """

    def __init__(
        self, owner: type, function: object, names: Mapping[str, Any], globals_: Mapping[str, Any]
    ) -> None:
        local = "<locals>" in owner.__qualname__
        around = {name: value for name, value in names.items() if local or name not in globals_}
        for scope in (around, {owner.__name__: owner}, vars(owner)):
            self.update({name: value for name, value in scope.items() if _may_be_in_a_type(value)})
        for parameter in (*getattr(owner, "__type_params__", ()), *getattr(function, "__type_params__", ())):
            self[parameter.__name__] = parameter


def _may_be_in_a_type(value: object) -> bool:
    return (
        isclass(value)
        or ismodule(value)
        or get_origin(value) is not None
        or type(value).__module__ in ("types", "typing", "typing_extensions")
    )


def annotations_of(declared: Any) -> Mapping[str, Any]:
    """The raw annotations of a function or of a class itself; what Python has deferred stays unevaluated."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(declared, format=annotationlib.Format.FORWARDREF)
    if isclass(declared):
        return cast("Mapping[str, Any]", vars(declared).get("__annotations__", {}))  # not those of a parent
    return cast("Mapping[str, Any]", declared.__annotations__)


def is_written_by_user(cls: type) -> bool:
    """Whether a class of a Protocol's `__mro__` is a declaration, not part of the typing machinery."""
    return cls is not object and cls.__module__ not in ("typing", "typing_extensions", "abc")


def type_variables_of(protocol: type, arguments: tuple[Any, ...]) -> dict[type, dict[Any, Any]]:
    """What the type variables of a Protocol and of each parent stand for.

    Each class has its own: in `class Middle(Base[list[T]], Protocol[T])` the `T` of `Base` is another.
    """
    bases = vars(protocol).get("__orig_bases__", protocol.__bases__)
    # Type checkers go by the order in `Protocol[T, U]`, which `__parameters__` does not always keep.
    generic = [base for base in bases if get_args(base) and not is_written_by_user(get_origin(base))]
    parameters = get_args(generic[0]) if generic else getattr(protocol, "__parameters__", ())
    own = dict(zip(parameters, arguments, strict=False))
    bound = {protocol: own}
    for base in bases:
        origin = get_origin(base) or base
        if is_written_by_user(origin):
            given = tuple(substitute(_placed(item, protocol), own) for item in get_args(base))
            bound |= type_variables_of(origin, given)
    return bound


def _placed(argument: Any, owner: type) -> Any:
    """A forward reference remembers the module it was written in, before it is used in a parent's."""
    if isinstance(argument, ForwardRef):
        return ForwardRef(argument.__forward_arg__, module=owner.__module__)
    return argument


def substitute(hint: Any, bound: Mapping[Any, Any]) -> Any:
    """The hint with its type variables replaced. Raises `Complaint` naming one that is not bound."""
    if isinstance(hint, TypeVar):
        if hint not in bound:
            raise Complaint(
                f"the type variable {hint} is not bound: subclass with a type, "
                "as in `class P(Base[str], Protocol)`"
            )
        return bound[hint]
    parameters = _open_parameters(hint, bound)
    return hint[tuple(substitute(parameter, bound) for parameter in parameters)] if parameters else hint


def _open_parameters(hint: Any, bound: Mapping[Any, Any]) -> tuple[Any, ...]:
    """The type variables of a hint. A class is closed, but for what pydantic makes of `Page[T]`."""
    if not isinstance(hint, type):
        return getattr(hint, "__parameters__", ())
    found = getattr(hint, "__pydantic_generic_metadata__", {}).get("parameters", ())
    return found if set(found) <= bound.keys() else ()

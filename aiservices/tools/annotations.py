"""What a function's annotations mean, and where they and the docstring stand."""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Mapping
from functools import partial, partialmethod
from typing import Annotated, Any, Final, get_args, get_origin

from ..context import InvocationParameters, MemoryId, ToolContext
from ..errors import ConfigurationError

NO_NAMES: Final[Mapping[str, Any]] = {}


class UnresolvedAnnotationError(ConfigurationError):
    """An annotation names something that does not exist yet."""


def written_function(given: Any) -> Any:
    """The function somebody wrote, under what decorates, binds or calls it: its module's names count."""
    while True:
        if isinstance(given, staticmethod | classmethod | types.MethodType):
            given = given.__func__
        elif isinstance(given, partial | partialmethod):
            given = given.func
        elif (wrapped := inspect.getattr_static(given, "__wrapped__", None)) is not None:
            given = wrapped
        elif inspect.isroutine(given) or inspect.isclass(given) or not callable(given):
            return given
        else:
            given = type(given).__call__


def docstring_of(given: Any) -> str:
    """The docstring of the function, or of the object's `__call__`."""
    return inspect.cleandoc(written_function(given).__doc__ or "")


def class_docstring_of(given: Any) -> str:
    """The docstring of a callable object's class; empty for functions."""
    is_function = inspect.isroutine(given) or isinstance(given, staticmethod | classmethod | partial)
    return "" if is_function else inspect.cleandoc(type(given).__doc__ or "")


def parameters_of(given: Any) -> list[inspect.Parameter]:
    """Its parameters with raw annotations. Raises `TypeError` or `ValueError` for what has no signature."""
    return list(signature_of(given).parameters.values())


def signature_of(given: Any, *, follow_wrapped: bool = True) -> inspect.Signature:
    """Its signature with raw annotations, which may name what cannot be found; see `parameters_of`."""
    if sys.version_info >= (3, 14):
        import annotationlib

        forward = annotationlib.Format.FORWARDREF
        return inspect.signature(given, follow_wrapped=follow_wrapped, annotation_format=forward)
    return inspect.signature(given, follow_wrapped=follow_wrapped)


def resolved(annotation: Any, given: Any, where: str, names: Mapping[str, Any] = NO_NAMES) -> Any:
    """What an annotation of the function means, with `Annotated` kept; `names` win over those of its module.

    Raises `UnresolvedAnnotationError` for what cannot be found, `ConfigurationError` for what is no type;
    both begin with `where`.
    """
    written = written_function(given)

    def carrier() -> None: ...

    carrier.__annotations__ = {"it": annotation}
    scope = {parameter.__name__: parameter for parameter in getattr(written, "__type_params__", ())}
    try:
        hints = typing.get_type_hints(
            carrier, getattr(written, "__globals__", {}), {**names, **scope}, include_extras=True
        )
    except (NameError, AttributeError) as error:
        raise UnresolvedAnnotationError(
            f"{where}: the annotation names {error.name!r}, which cannot be found: "
            "define or import it (an import under TYPE_CHECKING does not run)"
        ) from error
    except Exception as error:
        raise ConfigurationError(f"{where}: the annotation {annotation!r} is not a type ({error})") from error
    return hints["it"]


def return_type(given: Any, names: Mapping[str, Any] = NO_NAMES) -> Any:
    """What the function returns; `Any` where it does not say, or names what cannot be found."""
    written = written_function(given)
    try:
        return resolved(written.__annotations__["return"], given, "", names)
    except (ConfigurationError, AttributeError, KeyError, NameError):
        return Any


def injected_type(hint: Any) -> type | None:
    """`ToolContext`, `InvocationParameters` or `MemoryId` where a parameter of this type is given that."""
    if get_origin(hint) is Annotated:
        hint, *marks = get_args(hint)
        if any(mark is MemoryId or isinstance(mark, MemoryId) for mark in marks):
            return MemoryId
    union = get_origin(hint) in (typing.Union, types.UnionType)
    kinds = [kind for kind in get_args(hint) if kind is not types.NoneType] if union else [hint]
    return kinds[0] if len(kinds) == 1 and kinds[0] in (ToolContext, InvocationParameters) else None


def injected_value(kind: type, context: ToolContext) -> Any:
    """What a parameter of an injected type is given."""
    if kind is MemoryId:
        return context.memory_id
    return context if kind is ToolContext else context.parameters


def without_extras(hint: Any) -> Any:
    """The hint without `Annotated`, however deep it stands."""

    def carrier() -> None: ...

    carrier.__annotations__ = {"it": hint}
    return typing.get_type_hints(carrier)["it"]


def names_around(frame: types.FrameType) -> Mapping[str, Any]:
    """The local names at a place in code that can be part of a type; within a class also those around it."""
    found: dict[str, Any] = {}
    while frame.f_locals is not frame.f_globals:
        found = {name: value for name, value in frame.f_locals.items() if _may_be_in_a_type(value)} | found
        if "__qualname__" not in frame.f_locals or frame.f_back is None:
            break
        frame = frame.f_back
    return found


def _may_be_in_a_type(value: object) -> bool:
    return (
        inspect.isclass(value)
        or inspect.ismodule(value)
        or get_origin(value) is not None
        or type(value).__module__ in ("types", "typing", "typing_extensions")
    )

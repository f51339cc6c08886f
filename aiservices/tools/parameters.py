"""The parameters of a tool's function: what a model is asked for, and what is given without asking it."""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ..context import InvocationContext
from ..errors import ConfigurationError
from ..messages import ChatMessage, ChatRequest, ChatRequestParameters, ChatResponse, Content
from .annotations import injected_type, parameters_of, resolved

REQUIRED: Final = inspect.Parameter.empty
_DEFAULTS: Final = ("default", "default_factory")
_CHANGING: Final = (list, dict, set, tuple, deque, BaseModel)
_NOT_FROM_A_MODEL: Final = (
    *get_args(Content),
    *get_args(ChatMessage),
    ChatRequest,
    ChatRequestParameters,
    ChatResponse,
    InvocationContext,
)
_VARYING: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class ToolParameter:
    """A parameter as read: its type, what it is when left out, and what it is given by the framework.

    `positional` tells that callers cannot name it.
    """

    name: str
    hint: Any
    default: Any
    injected: type | None
    positional: bool


def read_parameter(
    parameter: inspect.Parameter, function: Callable[..., Any], tool: str, names: Mapping[str, Any]
) -> ToolParameter | None:
    """Read a parameter, or `None` for one that is best left to its default.

    Raises `ConfigurationError` for one that a model cannot be asked for.
    """
    name, where = parameter.name, f"tool {tool!r}, parameter {parameter.name!r}"
    if parameter.kind in _VARYING:
        raise ConfigurationError(f"{where}: a model cannot send a varying number of arguments: name each one")
    if parameter.annotation is REQUIRED:
        raise ConfigurationError(f"{where}: it has no annotation: say what it is, as in `city: str`")
    positional = parameter.kind is parameter.POSITIONAL_ONLY
    hint = resolved(parameter.annotation, function, where, names)
    if isinstance(parameter.default, FieldInfo):
        hint = Annotated[hint, parameter.default]
    if (kind := injected_type(hint)) is not None:
        return ToolParameter(name, hint, REQUIRED, kind, positional)
    if ours := next((kind for kind in _kinds(hint) if kind in _NOT_FROM_A_MODEL), None):
        if ours is ChatRequestParameters and parameter.default is not REQUIRED:
            return None
        raise ConfigurationError(f"{where}: no model can send {ours.__name__}: take a text, or wrap the tool")
    return ToolParameter(name, _without_default(hint), _default(parameter, hint), None, positional)


def _default(parameter: inspect.Parameter, hint: Any) -> Any:
    """The function's default, or that of a `Field` in its place or in the annotation."""
    if parameter.default is not REQUIRED and not isinstance(parameter.default, FieldInfo):
        return parameter.default
    for mark in get_args(hint)[1:] if get_origin(hint) is Annotated else ():
        if isinstance(mark, FieldInfo) and not mark.is_required():
            return mark.default if mark.default_factory is None else _Made(mark)
    return REQUIRED


def _kinds(hint: Any) -> Iterator[Any]:
    """The hint and all that it is made of."""
    yield hint
    if get_origin(hint) is not Literal:
        for part in get_args(hint):
            yield from _kinds(part)


@dataclass(frozen=True, slots=True)
class _Made:
    """A default that is made anew for each call."""

    field: FieldInfo

    def __call__(self) -> Any:
        return self.field.get_default(call_default_factory=True, validated_data={})


def _without_default(hint: Any) -> Any:
    """The hint with fields that have no default: a parameter's default is the function's affair."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *marks = get_args(hint)
    return Annotated[(kind, *(_bare(mark) if isinstance(mark, FieldInfo) else mark for mark in marks))]


def _bare(field: FieldInfo) -> FieldInfo:
    if field.is_required():
        return field
    said = field.asdict()
    bare = FieldInfo(
        **{
            key: value
            for key, value in said["attributes"].items()
            if value is not None and key not in _DEFAULTS
        }
    )
    bare.metadata = said["metadata"]
    return bare


def check_injected(parameters: list[ToolParameter], tool: str) -> None:
    """Raise `ConfigurationError` when two parameters want the same from the framework."""
    seen: dict[type, str] = {}
    for parameter in parameters:
        if parameter.injected is None:
            continue
        if parameter.injected in seen:
            raise ConfigurationError(
                f"tool {tool!r}, parameter {parameter.name!r}: {seen[parameter.injected]!r} is a "
                f"{parameter.injected.__name__} already: keep one"
            )
        seen[parameter.injected] = parameter.name


def to_be_sent(function: Any, tool: str) -> tuple[list[inspect.Parameter], bool]:
    """The function's parameters without `self` or `cls`, and whether one of these still has to be bound."""
    plain = function.__func__ if isinstance(function, staticmethod | classmethod) else function
    try:
        parameters = parameters_of(plain)
    except (TypeError, ValueError) as error:
        raise ConfigurationError(
            f"tool {tool!r}: nothing tells its parameters: wrap it in a function"
        ) from error
    if isinstance(function, classmethod):
        return parameters[1:], True
    if isinstance(function, staticmethod) or not inspect.isfunction(plain):
        return parameters, False
    outer = plain.__qualname__.rpartition(".")[0]
    if outer and not outer.endswith("<locals>") and parameters and parameters[0].name in ("self", "cls"):
        return parameters[1:], True
    return parameters, False


def fresh(default: Any) -> Any:
    """A default of its own for each call, so that a tool which changes it changes nobody else's."""
    if isinstance(default, _Made):
        return default()
    may_change = isinstance(default, _CHANGING) or dataclasses.is_dataclass(default)
    return copy.deepcopy(default) if may_change else default

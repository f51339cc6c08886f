"""What a compensation asks for, read once."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, get_args

from ..context import ToolContext
from ..errors import ConfigurationError
from ..messages import ToolExecution
from .annotations import NO_NAMES, injected_type, injected_value, parameters_of, resolved, without_extras
from .outcomes import ToolOutcome

_OF_THE_CALL: Final = ("result", "execution")
_UNSAID: Final = (Any, object)


@dataclass(frozen=True, slots=True)
class Undo:
    """A compensation and what it wants.

    `wants` names the tool's own arguments; `all_arguments` tells that it takes any, as `**arguments`.
    `of_the_call` names `result` and `execution` where they are not arguments of the tool; `result` is the
    annotation of the former. `positional` are those of its parameters that have no name for callers.
    """

    function: Callable[..., Any]
    wants: tuple[str, ...]
    of_the_call: tuple[str, ...] = ()
    injected: Mapping[str, type] = field(default_factory=dict)
    positional: tuple[str, ...] = ()
    all_arguments: bool = False
    result: Any = Any

    def prepared(
        self, arguments: Mapping[str, Any], execution: ToolExecution, context: ToolContext
    ) -> Callable[[], Any]:
        """The function with the tool's own arguments, the call's result, and what it wants injected."""
        of_the_call = {"result": execution.value, "execution": execution}
        wanted = arguments if self.all_arguments else self.wants
        named = {name: arguments[name] for name in wanted if name in arguments}
        named |= {name: of_the_call[name] for name in self.of_the_call}
        for name, kind in self.injected.items():
            named[name] = injected_value(kind, context)
        positional = [named.pop(name) for name in self.positional if name in named]
        return partial(self.function, *positional, **named)

    @property
    def needs_result(self) -> bool:
        """Whether it asks for the result and does not say that there may be none."""
        unsaid = self.result in (*_UNSAID, None, types.NoneType)
        return "result" in self.of_the_call and not unsaid and types.NoneType not in get_args(self.result)


def read_undo(
    tool: str,
    function: Callable[..., Any],
    parameters: Mapping[str, Any],
    *,
    returns: Any = Any,
    injected: Mapping[str, type] = NO_NAMES,
) -> Undo:
    """Read the compensation of a tool with these `parameters` (name to annotation) that `returns` this.

    Raises `ConfigurationError` for a parameter that the tool does not have, or has with another type.
    """
    where = f"the compensation of tool {tool!r}"
    read = _Reading(parameters, injected, returns)
    for parameter in parameters_of(function):
        given = parameter.annotation is not parameter.empty
        problem_at = f"{where}, parameter {parameter.name!r}"
        hint = resolved(parameter.annotation, function, problem_at) if given else Any
        read.take(parameter, hint)
    if read.problems:
        raise ConfigurationError(f"{where}: {problem}" for problem in read.problems)
    return read.undo(function)


class _Reading:
    """What is known of a compensation while its parameters are read one by one."""

    def __init__(self, parameters: Mapping[str, Any], injected: Mapping[str, type], returns: Any) -> None:
        self._parameters, self._injected, self._returns = parameters, injected, without_extras(returns)
        self.wants: list[str] = []
        self.of_the_call: list[str] = []
        self.injected: dict[str, type] = {}
        self.positional: list[str] = []
        self.all_arguments = False
        self.result: Any = Any
        self.problems: list[str] = []

    def take(self, parameter: inspect.Parameter, hint: Any) -> None:
        name = parameter.name
        kind = injected_type(hint) or (self._injected.get(name) if hint is Any else None)
        if parameter.kind is parameter.VAR_KEYWORD:
            self.all_arguments = True
            return
        if parameter.kind is parameter.POSITIONAL_ONLY:
            self.positional.append(name)
        hint = without_extras(hint)
        if kind is not None:
            self.injected[name] = kind
        elif name in self._parameters and name not in self._injected:
            self.wants.append(name)
            self._compare(name, hint)
        elif name in _OF_THE_CALL:
            self.of_the_call.append(name)
            if name == "result":
                self._take_result(hint)
        elif parameter.default is parameter.empty:
            known = ", ".join(name for name in self._parameters if name not in self._injected)
            self.problems.append(f"{name!r} is no parameter of the tool: it has {known or 'none'}")

    def _compare(self, name: str, hint: Any) -> None:
        declared = without_extras(self._parameters[name])
        if hint not in (*_UNSAID, declared) and declared is not Any:
            self.problems.append(f"{name!r} is annotated otherwise in the tool: give it the same type")

    def _take_result(self, hint: Any) -> None:
        self.result = hint
        kinds = [kind for kind in get_args(hint) or (hint,) if kind not in (None, types.NoneType)]
        returned = self._returns
        if not kinds or not all(map(_says_what_it_is, (returned, *kinds))):
            return
        if not any(_may_be(returned, kind) for kind in kinds):
            self.problems.append(f"'result' is not what the tool returns: annotate it as {returned.__name__}")

    def undo(self, function: Callable[..., Any]) -> Undo:
        return Undo(
            function,
            tuple(self.wants),
            tuple(self.of_the_call),
            self.injected,
            tuple(self.positional),
            self.all_arguments,
            self.result,
        )


def _says_what_it_is(hint: Any) -> bool:
    return inspect.isclass(hint) and hint not in (*_UNSAID, ToolOutcome)


def _may_be(returned: type, taken: type) -> bool:
    if returned is int and taken is float:
        return True
    try:
        return issubclass(returned, taken) or issubclass(taken, returned)
    except TypeError:  # a Protocol that is not checked at run time
        return True


def bound_undo(undo: Callable[..., Any], holder: Any) -> Callable[..., Any]:
    """The compensation of a tool that has become a method of `holder`, an object or a class.

    A method of the same name in a subclass wins, as it does for the tool itself. A plain function is bound
    when it begins with `self` or `cls`, for that of a static tool may do without.
    """
    owner = holder if inspect.isclass(holder) else type(holder)
    name = getattr(undo, "__name__", "")
    declared = undo
    for cls in owner.__mro__:
        member = vars(cls).get(name)
        if member is undo or getattr(member, "__func__", None) is undo:
            declared = inspect.getattr_static(owner, name)
            break
    if isinstance(declared, staticmethod | classmethod):
        return declared.__get__(holder, owner)
    first = next(iter(parameters_of(declared)), None)
    if first is None or first.name not in ("self", "cls") or not hasattr(declared, "__get__"):
        return declared
    bound: Callable[..., Any] = declared.__get__(owner if first.name == "cls" else holder, owner)
    return bound

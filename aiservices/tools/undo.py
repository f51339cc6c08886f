"""What a compensation asks for, read once."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ..context import InvocationParameters, ToolContext
from ..errors import ConfigurationError
from ..messages import ToolExecution

_OF_THE_CALL: Final = ("result", "execution")


@dataclass(frozen=True, slots=True)
class Undo:
    """A compensation and the names of what it wants; `hints` are its annotations."""

    function: Callable[..., Any]
    wants: tuple[str, ...]
    injected: Mapping[str, type]
    hints: Mapping[str, Any]

    def prepared(
        self, arguments: Mapping[str, Any], execution: ToolExecution, context: ToolContext
    ) -> Callable[[], Any]:
        """The function with the tool's own arguments, the call's result, and what it wants injected."""
        available = {"result": execution.value, "execution": execution, **arguments}
        named = {name: available[name] for name in self.wants}
        for name, kind in self.injected.items():
            named[name] = context if kind is ToolContext else context.parameters
        return partial(self.function, **named)

    @property
    def needs_result(self) -> bool:
        """Whether it asks for the result and does not say that there may be none."""
        if "result" not in self.wants:
            return False
        hint = self.hints.get("result", Any)
        return hint is not Any and hint is not None and type(None) not in typing.get_args(hint)


def read_undo(tool: str, function: Callable[..., Any], parameters: Mapping[str, Any]) -> Undo:
    """Read the compensation of a tool with these `parameters` (name to annotation).

    Raises `ConfigurationError` for a parameter that the tool does not have, or has with another type.
    """
    hints = typing.get_type_hints(inspect.unwrap(getattr(function, "__func__", function)))
    wants, injected, problems = [], {}, []
    for name, parameter in inspect.signature(function).parameters.items():
        kind = hints.get(name)
        if kind in (ToolContext, InvocationParameters):
            injected[name] = typing.cast("type", kind)
        elif name in _OF_THE_CALL and name not in parameters:
            wants.append(name)
        elif name not in parameters:
            if parameter.default is parameter.empty:
                problems.append(
                    f"{name!r} is no parameter of the tool: it has {', '.join(parameters) or 'none'}"
                )
        else:
            wants.append(name)
            if kind is not None and kind != _plain(parameters[name]):
                problems.append(f"{name!r} is annotated otherwise in the tool: give it the same type")
    if problems:
        raise ConfigurationError(f"the compensation of tool {tool!r}: {problem}" for problem in problems)
    return Undo(function, tuple(wants), injected, hints)


def _plain(hint: Any) -> Any:
    return typing.get_args(hint)[0] if typing.get_origin(hint) is typing.Annotated else hint

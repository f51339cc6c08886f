"""The decorator `@agent`. It only notes what was declared."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import isclass, isroutine
from typing import Any, Final, TypeVar, overload

from ..errors import ConfigurationError
from ..tools.annotations import names_around

F = TypeVar("F", bound=Callable[..., Any])

_ATTRIBUTE: Final = "__aiservices_agent__"


@dataclass(frozen=True, slots=True)
class Mark:
    """What `@agent` said of a function or a method, and the names that its annotations may use."""

    name: str | None = None
    description: str | None = None
    output_key: str | None = None
    optional: bool = False
    background: bool = False
    names: Mapping[str, Any] = field(default_factory=dict, repr=False)


@overload
def agent(function: F, /) -> F: ...
@overload
def agent(
    name: str | None = None,
    description: str | None = None,
    output_key: str | None = None,
    optional: bool = False,
    background: bool = False,
) -> Callable[[F], F]: ...
def agent(
    name: Any = None,
    description: str | None = None,
    output_key: str | None = None,
    optional: bool = False,
    background: bool = False,
) -> Any:
    """Declare that a method of a Protocol, or a function, is an agent. The function stays what it is.

    `name` is that of the function by default, `description` its docstring. Its parameters are read from the
    scope by name, and what it returns is written under `output_key`. An `optional` agent is skipped where an
    input is missing. A `background` agent runs beside what comes after it: only who reads its key waits.
    """
    names = names_around(sys._getframe(1))
    called = name if isinstance(name, str) else None
    mark = Mark(called, description, output_key, optional, background, names)

    def decorate(target: Any) -> Any:
        if isclass(target) or not (isroutine(target) or hasattr(target, "__wrapped__")):
            raise ConfigurationError(f"@agent is for a function or a method, not for {target!r}")
        if isinstance(target, staticmethod | classmethod):
            raise ConfigurationError(
                "@agent is for a function or a method with self: put it below the others"
            )
        try:
            setattr(target, _ATTRIBUTE, mark)
        except AttributeError as error:
            raise ConfigurationError(
                f"{target!r} cannot be marked: decorate a function that calls it"
            ) from error
        return target

    return decorate if name is called else decorate(name)  # without brackets it is the function itself


def mark_of(function: object) -> Mark | None:
    """What `@agent` said of a function, if it did."""
    mark = getattr(function, _ATTRIBUTE, None)
    return mark if isinstance(mark, Mark) else None


def marked_methods(owner: object) -> list[str]:
    """The names of the `@agent` methods of an object, those of parents first."""
    cls = type(owner)
    names = [name for each in reversed(cls.__mro__) for name in vars(each)]
    return [name for name in dict.fromkeys(names) if mark_of(_static(cls, name)) is not None]


def _static(cls: type, name: str) -> Any:
    for each in cls.__mro__:
        if name in vars(each):
            return vars(each)[name]
    return None

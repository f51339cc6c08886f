"""What the model sees: the tools of a service, under names that are unique."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from ..errors import ConfigurationError
from ..messages import ToolSpec
from .functions import Tool, tool

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


@runtime_checkable
class ToolSource(Protocol):
    """Anything that brings tools of its own: AI services, agents, remote servers."""

    def __tools__(self) -> Iterable[Tool[..., Any]]: ...


ToolLike: TypeAlias = (
    Tool[..., Any] | Callable[..., Any] | ToolSource | tuple[ToolSpec, Callable[..., Any]] | object
)
"""What `tools=` takes: functions, `@tool` objects, objects whose class has `@tool` methods, sources,
and pairs of a `ToolSpec` and a callable."""


class ToolRegistry(Mapping[str, Tool[..., Any]]):
    """Tools by name, in order. `specs` is what the model is shown."""

    def __init__(self, tools: Iterable[ToolLike] = ()) -> None:
        found: dict[str, Tool[..., Any]] = {}
        problems: list[str] = []
        for item in tools:
            try:
                for made in tools_of(item):
                    _add(found, made, problems)
            except ConfigurationError as error:
                problems.extend(error.problems)
        if problems:
            raise ConfigurationError(problems)
        self._tools = found
        self.specs: tuple[ToolSpec, ...] = tuple(made.spec for made in found.values())

    def __getitem__(self, name: str) -> Tool[..., Any]:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def including(self, more: Sequence[Tool[..., Any]]) -> ToolRegistry:
        """This registry and more tools. Raises `ConfigurationError` for a name that is taken."""
        return ToolRegistry((*self._tools.values(), *more)) if more else self

    def __repr__(self) -> str:
        return f"ToolRegistry({', '.join(self._tools)})"


NO_TOOLS: Final = ToolRegistry()


def tools_of(item: ToolLike) -> list[Tool[..., Any]]:
    """The tools that one item of `tools=` stands for. Raises `ConfigurationError` saying what to give."""
    if isinstance(item, Tool):
        return [item]
    if isinstance(item, ToolSource) and not inspect.isclass(item):
        return list(item.__tools__())
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], ToolSpec):
        return [Tool(item[0], item[1])]
    if inspect.isclass(item):
        raise ConfigurationError(f"{item.__name__} is a class: give an object of it, as in {item.__name__}()")
    if isinstance(item, list | tuple | set | dict):
        raise ConfigurationError(
            f"one of the tools is a {type(item).__name__}: give its items one by one, as in *items"
        )
    methods = _tool_methods(item)
    if methods:
        return methods
    if callable(item):
        return [tool(item)]
    raise ConfigurationError(
        f"{type(item).__name__} has no method decorated with @tool: decorate one, or give a function"
    )


def _tool_methods(item: object) -> list[Tool[..., Any]]:
    """The `@tool` methods of an object; what overrides one without the decorator is still a tool."""
    found: dict[str, Tool[..., Any]] = {}
    cls = type(item)
    for owner in reversed(cls.__mro__):
        for name, member in vars(owner).items():
            declared = member.__func__ if isinstance(member, staticmethod | classmethod) else member
            if isinstance(declared, Tool):
                found[name] = declared
    return [_bound(item, name, declared) for name, declared in found.items()]


def _bound(item: object, name: str, declared: Tool[..., Any]) -> Tool[..., Any]:
    current = getattr(item, name)
    if isinstance(current, Tool):
        return current
    undo = declared.undo_function
    return Tool(
        lambda: replace(declared.signature, needs_self=False),
        current,
        returns=declared.returns,
        timeout=declared.timeout,
        attributes=declared.attributes,
        undo_function=None if undo is None else undo.__get__(item),
    )


def _add(found: dict[str, Tool[..., Any]], made: Tool[..., Any], problems: list[str]) -> None:
    if made.signature.needs_self:
        problems.append(f"tool {made.name!r} is a method of a class: give an object of that class")
    elif not _NAME.fullmatch(made.name):
        problems.append(
            f"tool {made.name!r}: providers take names of 1 to 64 letters, digits, _ and -: "
            "give another with @tool(name=...)"
        )
    elif made.name in found:
        problems.append(f"two tools are called {made.name!r}: rename one with @tool(name=...)")
    else:
        _ = made.undo  # read now, so that a compensation that does not fit is reported with the rest
        found[made.name] = made

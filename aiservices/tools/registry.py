"""What the model sees: the tools of a service, under names that are unique."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Final, Protocol, TypeAlias, cast, runtime_checkable

from ..errors import ConfigurationError
from ..guessing import kind_of
from ..messages import ToolSpec
from .functions import Tool, tool

_LONGEST_NAME: Final = 64
_NAME: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{_LONGEST_NAME}}}")
_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")


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
    if inspect.isclass(item):
        raise ConfigurationError(f"{item.__name__} is a class: give an object of it, as in {item.__name__}()")
    if hasattr(type(item), "__tools__"):  # asked of the class: an object may claim to have anything
        return list(cast("ToolSource", item).__tools__())
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], ToolSpec):
        return [Tool(item[0], item[1])]
    if (declared := _declared(item)) is not None:
        bound_to = getattr(item, "__self__", None)
        return [declared.running(_called(item), bound_to)]
    if methods := _tool_methods(item):
        return methods
    if isinstance(item, str | bytes):
        raise ConfigurationError(
            f"one of the tools is {kind_of(item)}: give the function itself, not its name or what it returns"
        )
    if isinstance(item, Iterable):
        raise ConfigurationError(
            f"one of the tools is {kind_of(item)}: give its items one by one, as in *items"
        )
    if callable(item):
        return [tool(item)]
    raise ConfigurationError(
        f"{type(item).__name__} has no method decorated with @tool: decorate one, or give a function"
    )


def _declared(member: Any) -> Tool[..., Any] | None:
    """The tool under what binds or decorates it, as `functools.wraps` leaves it."""
    while member is not None and not isinstance(member, Tool):
        if isinstance(member, staticmethod | classmethod | types.MethodType):
            member = member.__func__
        elif isinstance(member, partial):
            return None  # another tool: it has other parameters
        else:
            member = inspect.getattr_static(member, "__wrapped__", None)
    return member


def _called(item: Any) -> Callable[..., Any]:
    """What is called for a tool that was bound by Python itself: its function, not the tool around it."""
    function = getattr(item, "__func__", None)
    if not isinstance(function, Tool):
        return item  # type: ignore[no-any-return]
    bound: Callable[..., Any] = function.__get__(item.__self__, type(item.__self__)).execute
    return bound


def _tool_methods(item: object) -> list[Tool[..., Any]]:
    """The `@tool` methods of an object; what overrides one without the decorator is still a tool.

    Members are looked at in the class, so that no property is evaluated.
    """
    found: dict[str, Tool[..., Any]] = {}
    cls = type(item)
    for owner in reversed(cls.__mro__):
        for name, member in vars(owner).items():
            if (declared := _declared_in_class(member)) is not None:
                found[name] = declared
    return [_bound(item, name, declared) for name, declared in found.items() if _is_method(cls, name)]


def _declared_in_class(member: Any) -> Tool[..., Any] | None:
    possible = isinstance(member, Tool | staticmethod | classmethod) or hasattr(member, "__wrapped__")
    return _declared(member) if possible else None


def _is_method(cls: type, name: str) -> bool:
    """Whether the name still stands for something to call, and was not made a property or `None`."""
    member = inspect.getattr_static(cls, name)
    return callable(member) or isinstance(member, classmethod)


def _bound(item: object, name: str, declared: Tool[..., Any]) -> Tool[..., Any]:
    current = getattr(item, name)
    if isinstance(current, Tool):
        return current
    made = declared.running(_called(current), item)
    try:
        inspect.signature(current).bind(**dict.fromkeys(declared.signature.hints))
    except TypeError as error:
        raise ConfigurationError(
            f"{type(item).__name__}.{name} overrides the tool {declared.name!r} and cannot be called like it "
            f"({error}): decorate it with @tool too"
        ) from error
    return made


def _add(found: dict[str, Tool[..., Any]], made: Tool[..., Any], problems: list[str]) -> None:
    if made.is_dynamic:
        made = _acceptable(made)
    if made.signature.needs_self:
        problems.append(f"tool {made.name!r} is a method of a class: give an object of that class")
    elif not _NAME.fullmatch(made.name):
        problems.append(
            f"tool {made.name!r}: providers take names of 1 to {_LONGEST_NAME} letters, digits, _ and -: "
            "give another with @tool(name=...)"
        )
    elif made.name in found:
        problems.append(
            f"two tools are called {made.name!r}, {_origin(found[made.name])} and {_origin(made)}: "
            "rename one with @tool(name=...), an agent with its name="
        )
    else:
        _ = made.undo  # read now, so that a compensation that does not fit is reported with the rest
        found[made.name] = made


def _acceptable(made: Tool[..., Any]) -> Tool[..., Any]:
    """The tool under a name that providers take; the same tool always gets the same."""
    if _NAME.fullmatch(made.name):
        return made
    mark = "_" + sha256(made.name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return made.renamed(_NOT_IN_A_NAME.sub("_", made.name)[: _LONGEST_NAME - len(mark)] + mark)


def _origin(made: Tool[..., Any]) -> str:
    """Where a tool comes from, as errors say it."""
    execute = made.execute
    holder = getattr(execute, "__self__", None)
    name = getattr(execute, "__qualname__", type(execute).__qualname__)
    if holder is not None and not inspect.ismodule(holder):
        owner = holder if inspect.isclass(holder) else type(holder)
        name = f"{owner.__qualname__}.{getattr(execute, '__name__', name)}"
    return f"{getattr(execute, '__module__', None) or type(execute).__module__}.{name}"

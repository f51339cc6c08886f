"""Tools: functions that a model may ask for."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from functools import cached_property, partial, update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from ..errors import ConfigurationError
from ..messages import ToolSpec
from .annotations import UnresolvedAnnotationError, names_around
from .dynamic import dynamic_signature
from .signatures import Signature, name_of, read_signature
from .undo import Undo, bound_undo, read_undo

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
Compensating = TypeVar("Compensating", bound=Callable[..., Any])


class ReturnBehavior(StrEnum):
    """What happens with the value of a tool.

    `IMMEDIATE` values go straight to the caller when all calls of the answer are immediate, and
    `IMMEDIATE_IF_LAST` values also beside other calls, when theirs is the last; never when a call failed.
    """

    TO_MODEL = "to_model"
    IMMEDIATE = "immediate"
    IMMEDIATE_IF_LAST = "immediate_if_last"


class Tool(Generic[P, R]):
    """A function that a model may ask for; calling it calls the function.

    `spec` is what the model sees, `execute` the function. `Tool(spec, execute)` makes one from a JSON Schema:
    the arguments are checked against it and given to `execute` by name, and a parameter of `execute`
    annotated as `ToolContext` or `InvocationParameters` is given that.
    """

    def __init__(
        self,
        spec: ToolSpec | Callable[[], Signature],
        execute: Callable[P, R],
        *,
        returns: ReturnBehavior = ReturnBehavior.TO_MODEL,
        timeout: float | None = None,
        attributes: Mapping[str, Any] | None = None,
        undo_function: Callable[..., Any] | None = None,
    ) -> None:
        self.execute = execute
        self.returns = returns
        self.timeout = timeout
        self.undo_function = undo_function
        self.is_dynamic = isinstance(spec, ToolSpec)
        self.attributes = attributes or {}
        if isinstance(spec, ToolSpec):
            self.spec = replace(spec, attributes={**spec.attributes, **self.attributes})
            self.attributes = self.spec.attributes
        self._read = partial(dynamic_signature, spec, execute) if isinstance(spec, ToolSpec) else spec
        _check(self)
        # Its attributes stay behind: they may be those of another tool, or be named like ours.
        update_wrapper(self, execute, updated=())
        self.__isabstractmethod__ = getattr(execute, "__isabstractmethod__", False)

    @cached_property
    def signature(self) -> Signature:
        """How it is called. Raises `ConfigurationError` when an annotation cannot be resolved."""
        return self._read()

    @cached_property
    def undo(self) -> Undo | None:
        """How a success is undone. Raises `ConfigurationError` when it does not fit the tool."""
        if self.undo_function is None:
            return None
        signature = self.signature
        return read_undo(
            self.name,
            self.undo_function,
            signature.hints,
            returns=signature.returns,
            injected=signature.injected,
        )

    @cached_property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        signature = self.signature
        return ToolSpec(
            signature.name, signature.description, signature.schema, self.attributes, strict=signature.strict
        )

    @property
    def name(self) -> str:
        """The name the model calls it by."""
        return self.spec.name

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.execute(*args, **kwargs)

    @overload
    def __get__(self, instance: None, owner: type) -> Tool[P, R]: ...
    @overload
    def __get__(
        self: Tool[Concatenate[Any, Q], R], instance: object, owner: type | None = None
    ) -> Tool[Q, R]: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Any:
        """The tool as a method of an object, and so is its undo."""
        bind = getattr(self.execute, "__get__", None)
        if bind is None or (instance is None and not isinstance(self.execute, staticmethod | classmethod)):
            return self
        return self.running(bind(instance, owner), owner if instance is None else instance)

    def running(self, execute: Callable[Q, R], holder: Any = None) -> Tool[Q, R]:
        """This tool with another function for its own, such as the method of the object or class `holder`."""
        undo, bound = self.undo_function, holder is not None
        return Tool(
            lambda: replace(self.signature, needs_self=self.signature.needs_self and not bound),
            execute,
            returns=self.returns,
            timeout=self.timeout,
            attributes=self.attributes,
            undo_function=bound_undo(undo, holder) if bound and undo is not None else undo,
        )

    def renamed(self, name: str) -> Tool[P, R]:
        """This tool under another name."""
        made = self.running(self.execute)
        made._read = lambda: replace(self.signature, name=name)
        return made

    def compensation(self, undo: Compensating) -> Compensating:
        """Declare how a success of this tool is undone.

        The undo gets the tool's own arguments by name, and `result` (what the tool returned) or `execution`
        (a `ToolExecution`) when it asks for them. Raises `ConfigurationError` when there is an undo already.
        """
        if self.undo_function is not None:
            raise ConfigurationError(f"the tool {self.name!r} has a compensation already: keep one")
        self.undo_function = undo
        self.__dict__.pop("undo", None)
        return undo

    def __repr__(self) -> str:
        try:
            return f"<tool {self.name}>"
        except ConfigurationError:  # there are annotations that cannot be resolved yet
            return f"<tool {name_of(self.execute)}>"


def _check(made: Tool[..., Any]) -> None:
    given: Any = made.execute
    if not callable(given) and not isinstance(given, classmethod):
        raise ConfigurationError(f"{given!r} cannot be called: a tool is made of a function")
    if inspect.isclass(given):
        raise ConfigurationError(f"{given.__name__} is a class: make a tool of a function that makes one")
    where = f"tool {name_of(given)!r}"
    if made.timeout is not None and not made.timeout > 0:
        raise ConfigurationError(f"{where}: timeout is {made.timeout!r}: give seconds above 0, or None")
    if made.returns not in tuple(ReturnBehavior):
        raise ConfigurationError(f"{where}: returns is {made.returns!r}: give a ReturnBehavior")
    made.returns = ReturnBehavior(made.returns)


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    returns: ReturnBehavior = ReturnBehavior.TO_MODEL,
    timeout: float | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    returns: ReturnBehavior = ReturnBehavior.TO_MODEL,
    timeout: float | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> Any:
    """Make a tool of a function or method: its signature, annotations and docstring say what the model sees.

    `name` and `description` default to the function's; `timeout` is in seconds, none by default;
    `attributes` are for programs and never reach the model. Raises `ConfigurationError` naming the
    parameter that a model cannot be asked for.
    """
    names = names_around(sys._getframe(1))

    def make(plain: Callable[..., Any]) -> Tool[..., Any]:
        made = Tool(
            lambda: read_signature(plain, name=name, description=description, names=names),
            plain,
            returns=returns,
            timeout=timeout,
            attributes=attributes,
        )
        with suppress(UnresolvedAnnotationError):  # the name may yet be defined: read again when it is used
            _ = made.signature
        return made

    return make if function is None else make(function)

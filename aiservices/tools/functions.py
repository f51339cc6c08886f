"""Tools: functions that a model may ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from functools import cached_property, partial, update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from ..errors import ConfigurationError
from ..messages import ToolSpec
from .signatures import Signature, UnresolvedAnnotationError, dynamic_signature, read_signature
from .undo import Undo, read_undo

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

    `spec` is what the model sees. `execute` is the function. `Tool(spec, execute)` makes one from a JSON
    Schema: the arguments are checked against the schema and given to `execute` by name.
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
        self.attributes = attributes or {}
        self._read = partial(dynamic_signature, spec, execute) if isinstance(spec, ToolSpec) else spec
        if isinstance(spec, ToolSpec):
            self.spec = spec
        update_wrapper(self, execute)

    @cached_property
    def signature(self) -> Signature:
        """How it is called. Raises `ConfigurationError` when an annotation cannot be resolved."""
        return self._read()

    @cached_property
    def undo(self) -> Undo | None:
        """How a success is undone. Raises `ConfigurationError` when it does not fit the tool."""
        if self.undo_function is None:
            return None
        return read_undo(self.name, self.undo_function, self.signature.hints)

    @cached_property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        signature = self.signature
        return ToolSpec(signature.name, signature.description, signature.schema, self.attributes)

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
        if bind is None or (instance is None and not isinstance(self.execute, classmethod)):
            return self
        undo = self.undo_function
        return Tool(
            lambda: replace(self.signature, needs_self=False),
            bind(instance, owner),
            returns=self.returns,
            timeout=self.timeout,
            attributes=self.attributes,
            undo_function=undo.__get__(instance, owner) if undo is not None else None,
        )

    def compensation(self, undo: Compensating) -> Compensating:
        """Declare how a success of this tool is undone.

        The undo gets the tool's own arguments by name, and `result` (what the tool returned) or `execution`
        (a `ToolExecution`) when it asks for them. Raises `ConfigurationError` when there is an undo already.
        """
        if self.undo_function is not None:
            raise ConfigurationError(f"the tool {self.name!r} has a compensation already: keep one")
        self.undo_function = undo
        return undo

    def __repr__(self) -> str:
        return f"<tool {self.name}>"


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

    def make(plain: Callable[..., Any]) -> Tool[..., Any]:
        made = Tool(
            lambda: read_signature(plain, name=name, description=description),
            plain,
            returns=returns,
            timeout=timeout,
            attributes=attributes,
        )
        with suppress(UnresolvedAnnotationError):  # the name may yet be defined: read again when it is used
            _ = made.signature
        return made

    return make if function is None else make(function)

"""Who calls: the invocation's context, its parameters, and the markers of a declaration's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .messages import FrozenMapping, ToolCall


class InvocationParameters(FrozenMapping[Any]):
    """What a caller hands to callables, tools and retrieval beside the prompt; no model ever sees it."""

    __slots__ = ()


NO_PARAMETERS = InvocationParameters()


@dataclass(frozen=True, slots=True)
class InvocationContext:
    """One call of a service's method.

    `arguments` are the method's own, by name, as the caller gave them. `time` is when the call began,
    aware and in the local time zone. `memory_id` names the conversation, where there is one.
    """

    invocation_id: str
    service: str
    method: str
    time: datetime
    arguments: Mapping[str, Any] = field(repr=False, hash=False)
    parameters: InvocationParameters = field(default=NO_PARAMETERS, repr=False, hash=False)
    memory_id: Any = None


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool can learn about the call it serves: declare a parameter of this type to get it.

    `memory_id` is that of the conversation, `None` without one. `deadline` is the moment, by
    `time.monotonic`, at which the invocation ends. `idempotency_key` names this tool call for good: it is
    the same when the call is made again after a crash.
    """

    call: ToolCall
    service: str
    parameters: InvocationParameters = field(default=NO_PARAMETERS, repr=False, hash=False)
    memory_id: Any = None
    deadline: float | None = None
    idempotency_key: str = ""


class MemoryId:
    """`Annotated[X, MemoryId]`: this argument names the conversation that the call belongs to."""


class UserText:
    """`Annotated[str, UserText]`: this argument is the user message, taken as it is."""


class UserName:
    """`Annotated[str, UserName]`: this argument is the name of the user who speaks."""


class Variables:
    """`Annotated[dict[str, Any], Variables]`: the entries of this argument are template variables."""


@dataclass(frozen=True, slots=True)
class V:
    """`Annotated[X, V("name")]`: this argument is called `name` in templates."""

    name: str

"""What listeners hear of a call, and how they are told."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from typing import Any, Final, Protocol, TypeAlias

from guardrails import Verdict

from .context import InvocationContext
from .messages import ChatRequest, ChatResponse, TokenUsage, ToolCall, ToolExecution
from .segments import RetrievalFailure, ScoredSegment

_log = logging.getLogger("aiservices")


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A method was called; nothing has been sent yet."""

    context: InvocationContext


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Knowledge was looked up. `queries` are the texts searched for, `contents` what goes to the model.

    `errors` are the retrievers that failed where the call goes on without them.
    """

    context: InvocationContext
    queries: tuple[str, ...] = field(repr=False)
    contents: tuple[ScoredSegment, ...] = field(repr=False)
    errors: tuple[RetrievalFailure, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestSent:
    """A request is on its way to the model."""

    context: InvocationContext
    request: ChatRequest = field(repr=False)


@dataclass(frozen=True, slots=True)
class ResponseReceived:
    """The model answered a request."""

    context: InvocationContext
    response: ChatResponse = field(repr=False)


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """An answer was not accepted and the model is asked again. `attempt` counts from 1."""

    context: InvocationContext
    reason: str = field(repr=False)
    attempt: int


@dataclass(frozen=True, slots=True)
class Restarted:
    """The answer that a stream has shown so far is void: another one is asked for."""

    context: InvocationContext


@dataclass(frozen=True, slots=True)
class GuardrailRan:
    """A guardrail gave its verdict, on the input or on the answer of this number, counted from 1."""

    context: InvocationContext
    guardrail: str
    verdict: Verdict[Any] = field(repr=False)
    seconds: float
    validation: int


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call begins. It is told in the thread that runs the call."""

    context: InvocationContext
    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool call has ended, well or not. It is told in the thread that ran the call."""

    context: InvocationContext
    execution: ToolExecution


@dataclass(frozen=True, slots=True)
class Compensated:
    """A tool call that had succeeded was undone."""

    context: InvocationContext
    execution: ToolExecution


@dataclass(frozen=True, slots=True)
class CompensationFailed:
    """A tool call should have been undone, but its undo failed: what it did still stands."""

    context: InvocationContext
    execution: ToolExecution


@dataclass(frozen=True, slots=True)
class MemoryRepaired:
    """A conversation was loaded broken and mended for this call; each of `repairs` is a sentence."""

    context: InvocationContext
    repairs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallCompleted:
    """The call returns this value."""

    context: InvocationContext
    value: object = field(repr=False)
    usage: TokenUsage


@dataclass(frozen=True, slots=True)
class CallFailed:
    """The call raises this error. `text` is what the model had answered by then, also a part of it."""

    context: InvocationContext
    error: BaseException
    text: str | None = field(repr=False)


Event: TypeAlias = (
    CallStarted
    | Retrieved
    | RequestSent
    | ResponseReceived
    | AskedAgain
    | GuardrailRan
    | Restarted
    | ToolStarted
    | ToolFinished
    | Compensated
    | CompensationFailed
    | MemoryRepaired
    | CallCompleted
    | CallFailed
)
"""Everything a listener can hear."""

EVENTS: Final = Event.__args__


class EventListener(Protocol):
    """An object that hears events."""

    def on_event(self, event: Event, /) -> object: ...


Listener: TypeAlias = Callable[[Event], object] | EventListener
"""A callable of one event, or an object with `on_event`."""


def hearing(listener: Listener) -> Callable[[Event], object]:
    """The callable behind a listener of either form. Raises `TypeError` for what could not hear."""
    if isinstance(listener, type) and hasattr(listener, "on_event"):
        raise TypeError(f"a listener is an object, not its class: give {listener.__name__}()")
    heard = getattr(listener, "on_event", listener)
    if not callable(heard):
        raise TypeError(f"a listener is a callable of one event or has on_event(event), not {listener!r}")
    if iscoroutinefunction(heard) or iscoroutinefunction(getattr(heard, "__call__", None)):  # noqa: B004
        raise TypeError(f"a listener is told and not awaited, so {listener!r} cannot be asynchronous")
    return heard


def notify(listeners: Sequence[Callable[[Event], object]], event: Event) -> None:
    """Tell every listener, in order. An error of one is logged and hurts neither the call nor the others."""
    for listener in listeners:
        try:
            listener(event)
        except Exception:
            _log.warning("a listener failed on %s", type(event).__name__, exc_info=True)

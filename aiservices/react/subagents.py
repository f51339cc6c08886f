"""Agents as tools of other agents: how deep, how long, and what becomes of a failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ..context import ToolContext
from ..driving import ASYNCHRONOUS, BLOCKING, is_asynchronous
from ..errors import ConfigurationError, ToolError
from ..tools import Tool, tool
from .state import AgentState, StopReason

MAX_DEPTH: Final = 3
Failure: TypeAlias = str | Callable[[Exception], str]
"""What the model is told of a sub-agent's failure: a text, or a function of the error that gives it."""
_path: ContextVar[tuple[str, ...]] = ContextVar("aiservices_react_path", default=())


def as_tool(
    agent: Any,
    *,
    name: str | None = None,
    description: str | None = None,
    max_depth: int = MAX_DEPTH,
    timeout: float | None = None,
    on_failure: Failure | None = None,
    remembers: bool = False,
) -> Tool[..., Any]:
    """An agent as a tool with one parameter, the `task`.

    - `agent`: an `AgentExecutor`, or a function of the task, sync or async, such as a method of a service.
    - `name`, `description`: by default those of the agent, or of the function.
    - `max_depth`: how many agents may stand in a row, each called by the one before.
    - `timeout`: seconds for one call. A blocking function runs on then, unheard.
    - `on_failure`: what the model is told instead of the error.
    - `remembers`: whether calls of one run share a conversation; by default each begins anew. A new run of
      the agent that calls has a new conversation.

    A task that runs too deep, an agent that fails, stops short of an answer or waits for a decision is an
    error that the calling model is told. Raises `ConfigurationError` for what cannot be called.
    """
    called = str(name or getattr(agent, "name", None) or getattr(agent, "__name__", ""))
    if not callable(agent) and not callable(getattr(agent, "ainvoke", None)):
        raise ConfigurationError(f"{agent!r} is no agent: give an AgentExecutor or a function of a task")
    if max_depth < 1:
        raise ConfigurationError(f"max_depth is {max_depth}: give 1 or more")
    if timeout is not None and not timeout > 0:
        raise ConfigurationError(f"timeout is {timeout!r}: give more than 0 seconds, or None for no limit")
    delegation = _Delegation(called, max_depth, on_failure)
    invoke: Callable[..., Any] | None = getattr(agent, "ainvoke", None)

    async def delegate(task: str, context: ToolContext) -> Any:
        with delegation.step() as delegated:
            thread = f"{context.idempotency_key.partition(':')[0]}/{called}" if remembers else None
            asked: Any = invoke(task, thread) if invoke is not None else agent(task)
            given = await (asked if timeout is None else ASYNCHRONOUS.within(timeout, asked))
            delegated.answer = _answer(given, called)
        return delegated.answer

    def delegate_blocking(task: str) -> Any:
        async def asked() -> Any:
            return agent(task)

        with delegation.step() as delegated:
            delegated.answer = BLOCKING.run(asked() if timeout is None else BLOCKING.within(timeout, asked()))
        return delegated.answer

    told = description or getattr(agent, "description", None) or getattr(agent, "__doc__", None)
    make: Any = tool(name=called, description=told or f"Give a task to the agent {called}.")
    awaits = invoke is not None or is_asynchronous(agent)
    made: Tool[..., Any] = make(delegate if awaits else delegate_blocking)
    return made


@dataclass(slots=True)
class _Delegated:
    """What one call comes to."""

    answer: Any = None


class _Delegation:
    """One step down, within which the path is a step longer, and a failure what is made of it."""

    def __init__(self, name: str, max_depth: int, on_failure: Failure | None) -> None:
        self._name = name
        self._max_depth = max_depth
        self._on_failure = on_failure

    @contextmanager
    def step(self) -> Iterator[_Delegated]:
        before, delegated = _path.get(), _Delegated()
        token = _path.set((*before, self._name))
        try:
            if len(before) >= self._max_depth:
                raise ToolError(f"delegation depth {self._max_depth} reached: {' > '.join(before)}")
            yield delegated
        except Exception as error:
            if self._on_failure is None:
                raise
            told = self._on_failure
            delegated.answer = told if isinstance(told, str) else told(error)
        finally:
            _path.reset(token)


def _answer(given: Any, name: str) -> Any:
    if not isinstance(given, AgentState):
        return given
    if given.stop_reason in (StopReason.FINAL, StopReason.IMMEDIATE):
        return given.final_response
    if given.pending:
        waits = ", ".join(call.name for call in given.pending)
        raise ToolError(f"The agent '{name}' waits for somebody to approve: {waits}.")
    raise ToolError(f"The agent '{name}' stopped without an answer: {given.stop_reason}.")

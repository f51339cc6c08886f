"""Agents as tools of other agents: how deep, how long, and what becomes of a failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ..context import ToolContext
from ..driving import ASYNCHRONOUS, BLOCKING, is_asynchronous
from ..errors import ConfigurationError, ToolError
from ..tools import Tool, tool
from .paths import PATH
from .state import AgentState, StopReason

MAX_DEPTH: Final = 3
MOST_REMEMBERED: Final = 1000
"""So many conversations with other agents' runs an agent remembers in the process."""
Failure: TypeAlias = str | Callable[[Exception], str]
"""What the model is told of a sub-agent's failure: a text, or a function of the error that gives it."""


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
    - `max_depth`: how many agents may stand in a row, each called by the one before; the first counts.
    - `timeout`: seconds for one call. A blocking function runs on then, unheard.
    - `on_failure`: what the model is told instead of the error.
    - `remembers`: whether calls of one run share a conversation; by default each begins anew. A new run of
      the agent that calls has a new conversation.

    A task that runs too deep, an agent that fails, stops short of an answer or waits for a decision is an
    error that the calling model is told. Raises `ConfigurationError` for what cannot be called.
    """
    called = str(name or getattr(agent, "name", None) or getattr(agent, "__name__", ""))
    _check(agent, max_depth, timeout, on_failure)
    delegation, asking = _Delegation(called, max_depth, on_failure), _Asking(agent, called, remembers)

    async def delegate(task: str, context: ToolContext) -> Any:
        with delegation.step() as delegated:
            asked = asking.ask(task, context)
            given = await (asked if timeout is None else ASYNCHRONOUS.within(timeout, asked))
            await asking.leave(given)
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
    awaits = callable(getattr(agent, "ainvoke", None)) or is_asynchronous(agent)
    made: Tool[..., Any] = make(delegate if awaits else delegate_blocking)
    return made


def _check(agent: Any, max_depth: int, timeout: float | None, on_failure: object) -> None:
    if not callable(agent) and not callable(getattr(agent, "ainvoke", None)):
        raise ConfigurationError(f"{agent!r} is no agent: give an AgentExecutor or a function of a task")
    if max_depth < 1:
        raise ConfigurationError(f"max_depth is {max_depth}: give 1 or more")
    if timeout is not None and not timeout > 0:
        raise ConfigurationError(f"timeout is {timeout!r}: give more than 0 seconds, or None for no limit")
    if not isinstance(on_failure, str | None) and not callable(on_failure):
        raise ConfigurationError(f"on_failure is {on_failure!r}: give a text, or a function of the error")


class _Asking:
    """Gives tasks to an agent. One that remembers has a conversation for each run that it is asked by.

    Nobody tells when those runs are over, so that the oldest conversations are let go.
    """

    def __init__(self, agent: Any, name: str, remembers: bool) -> None:
        self._agent = agent
        self._name = name
        self._has_threads = hasattr(agent, "ainvoke")
        self._remembers = remembers and self._has_threads
        self._sessions: dict[str, Any] = {}

    def ask(self, task: str, context: ToolContext) -> Any:
        if self._remembers:
            return self._session(f"{context.idempotency_key.partition(':')[0]}/{self._name}").ainvoke(task)
        return self._agent.ainvoke(task) if self._has_threads else self._agent(task)

    async def leave(self, given: Any) -> None:
        """Forget a thread that waits for a decision: nobody will know under which name it does."""
        if self._has_threads and not self._remembers and isinstance(given, AgentState) and given.pending:
            await self._agent.arelease(given.thread_id)

    def _session(self, id: str) -> Any:
        session = self._sessions.pop(id, None) or self._agent._session(id)
        self._sessions[id] = session
        for oldest in list(self._sessions)[:-MOST_REMEMBERED]:
            self._sessions.pop(oldest, None)
        return session


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
        before, delegated = PATH.get(), _Delegated()
        token = PATH.set((*before, self._name))
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
            PATH.reset(token)


def _answer(given: Any, name: str) -> Any:
    if not isinstance(given, AgentState):
        return given
    if given.stop_reason in (StopReason.FINAL, StopReason.IMMEDIATE):
        return given.final_response
    if given.pending:
        waits = ", ".join(call.name for call in given.pending)
        raise ToolError(f"The agent '{name}' waits for somebody to approve: {waits}.")
    raise ToolError(f"The agent '{name}' stopped without an answer: {given.stop_reason}.")

"""Sessions: conversations that share an executor and nothing else."""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol

from ..errors import AgentError
from .decisions import Decisions
from .reading import AsyncOutputs
from .state import AgentState, NodeOutput, Said


class Executor(Protocol):
    """What a session needs of its executor."""

    def invoke(self, text: Said, thread_id: str | None = None) -> AgentState: ...
    async def ainvoke(self, text: Said, thread_id: str | None = None) -> AgentState: ...
    def stream(
        self, text: Said, thread_id: str | None = None, *, tokens: bool = False
    ) -> Generator[NodeOutput, None, None]: ...
    def astream(self, text: Said, thread_id: str | None = None, *, tokens: bool = False) -> AsyncOutputs: ...
    def resume(self, thread_id: str, decision: Decisions | None = None) -> AgentState: ...
    async def aresume(self, thread_id: str, decision: Decisions | None = None) -> AgentState: ...
    def resume_stream(
        self, thread_id: str, decision: Decisions | None = None, *, tokens: bool = False
    ) -> Generator[NodeOutput, None, None]: ...
    def aresume_stream(
        self, thread_id: str, decision: Decisions | None = None, *, tokens: bool = False
    ) -> AsyncOutputs: ...
    def state(self, thread_id: str) -> AgentState: ...
    async def astate(self, thread_id: str) -> AgentState: ...


class Session:
    """One conversation: a thread of its own, `id`, that in the process lasts as long as this object."""

    def __init__(self, executor: Executor, id: str, keeper: object) -> None:
        self.id = id
        self._executor = executor
        self._keeper = keeper

    def invoke(self, text: Said) -> AgentState:
        """Run the next turn; see `AgentExecutor.invoke`."""
        return self._executor.invoke(text, self.id)

    async def ainvoke(self, text: Said) -> AgentState:
        """See `invoke`."""
        return await self._executor.ainvoke(text, self.id)

    def stream(self, text: Said, *, tokens: bool = False) -> Generator[NodeOutput, None, None]:
        """Run the next turn as far as it is read; see `AgentExecutor.stream`."""
        return self._executor.stream(text, self.id, tokens=tokens)

    def astream(self, text: Said, *, tokens: bool = False) -> AsyncOutputs:
        """See `stream`."""
        return self._executor.astream(text, self.id, tokens=tokens)

    def resume(self, decision: Decisions | None = None) -> AgentState:
        """Go on with the last turn; see `AgentExecutor.resume`."""
        return self._executor.resume(self.id, decision)

    async def aresume(self, decision: Decisions | None = None) -> AgentState:
        """See `resume`."""
        return await self._executor.aresume(self.id, decision)

    def resume_stream(
        self, decision: Decisions | None = None, *, tokens: bool = False
    ) -> Generator[NodeOutput, None, None]:
        """Go on with the last turn as far as it is read; see `AgentExecutor.resume_stream`."""
        return self._executor.resume_stream(self.id, decision, tokens=tokens)

    def aresume_stream(self, decision: Decisions | None = None, *, tokens: bool = False) -> AsyncOutputs:
        """See `resume_stream`."""
        return self._executor.aresume_stream(self.id, decision, tokens=tokens)

    def state(self) -> AgentState:
        """The newest state; an empty one before the first turn."""
        try:
            return self._executor.state(self.id)
        except AgentError:
            return AgentState(self.id)

    async def astate(self) -> AgentState:
        """See `state`."""
        try:
            return await self._executor.astate(self.id)
        except AgentError:
            return AgentState(self.id)

    def __repr__(self) -> str:
        return f"Session({self.id!r})"

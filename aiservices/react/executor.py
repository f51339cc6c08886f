"""The executor: an agent without a declaration, over any number of threads."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..driving import ASYNCHRONOUS, BLOCKING, Driver
from ..errors import AgentError, ConfigurationError
from ..invocation import changed
from ..memory import key_of
from ..messages import AiMessage, ChatMessage, Content, UserMessage
from ..tools import Tool
from .decisions import Decisions
from .diagrams import diagram
from .lines import Line
from .process_threads import ProcessThreads
from .reading import AsyncOutputs, Reading, read
from .records import NODES, Checkpoint, has_open_round
from .running import Run
from .sessions import Session
from .setup import Setup
from .state import AgentState, NodeOutput, Said, Snapshot, kept_by
from .subagents import MAX_DEPTH, Failure, as_tool
from .updating import updated


class AgentExecutor:
    """Model and tools in turn until there is an answer; made by `react(...)`, used by many threads at once.

    Each method has an asynchronous twin with an `a` before its name. Without a `thread_id` a run is a thread
    of its own, named in its state; in the process it lasts as long as somebody holds a state of it. As one
    of the `tools=` of another agent or service it is a tool under its `name`.
    """

    def __init__(self, setup: Setup, description: str = "") -> None:
        self._setup = setup
        self.name = setup.name
        self.description = description

    def invoke(self, text: Said, thread_id: str | None = None) -> AgentState:
        """Run one turn and give the state at its end.

        Raises what the model raises, `LimitExceededError`, and `MemoryInUseError` for a thread that is in use
        by what this call is made from.
        """
        return BLOCKING.run(self._run(BLOCKING, text, thread_id))

    async def ainvoke(self, text: Said, thread_id: str | None = None) -> AgentState:
        """See `invoke`."""
        return await ASYNCHRONOUS.run(self._run(ASYNCHRONOUS, text, thread_id))

    def stream(
        self, text: Said, thread_id: str | None = None, *, tokens: bool = False
    ) -> Generator[NodeOutput, None, None]:
        """Run one turn as far as it is read: the state after each node, `start, agent, action, ..., end`.

        With `tokens` the model's answer is streamed, and its events come as outputs of the node `agent` that
        have an `event`. The state of the last output is what `invoke` would return. Closing it ends the run.
        """
        id, lasting = self._id(thread_id), thread_id is not None
        reading = self._reading(id)
        run = self._run(BLOCKING, text, id, reading, tokens=tokens, lasting=lasting)
        return read(BLOCKING.events(run), reading)

    def astream(self, text: Said, thread_id: str | None = None, *, tokens: bool = False) -> AsyncOutputs:
        """See `stream`."""
        id, lasting = self._id(thread_id), thread_id is not None
        reading = self._reading(id)
        run = self._run(ASYNCHRONOUS, text, id, reading, tokens=tokens, lasting=lasting)
        return AsyncOutputs(ASYNCHRONOUS.events(run), reading)

    def resume(
        self, thread_id: str, decision: Decisions | None = None, version: int | None = None
    ) -> AgentState:
        """Go on with a thread that waits, failed or was broken off, and give the state at the end.

        `decision` is `Approve()`, `Refuse(reason)` or `Edit(arguments)` when one call waits, else a mapping
        from call ids to these; nothing that was decided runs before all is. `version` goes on from an older
        checkpoint, which is then the newest. What was finished there is not run again, and a thread that is
        finished, or still waits, stays as it is. Raises `AgentError` for a thread or version that is not
        there, for a decision about nothing that waits, and for edited arguments that the tool does not take.
        """
        return BLOCKING.run(self._resume(BLOCKING, thread_id, decision, version))

    async def aresume(
        self, thread_id: str, decision: Decisions | None = None, version: int | None = None
    ) -> AgentState:
        """See `resume`."""
        return await ASYNCHRONOUS.run(self._resume(ASYNCHRONOUS, thread_id, decision, version))

    def resume_stream(
        self,
        thread_id: str,
        decision: Decisions | None = None,
        version: int | None = None,
        *,
        tokens: bool = False,
    ) -> Generator[NodeOutput, None, None]:
        """Go on as `resume` does, as far as it is read; for `tokens`, and for closing it, see `stream`.

        The first output is the state from which the run goes on, under the node that it stood after; where
        there is nothing to run it is the only one.
        """
        reading = self._reading(key_of(thread_id))
        run = self._resume(BLOCKING, thread_id, decision, version, reading, tokens=tokens)
        return read(BLOCKING.events(run), reading)

    def aresume_stream(
        self,
        thread_id: str,
        decision: Decisions | None = None,
        version: int | None = None,
        *,
        tokens: bool = False,
    ) -> AsyncOutputs:
        """See `resume_stream`."""
        reading = self._reading(key_of(thread_id))
        run = self._resume(ASYNCHRONOUS, thread_id, decision, version, reading, tokens=tokens)
        return AsyncOutputs(ASYNCHRONOUS.events(run), reading)

    def state(self, thread_id: str) -> AgentState:
        """The newest state. Raises `AgentError` when there is no such thread."""
        return BLOCKING.run(self._state(BLOCKING, thread_id))

    async def astate(self, thread_id: str) -> AgentState:
        """See `state`."""
        return await self._state(ASYNCHRONOUS, thread_id)

    def history(self, thread_id: str) -> list[Snapshot]:
        """The checkpoints, newest first; none when there is no such thread."""
        return BLOCKING.run(self._history(BLOCKING, thread_id))

    async def ahistory(self, thread_id: str) -> list[Snapshot]:
        """See `history`."""
        return await self._history(ASYNCHRONOUS, thread_id)

    def update(self, thread_id: str, values: Mapping[str, Any], as_node: str | None = None) -> Snapshot:
        """Write to channels as a node would, as a new checkpoint, and give it.

        With `as_node` what comes next is decided as if that node had just run; calls that this passes by get
        results that say so. Raises `ConfigurationError` for an unknown node or channel, `AgentError` when
        there is no such thread, and for messages that would come between calls and their results.
        """
        return BLOCKING.run(self._update(BLOCKING, thread_id, values, as_node))

    async def aupdate(
        self, thread_id: str, values: Mapping[str, Any], as_node: str | None = None
    ) -> Snapshot:
        """See `update`."""
        return await self._update(ASYNCHRONOUS, thread_id, values, as_node)

    def release(self, thread_id: str) -> bool:
        """Forget a thread and its checkpoints, and say whether there was one."""
        return BLOCKING.run(self._release(BLOCKING, thread_id))

    async def arelease(self, thread_id: str) -> bool:
        """See `release`."""
        return await self._release(ASYNCHRONOUS, thread_id)

    def new_session(self) -> Session:
        """A conversation of its own, with this executor's model and tools."""
        return self._session(_new_id())

    def _session(self, thread_id: str) -> Session:
        """The conversation of a thread, which in the process then lasts as long as what this gives."""
        id = key_of(thread_id)
        return Session(self, id, self._setup.threads.owned(id))

    def diagram(self) -> str:
        """The nodes and what leads from one to the next, as Mermaid text."""
        return diagram(self._setup)

    def as_tool(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        max_depth: int = MAX_DEPTH,
        timeout: float | None = None,
        on_failure: Failure | None = None,
        remembers: bool = False,
    ) -> Tool[..., Any]:
        """This agent as a tool; for the options see `aiservices.react.as_tool`."""
        return as_tool(
            self,
            name=name,
            description=description,
            max_depth=max_depth,
            timeout=timeout,
            on_failure=on_failure,
            remembers=remembers,
        )

    def as_langgraph_node(self, *, messages_key: str = "messages") -> Any:
        """This agent as a node of a LangGraph `StateGraph`, sync and async. Needs the extra `langgraph`.

        The node reads the conversation under `messages_key`, runs one turn on it and adds what was said.
        """
        from .langgraph_nodes import langgraph_node

        return langgraph_node(self, messages_key)

    def __tools__(self) -> Iterable[Tool[..., Any]]:
        return [self.as_tool()]

    def __repr__(self) -> str:
        return f"<agent {self.name}: {', '.join(self._setup.assortment.registry) or 'no tools'}>"

    async def _run(
        self,
        driver: Driver,
        text: Said,
        thread_id: str | None,
        reading: Reading | None = None,
        *,
        tokens: bool = False,
        lasting: bool = True,
    ) -> AgentState:
        messages = _messages(text)
        lasting = lasting and thread_id is not None
        id, threads = self._id(thread_id), self._setup.threads
        outbox = None if reading is None else reading.outbox
        async with self._line(driver, id, reading):
            keeper = threads.opened(id, lasting=lasting)
            checkpoint = await threads.newest(driver, id)
            run = Run(self._setup, driver, keeper, checkpoint, outbox=outbox, tokens=tokens)
            return self._ended(await run.begin(id, messages))

    async def _resume(
        self,
        driver: Driver,
        thread_id: str,
        decision: Decisions | None,
        version: int | None,
        reading: Reading | None = None,
        *,
        tokens: bool = False,
    ) -> AgentState:
        threads, thread_id = self._setup.threads, key_of(thread_id)
        outbox = None if reading is None else reading.outbox
        async with self._line(driver, thread_id, reading):
            keeper = threads.opened(thread_id, lasting=False)
            checkpoint = await self._newest(driver, thread_id)
            if version is not None and version != checkpoint.version:
                old = await self._checkpoint(driver, thread_id, version)
                if decision is not None:
                    await Run(self._setup, driver, keeper, old, progress=old.progress).read(decision)
                checkpoint = await self._rewound(driver, old, checkpoint)
            progress = checkpoint.progress
            run = Run(
                self._setup, driver, keeper, checkpoint, progress=progress, outbox=outbox, tokens=tokens
            )
            return self._ended(await run.resume(decision))

    async def _checkpoint(self, driver: Driver, thread_id: str, version: int) -> Checkpoint:
        for item in await self._setup.threads.history(driver, thread_id):
            if item.version == version:
                return item
        raise AgentError(f"thread {thread_id!r} has no version {version}", agent=self.name)

    async def _rewound(self, driver: Driver, old: Checkpoint, newest: Checkpoint) -> Checkpoint:
        """The old checkpoint as the newest: a copy, so that history only grows."""
        progress = changed(old.progress, run_id=_new_id())  # its calls are others, and their keys, too
        return await self._setup.threads.save(driver, old.state, (old.node, old.next), progress, newest)

    async def _update(
        self, driver: Driver, thread_id: str, values: Mapping[str, Any], as_node: str | None
    ) -> Snapshot:
        if as_node is not None and as_node not in NODES:
            raise ConfigurationError(f"there is no node {as_node!r}; there are: {', '.join(NODES)}")
        thread_id = key_of(thread_id)
        async with self._line(driver, thread_id):
            self._setup.threads.opened(thread_id, lasting=False)
            at = await self._newest(driver, thread_id)
            state, nodes, progress = await updated(self._setup, driver, at, values, as_node)
            saved = await self._setup.threads.save(driver, state, nodes, progress, at)
            return saved.snapshot

    async def _release(self, driver: Driver, thread_id: str) -> bool:
        thread_id = key_of(thread_id)
        async with self._line(driver, thread_id):
            return await self._setup.threads.release(driver, thread_id)

    async def _state(self, driver: Driver, thread_id: str) -> AgentState:
        thread_id = key_of(thread_id)
        keeper = self._setup.threads.opened(thread_id, lasting=False)
        state = (await self._newest(driver, thread_id)).state
        return kept_by(self._setup.channels.copied(state), keeper)

    async def _history(self, driver: Driver, thread_id: str) -> list[Snapshot]:
        checkpoints = await self._setup.threads.history(driver, key_of(thread_id))
        return [replace(item.snapshot, state=self._setup.channels.copied(item.state)) for item in checkpoints]

    async def _newest(self, driver: Driver, thread_id: str) -> Checkpoint:
        found = await self._setup.threads.newest(driver, thread_id)
        if found is None:
            where = (
                " in this process: a checkpointer keeps threads beyond it"
                if isinstance(self._setup.threads, ProcessThreads)
                else ""
            )
            raise AgentError(f"there is no thread {thread_id!r}{where}", agent=self.name)
        return found

    def _line(self, driver: Driver, thread_id: str, reading: Reading | None = None) -> Line:
        return Line(driver, self._setup, thread_id, reading)

    def _reading(self, thread_id: str) -> Reading:
        threads = self._setup.threads
        return Reading(threads.line(thread_id), threads.opened(thread_id, lasting=False))

    def _ended(self, state: AgentState) -> AgentState:
        self._setup.threads.ended(state.thread_id, waits=bool(state.pending))
        return state

    def _id(self, thread_id: str | None) -> str:
        return _new_id() if thread_id is None else key_of(thread_id)


def _new_id() -> str:
    return os.urandom(16).hex()


def _messages(text: Said) -> Sequence[ChatMessage]:
    if isinstance(text, str | Content):
        return (UserMessage(text),)
    if isinstance(text, UserMessage):
        return (text,)
    messages = tuple(text) if isinstance(text, Iterable) else ()
    if not messages or not all(isinstance(item, ChatMessage) for item in messages):
        raise TypeError("a turn begins with a text, a content or messages, and with one of them at least")
    last = messages[-1]
    if has_open_round(messages) or (isinstance(last, AiMessage) and last.tool_calls):
        raise AgentError("a turn begins with calls that have no results: give the results, or leave them out")
    return messages

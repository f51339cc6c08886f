"""What a user holds: something to invoke, run, stream, resume and check."""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Any, Final

from ..context import NO_PARAMETERS, InvocationParameters
from ..driving import ASYNCHRONOUS, BLOCKING, Driver
from ..errors import AgentError, AgentSuspendedError, ConfigurationError
from ..guessing import kind_of
from ..memory.ids import key_of
from ..stores import Store
from ..tools import Tool, tool
from .checking import checked
from .diagrams import drawn
from .events import AgentEvent
from .needs import MISSING
from .node import Node, listed, nodes
from .outcomes import AgentOutcome, Completed, Failed, Suspended
from .owning import owned
from .records import COMPLETED, Record, decoded_inputs
from .running import Run, concluded
from .saving import Codec

_BLANKS: Final = re.compile(r"\s+")


class Agent(Node):
    """An agent: made of an AI service, a function or other agents, and used like any other.

    Inputs are given by name. `memory_id` names the run: agents that speak for a conversation speak for this
    one. With a `store` each step of such a run is saved, so that one that was broken off, has failed or
    waits for an answer can be resumed where it stopped. An argument that is `InvocationParameters` reaches
    the agents and tools that ask for it, and is not saved.
    """

    store: Store | None = None

    def __init__(self, *, name: str, description: str = "", output_key: str | None = None) -> None:
        if not isinstance(name, str):
            raise ConfigurationError(f"the name of an agent is {name!r}: give a text")
        self.name = _BLANKS.sub(" ", name).strip()
        if not self.name:
            raise ConfigurationError("an agent needs a name that is not blank")
        if output_key is not None and not (isinstance(output_key, str) and output_key.strip()):
            raise ConfigurationError(f"{self.name}: its output_key is {output_key!r}: give a text")
        if not isinstance(description, str):
            raise ConfigurationError(f"{self.name}: its description is {description!r}: give a text")
        self.description = description
        self.output_key = output_key

    def invoke(self, /, *, memory_id: Any = None, **inputs: Any) -> Any:
        """Run to the end and give the value.

        Raises what went wrong, and `AgentSuspendedError` naming what the run waits for.
        """
        return self._value(self.run(memory_id=memory_id, **inputs))

    async def ainvoke(self, /, *, memory_id: Any = None, **inputs: Any) -> Any:
        """See `invoke`."""
        return self._value(await self.arun(memory_id=memory_id, **inputs))

    def run(self, /, *, memory_id: Any = None, **inputs: Any) -> AgentOutcome:
        """Run to the end and tell how it ended: `Completed`, `Suspended` or `Failed`.

        Raises `AgentError` when the run cannot begin, as when the last one with this `memory_id` is not over.
        """
        return BLOCKING.run(self._started(BLOCKING, memory_id, inputs))

    async def arun(self, /, *, memory_id: Any = None, **inputs: Any) -> AgentOutcome:
        """See `run`."""
        return await ASYNCHRONOUS.run(self._started(ASYNCHRONOUS, memory_id, inputs))

    def stream(self, /, *, memory_id: Any = None, **inputs: Any) -> Iterator[AgentEvent]:
        """Run as far as the events are read; the last one is `RunEnded` with the outcome."""
        return BLOCKING.events(self._started(BLOCKING, memory_id, inputs, streams=True))

    def astream(self, /, *, memory_id: Any = None, **inputs: Any) -> AsyncIterator[AgentEvent]:
        """See `stream`."""
        return ASYNCHRONOUS.events(self._started(ASYNCHRONOUS, memory_id, inputs, streams=True))

    def resume(self, memory_id: Any, answers: Mapping[str, Any] | None = None) -> AgentOutcome:
        """Go on with a run that was broken off, has failed or waits.

        Agents that have finished do not run again. `answers` maps ids of what is pending to values; what has
        none stays pending. A run that is over gives its result again without a call. Raises `AgentError` for
        an unknown run, or one that somebody else runs.
        """
        return BLOCKING.run(self._resumed(BLOCKING, memory_id, answers or {}))

    async def aresume(self, memory_id: Any, answers: Mapping[str, Any] | None = None) -> AgentOutcome:
        """See `resume`."""
        return await ASYNCHRONOUS.run(self._resumed(ASYNCHRONOUS, memory_id, answers or {}))

    def restart(self, /, memory_id: Any, **inputs: Any) -> AgentOutcome:
        """Begin a run anew, whatever became of the last one; without inputs, with those of the last one."""
        return BLOCKING.run(self._restarted(BLOCKING, memory_id, inputs))

    async def arestart(self, /, memory_id: Any, **inputs: Any) -> AgentOutcome:
        """See `restart`."""
        return await ASYNCHRONOUS.run(self._restarted(ASYNCHRONOUS, memory_id, inputs))

    def forget(self, memory_id: Any) -> bool:
        """Delete what is saved of a run and say whether there was anything.

        Raises `AgentError` while it runs.
        """
        return BLOCKING.run(self._forgotten(BLOCKING, memory_id))

    async def aforget(self, memory_id: Any) -> bool:
        """See `forget`."""
        return await ASYNCHRONOUS.run(self._forgotten(ASYNCHRONOUS, memory_id))

    def check(self) -> tuple[str, ...]:
        """Check the flow of data through all agents, as was done when this one was made.

        Gives remarks, such as outputs that nobody reads. Raises `ConfigurationError` with all problems.
        """
        return checked(self)

    def diagram(self) -> str:
        """The agent and all that it is composed of, as the text of a Mermaid flowchart."""
        return drawn(self)

    async def _started(
        self, driver: Driver, memory_id: Any, inputs: Mapping[str, Any], *, streams: bool = False
    ) -> AgentOutcome:
        if self.store is None or memory_id is None:
            if memory_id is not None:
                key_of(memory_id)
            run = self._run(driver, memory_id, None, inputs, streams=streams)
            return await concluded(run)
        key = self._key(memory_id)
        _refuse_unfinished(await Record.load(driver, self.store, key, self._codec()), key)
        async with owned(driver, self.store, key, patient=False):
            last = await Record.load(driver, self.store, key, self._codec())
            _refuse_unfinished(last, key)
            record = Record(self.store, key, self._codec(), 0 if last is None else last.version)
            return await self._begun(driver, memory_id, record, inputs, streams=streams)

    async def _begun(
        self,
        driver: Driver,
        memory_id: Any,
        record: Record,
        inputs: Mapping[str, Any],
        *,
        streams: bool = False,
    ) -> AgentOutcome:
        run = self._run(driver, memory_id, record, inputs, streams=streams)
        record.inputs = dict(record.states[()])
        await record.save(driver)
        return await concluded(run)

    async def _resumed(self, driver: Driver, memory_id: Any, answers: Mapping[str, Any]) -> AgentOutcome:
        store, key = self._store(), self._key(memory_id)
        await self._found(driver, store, key)
        async with owned(driver, store, key, patient=True):
            record = await self._found(driver, store, key)
            scope = record.scope_at((), None)
            record.recall(scope)
            if record.status == COMPLETED:
                return Completed(record.value, scope, record.result[1])
            _take(record, answers)
            record.status, record.error = "running", ""
            run = self._run(driver, memory_id, record, {})
            record.recall(run.scope)
            return await concluded(run)

    async def _restarted(self, driver: Driver, memory_id: Any, inputs: Mapping[str, Any]) -> AgentOutcome:
        store, key = self._store(), self._key(memory_id)
        async with owned(driver, store, key, patient=True):
            last = await Record.load(driver, store, key, self._codec())
            given = inputs or ({} if last is None else decoded_inputs(last))
            record = Record(store, key, self._codec(), 0 if last is None else last.version)
            return await self._begun(driver, memory_id, record, given)

    async def _forgotten(self, driver: Driver, memory_id: Any) -> bool:
        store, key = self._store(), self._key(memory_id)
        async with owned(driver, store, key, patient=False):
            record = await Record.load(driver, store, key, self._codec())
            return record is not None and await record.delete(driver)

    async def _found(self, driver: Driver, store: Store, key: str) -> Record:
        record = await Record.load(driver, store, key, self._codec())
        if record is None:
            raise AgentError(f"there is no run {key!r} in the store: run(memory_id=...) begins one")
        return record

    def _run(
        self,
        driver: Driver,
        memory_id: Any,
        record: Record | None,
        inputs: Mapping[str, Any],
        *,
        streams: bool = False,
    ) -> Run:
        given = [value for value in inputs.values() if isinstance(value, InvocationParameters)]
        parameters = given[0] if given else NO_PARAMETERS
        run = Run(driver, self, memory_id=memory_id, parameters=parameters, record=record, streams=streams)
        for key, value in inputs.items():
            if not isinstance(value, InvocationParameters):
                run.scope.write(key, value)
        return run

    def _value(self, outcome: AgentOutcome) -> Any:
        match outcome:
            case Completed(value):
                return value
            case Failed(error):
                raise error
            case Suspended(pending):
                waits = ", ".join(f"{each.id} ({each.question})" for each in pending)
                raise AgentSuspendedError(
                    f"{self.name} waits for {waits or 'somebody to resume it'}: resume it with answers",
                    agent=self.name,
                    pending=pending,
                )

    def _store(self) -> Store:
        if self.store is None:
            raise AgentError(
                f"{self.name} has no store, so nothing of it is saved: give store=", agent=self.name
            )
        return self.store

    def _key(self, memory_id: Any) -> str:
        name = self.name.replace("%", "%25").replace("/", "%2F")  # what belongs to the id begins at the slash
        return f"{name}/{key_of(memory_id)}"

    def _codec(self) -> Codec:
        hints = [hint for node in nodes(self) for hint in (node.output_type, *(n.hint for n in node.needs))]
        return Codec(hints)

    def __tools__(self) -> Iterable[Tool[..., Any]]:
        """The agent as a tool of a service: it takes the agent's inputs and gives its value."""

        def ask(**inputs: Any) -> Any:
            return self.invoke(**{key: each for key, each in inputs.items() if each is not MISSING})

        ask.__name__ = re.sub(r"\W", "_", self.name)
        ask.__doc__ = self.description
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters = [
            inspect.Parameter(need.key, kind, annotation=need.hint)
            if need.required
            else inspect.Parameter(need.key, kind, annotation=need.hint, default=need.default)
            for need in self.needs
        ]
        ask.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return [tool(ask)]

    def __repr__(self) -> str:
        return f"<agent {self.name}>"


def _refuse_unfinished(record: Record | None, key: str) -> None:
    if record is not None and record.status != COMPLETED:
        raise AgentError(
            f"the run {key!r} is unfinished ({record.status}): resume(memory_id) goes on with it, "
            "restart(memory_id, ...) begins it anew"
        )


def _take(record: Record, answers: Mapping[str, Any]) -> None:
    """Note the answers. The first one to a question counts."""
    asked = [each["id"] for each in record.pending]
    if not isinstance(answers, Mapping):
        raise AgentError(f"answers is {kind_of(answers)}: give a mapping; pending is {listed(asked)}")
    unknown = [each for each in answers if each not in asked and each not in record.answers]
    if unknown:
        raise AgentError(f"nothing is pending under {listed(unknown)}: pending is {listed(asked)}")
    for each, value in answers.items():
        if each not in record.answers:
            record.answers[each] = record.codec.encode(value, f"the answer to {each!r}")

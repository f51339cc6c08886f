"""One run of a system of agents, from its inputs to its outcome."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from ..context import NO_PARAMETERS, InvocationParameters
from ..driving import Driver, Emit
from ..errors import ConflictError
from .attempting import attempt
from .events import AgentEvent, RunEnded, Where, tell
from .node import Heard, Here, Node, Waiting
from .outcomes import AgentOutcome, Completed, Failed, Pending, Suspended
from .places import Place
from .records import Record, new_id
from .scope import AgenticScope, Numbers

_log = logging.getLogger("aiservices")


class Run:
    """What all calls of one run share.

    `record` is what is saved of it, where there is a store. `pending` collects what it waits for.
    `surrendered` are the errors that no handler has helped against.
    """

    def __init__(
        self,
        driver: Driver,
        root: Node,
        *,
        memory_id: Any = None,
        parameters: InvocationParameters = NO_PARAMETERS,
        record: Record | None = None,
        streams: bool = False,
    ) -> None:
        self.driver = driver
        self.root = root
        self.id = new_id() if record is None else record.run_id
        self.memory_id = memory_id
        self.parameters = parameters
        self.record = record
        self.streams = streams
        self.scope = AgenticScope() if record is None else record.scope_at((), None)
        self._pending: dict[Numbers, Pending] = {}
        self.surrendered: list[Exception] = []
        self.reason = "done"

    def where(self, name: str, place: Place) -> Where:
        """A call, as events name it."""
        return Where(self.id, name, place.path, place.id, self.memory_id)

    def is_heard(self, listeners: tuple[Heard, ...]) -> bool:
        """Whether anybody would hear of an event."""
        return self.streams or bool(listeners)

    async def tell(self, listeners: tuple[Heard, ...], event: AgentEvent) -> None:
        """Tell listeners, and whoever reads the stream."""
        tell(listeners, event)
        if self.streams:
            await Emit(event)

    @property
    def pending(self) -> tuple[Pending, ...]:
        """What the run waits for, in the order in which it was called."""
        return tuple(self._pending[place] for place in sorted(self._pending))

    def wait_for(self, place: Numbers, pending: Pending) -> None:
        """Note what the call at a place waits for."""
        self._pending[place] = pending

    def answer_to(self, pending_id: str) -> tuple[Any, ...]:
        """The answer to what was pending, in a tuple; empty when there is none yet."""
        if self.record is None or pending_id not in self.record.answers:
            return ()
        return (self.record.codec.decode(self.record.answers[pending_id]),)

    def apart(self, outer: AgenticScope, place: Place, arguments: Mapping[str, Any]) -> AgenticScope:
        """A scope for one call, with arguments that only it sees."""
        if self.record is None:
            return AgenticScope(arguments, outer=outer)
        scope = self.record.scope_at(place.numbers, outer)
        for key, value in arguments.items():
            if key not in self.record.states[place.numbers]:  # else an agent within has written it
                scope.write(key, value)
        return scope

    def forget(self, place: Numbers, *, history: bool) -> None:
        """Forget what a call was doing, and what ran within it when it begins anew."""
        if self.record is not None:
            self.record.forget(place, history=history)
        if history:
            self.scope.history.forget(place)

    async def save_in_passing(self, error: BaseException) -> None:
        """Save where the run is on the way of an error, which matters more than a store that fails."""
        if self.record is None:
            return
        try:
            await self.record.save(self.driver)
        except Exception as failure:
            _log.error("the run %s could not be saved: %s", self.record.key, failure)
            error.add_note(f"the run could not be saved: {failure}")


async def concluded(run: Run) -> AgentOutcome:
    """Run to the end and save how it ended. Cancellation leaves the run as one that can be resumed."""
    root, scope = run.root, run.scope
    place = Place(root.name)
    here = Here(run, scope, place, root.listeners)
    outcome: AgentOutcome
    try:
        done = await attempt(root, here)
        if root.output_key is not None:
            scope.write(root.output_key, done.output)
        if run.record is not None:
            run.record.completed(done.output, run.reason)
            await run.record.save(run.driver)
        outcome = Completed(done.output, scope, run.reason)
    except Waiting:
        outcome = Suspended(run.pending, scope)
    except Exception as error:
        outcome = Failed(error, scope)
    await _saved(run, outcome)
    await run.tell(root.listeners, RunEnded(run.where(root.name, place), outcome))
    return outcome


async def _saved(run: Run, outcome: AgentOutcome) -> None:
    """Save that a run waits or has failed. What ended it matters more than a store that cannot be told."""
    record = run.record
    if record is None or isinstance(outcome, Completed):
        return
    if isinstance(outcome, Suspended):
        record.suspended(outcome.pending)
        await record.save(run.driver)
        return
    if isinstance(outcome.error, ConflictError):
        return  # somebody else has taken the run
    record.failed(outcome.error)
    await run.save_in_passing(outcome.error)

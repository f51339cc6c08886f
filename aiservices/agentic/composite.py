"""Agents made of other agents: a planner, those it plans with, and what all composites have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ..errors import ConfigurationError
from ..options import sequence_problems
from ..stores import Store
from ..tools.annotations import return_type
from ..tools.undertaking import Undertaking, undertaken
from .agents import Agent
from .attempting import missing, missing_memory_id
from .checking import checked
from .events import hearing
from .looping import PlannerLoop
from .needs import Need
from .node import Here, Node, OnError, Waiting, nodes
from .planner import Planner
from .scope import AgenticScope
from .topology import Chosen, Topology
from .traffic import Flow, Traffic, in_any_order, merged

OnScope = Callable[[AgenticScope], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositeOptions:
    """What every composite may be given; see the builders."""

    name: str | None = None
    description: str = ""
    output_key: str | None = None
    output: OnScope | None = None
    before: OnScope | None = None
    on_error: OnError | None = None
    listeners: Sequence[Any] = ()
    store: Store | None = None
    timeout: float | None = None
    compensate: bool = False


NO_OPTIONS: Final = CompositeOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How the agents of a composite work together.

    `pattern` is a word for it, and the default name. `make_planner` makes the planner of one run. `flow` is
    how data flows among the agents, `output_type` what comes out. `reads_scope` where functions of the user's
    may read any key. `topology` is for those who draw it; where there is none, a planner in
    the middle is drawn.
    `remarks` are what is odd about it without being a mistake.
    """

    pattern: str
    make_planner: Callable[[], Planner]
    flow: Flow = in_any_order
    output_type: Any = Any
    reads_scope: bool = False
    topology: Topology | None = None
    remarks: tuple[str, ...] = ()


class Composite(Agent):
    """Agents that work together as a planner decides."""

    is_composite = True

    def __init__(self, plan: Plan, agents: Sequence[Node], options: CompositeOptions = NO_OPTIONS) -> None:
        super().__init__(
            name=options.name or plan.pattern, description=options.description, output_key=options.output_key
        )
        self.plan = plan
        self.topology = plan.topology or Chosen(plan.pattern)
        self.agents = tuple(agents)
        self.make_planner = plan.make_planner
        self.remarks = plan.remarks
        self.output = options.output
        self.before = options.before
        self.on_error = options.on_error
        self.timeout = options.timeout
        self.compensate = options.compensate
        self.store = options.store
        self.reads_scope = plan.reads_scope or self.output is not None
        self.output_type = plan.output_type if self.output is None else return_type(self.output)
        _check(self, options.listeners)
        self.listeners = tuple(map(hearing, options.listeners))
        inside = self._inside()
        self._early = [want for want in inside.wants if want.early and want.required]
        self._traffic = self._outside(inside)
        self._needs = tuple(Need(want.key, want.hint, want.required) for want in merged(self._traffic.wants))
        checked(self)

    @property
    def needs(self) -> tuple[Need, ...]:
        return self._needs

    @property
    def pattern(self) -> str:
        """How its agents work together, in a word."""
        return self.plan.pattern

    def traffic(self) -> Traffic:
        return self._traffic

    async def perform(self, here: Here, inputs: Mapping[str, Any]) -> Any:
        if not self.compensate:
            return await self._worked(here)
        with undertaken() as undertaking:
            try:
                return await self._worked(here)
            except Waiting:
                raise
            except BaseException as error:
                await here.run.driver.finish(_undone(here, undertaking, error))
                raise

    async def _worked(self, here: Here) -> Any:
        run, record = here.run, here.run.record
        frame = None if record is None else record.frame_at(here.place, self.agents)
        if frame is None:
            await self._prepare(here)
        value, reason = await PlannerLoop(self, here, frame).value()
        if not here.place.numbers:
            run.reason = reason
        if self.output is not None:
            value = await run.driver.call(self.output, here.scope)
        if value is None and self.output_key is not None:
            value = here.scope.peek(self.output_key)
        return value

    async def _prepare(self, here: Here) -> None:
        """What comes before the first agent. Raises `MissingInputError` for what is known to be missing."""
        if self.before is not None:
            await here.run.driver.call(self.before, here.scope)
        elif here.place.numbers:
            return  # the composite around it has looked
        if here.run.memory_id is None:
            for node in nodes(self):
                if node.wants_memory_id:
                    raise missing_memory_id(node.name)
        for want in self._early:
            if not here.scope.has(want.key):
                raise missing(here.run.root, here.scope, want.agent, want.key)

    def _inside(self) -> Traffic:
        """The traffic of the agents by the plan.

        What an error handler may bring is asked for when it is due.
        """
        inside = self.plan.flow([agent.traffic() for agent in self.agents])
        if self.on_error is None:
            return inside
        return replace(inside, wants=tuple(replace(want, early=False) for want in inside.wants))

    def _outside(self, inside: Traffic) -> Traffic:
        """The same as those around this one see it. What `before` may write is not asked for from outside."""
        written = frozenset(() if self.output_key is None else (self.output_key,))
        outside = replace(inside, sure=inside.sure | written, maybe=inside.maybe | written)
        if self.before is None:
            return outside
        wants = tuple(replace(want, early=False, required=False) for want in outside.wants)
        return replace(outside, wants=wants, gaps=())


async def _undone(here: Here, undertaking: Undertaking, error: BaseException) -> None:
    """Undo what was done, and save that it has to be done again; of a cancelled run nobody else does."""
    here.run.forget(here.place.numbers, history=True)
    await undertaking.undo(here.run.driver, error)
    await here.run.save_in_passing(error)


def _check(composite: Composite, listeners: Any) -> None:
    name, problems = composite.name, []
    if not composite.agents:
        problems.append(f"{name}: it has no agents: give at least one")
    for option in ("output", "before", "on_error"):
        given = getattr(composite, option)
        if given is not None and not callable(given):
            problems.append(f"{name}: {option} is {given!r}: give a function")
    timeout: Any = composite.timeout
    store: Any = composite.store
    if timeout is not None and not (isinstance(timeout, int | float) and timeout > 0):
        problems.append(f"{name}: timeout is {timeout!r}: give seconds above 0, or None")
    if store is not None and not isinstance(store, Store):
        problems.append(f"{name}: store is {store!r}: give a Store, such as InMemoryStore()")
    problems += [f"{name}: {each}" for each in sequence_problems("listeners", listeners, hearing)]
    if problems:
        raise ConfigurationError(problems)

"""What decides which agents run next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Collection
from dataclasses import dataclass
from typing import Any, ClassVar

from ..driving import Driver
from .actions import Action
from .node import Node
from .scope import AgenticScope, AgentInvocation, Numbers
from .topology import Topology


@dataclass(frozen=True, slots=True)
class PlanningContext:
    """What a planner can see.

    `agents` are those of the composite, in the order in which they were given. `previous` is the one that has
    just finished; `None` at the first question, and when a resumed run asks before any agent has finished.
    `place` tells this run of the composite from others; `deadline` is the moment, by `time.monotonic`, at
    which it must have ended.
    """

    scope: AgenticScope
    agents: tuple[Node, ...]
    previous: AgentInvocation | None = None
    place: Numbers = ()
    deadline: float | None = None

    @property
    def calls(self) -> tuple[AgentInvocation, ...]:
        """What the agents of the composite have done in this run of it, in the order of their calls."""
        return tuple(self.scope.history.below(self.place))


class Planner(ABC):
    """Decides what runs next; one planner serves one run of its composite.

    `next_action` is called after each finished agent, never twice at once. While others still run, what it
    wants is kept: when all of them have ended their calls are made together, in the order of the agents that
    brought them about, and `done` and `noop` give way to calls. Any of the methods may be asynchronous.

    What a planner must know after a crash goes into `execution_state`, a JSON value. It is saved after each
    question, and given to `restore` of a new planner, after `init`. Agents that were called and had not
    finished are called again without asking; those that had are not.

    `topology` tells those who draw the agents how they hang together, such as `InOrder()`; by default any of
    them may run at any time.

    `writes` are the keys that the planner itself writes to the scope: nobody has to give them.
    """

    writes: Collection[str] = ()
    topology: ClassVar[Topology | None] = None

    def init(self, context: PlanningContext) -> Awaitable[None] | None:
        """Called once, before anything else."""
        return None

    def first_action(self, context: PlanningContext) -> Action | Awaitable[Action]:
        """What to begin with; `next_action` by default."""
        return self.next_action(context)

    @abstractmethod
    def next_action(self, context: PlanningContext) -> Action | Awaitable[Action]:
        """What to do now that `context.previous` has finished."""

    def execution_state(self) -> Any:
        """What `restore` needs to go on from here, as a JSON value."""
        return None

    def restore(self, state: Any) -> None:  # noqa: B027 - who has no state has nothing to do
        """Take up the state that `execution_state` gave."""


class DrivenPlanner(Planner):
    """A planner of the framework: `decide` is written once and runs under either driver."""

    @abstractmethod
    async def decide(self, context: PlanningContext, driver: Driver) -> Action:
        """See `next_action`; `driver` calls functions of the user's, whichever kind they are."""

    def next_action(self, context: PlanningContext) -> Action | Awaitable[Action]:
        raise TypeError(f"{type(self).__name__} is asked by decide(context, driver)")

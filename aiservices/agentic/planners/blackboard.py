"""Experts before a blackboard: one at a time adds what it knows, until the goal is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ...errors import AgentError
from ..actions import Action, call, done
from ..node import Node
from ..planner import Planner, PlanningContext
from ..scope import AgenticScope
from .readiness import Readiness

Goal: TypeAlias = str | Callable[[AgenticScope], bool] | None
Choose: TypeAlias = Callable[[Sequence[Node], AgenticScope], Node]


class Blackboard(Planner):
    """Calls one agent a step, of those whose inputs are there and have changed since it ran last.

    `goal` is a key or a function of the scope; the value is what is under the key. `choose` takes the agents
    that are ready and the scope, and gives one of them; by default the first in the order of the composite.
    When no agent is ready it ends, `quiescent`, whether the goal is there or not. Raises `AgentError` when
    the goal is not reached within `max_invocations` calls.
    """

    def __init__(self, goal: Goal = None, *, choose: Choose | None = None, max_invocations: int = 50) -> None:
        self._goal = goal
        self._choose = choose or _first
        self._max_invocations = max_invocations
        self._count = 0
        self._readiness = Readiness()

    def next_action(self, context: PlanningContext) -> Action:
        agents, scope = context.agents, context.scope
        if self._is_reached(scope):
            return done(scope.peek(self._goal)) if isinstance(self._goal, str) else done()
        ready = self._readiness.ready(agents, scope)
        if not ready:
            return done(reason="quiescent")
        if self._count == self._max_invocations:
            raise AgentError(f"the goal of the blackboard was not reached within {self._count} calls")
        chosen = self._choose(ready, scope)
        self._readiness.called(chosen, agents, scope)
        self._count += 1
        return call(chosen)

    def _is_reached(self, scope: AgenticScope) -> bool:
        if isinstance(self._goal, str):
            return scope.has(self._goal)
        return self._goal is not None and bool(self._goal(scope))

    def execution_state(self) -> Any:
        return {"count": self._count, "seen": self._readiness.state()}

    def restore(self, state: Any) -> None:
        self._count = state["count"]
        self._readiness.restore(state["seen"])


def _first(agents: Sequence[Node], scope: AgenticScope) -> Node:
    return agents[0]

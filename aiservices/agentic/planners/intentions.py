"""Desires that compete: the one that matters most is pursued, and another may have to wait."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import AgentError
from ..actions import Action, call, done
from ..planner import Planner, PlanningContext
from ..scope import AgenticScope


def _always(scope: AgenticScope) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Desire:
    """Something to bring about: when it is `satisfied`, by which `agents` in order, and how much it matters.

    It is pursued only where it is `achievable`. The greater `priority` matters more.
    """

    name: str
    agents: Sequence[Any]
    satisfied: Callable[[AgenticScope], bool]
    priority: int = 0
    achievable: Callable[[AgenticScope], bool] = _always


class Intentions(Planner):
    """Pursues the desire that matters most, one agent a step, until all that are achievable are satisfied.

    A desire of strictly greater priority goes first as soon as it is achievable; the one that had to wait
    goes on where it was. Raises `AgentError` naming a desire whose agents have all run and that is not
    satisfied, and when more than `max_invocations` calls would be needed.
    """

    def __init__(self, *desires: Desire, max_invocations: int = 50) -> None:
        self._desires = desires
        self._max_invocations = max_invocations
        self._count = 0
        self._current = ""
        self._next = {desire.name: 0 for desire in desires}

    def next_action(self, context: PlanningContext) -> Action:
        desire = self._chosen(context.scope)
        if desire is None:
            return done()
        step = self._next[desire.name]
        if step == len(desire.agents):
            raise AgentError(f"the desire {desire.name!r} is not satisfied, and all its agents have run")
        if self._count == self._max_invocations:
            raise AgentError(f"the desire {desire.name!r} is not satisfied after {self._count} calls")
        self._current = desire.name
        self._next[desire.name] += 1
        self._count += 1
        return call(desire.agents[step])

    def _chosen(self, scope: AgenticScope) -> Desire | None:
        """The first of those that matter most; the one that is being pursued stands before its equals."""
        open_ones = [each for each in self._desires if not each.satisfied(scope) and each.achievable(scope)]
        return max(open_ones, key=lambda each: (each.priority, each.name == self._current), default=None)

    def execution_state(self) -> Any:
        return {"count": self._count, "current": self._current, "next": {**self._next}}

    def restore(self, state: Any) -> None:
        self._count, self._current, self._next = state["count"], state["current"], {**state["next"]}

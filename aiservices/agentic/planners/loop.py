"""The same agents again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...driving import Driver
from ..actions import Action, call, done
from ..planner import DrivenPlanner, PlanningContext
from ..scope import AgenticScope

Until = Callable[[AgenticScope, int], Any]


class LoopPlanner(DrivenPlanner):
    """Calls the agents in order, round after round, until `until` says so or the rounds are used up.

    `until` is asked after each agent, or at the end of each round. Rounds count from 1.
    """

    def __init__(self, max_iterations: int, until: Until | None, *, each_agent: bool) -> None:
        self._max_iterations = max_iterations
        self._until = until
        self._each_agent = each_agent
        self._next = 0
        self._iteration = 1

    async def decide(self, context: PlanningContext, driver: Driver) -> Action:
        ends_round = self._next == len(context.agents)
        until = self._until if self._next and (ends_round or self._each_agent) else None
        if until is not None and await driver.call(until, context.scope, self._iteration):
            return done(reason="condition")
        if ends_round:
            if self._iteration == self._max_iterations:
                return done(reason="limit")
            self._iteration += 1
            self._next = 0
        self._next += 1
        return call(context.agents[self._next - 1])

    def execution_state(self) -> Any:
        return {"next": self._next, "iteration": self._iteration}

    def restore(self, state: Any) -> None:
        self._next, self._iteration = state["next"], state["iteration"]

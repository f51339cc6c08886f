"""One agent after another."""

from __future__ import annotations

from typing import Any

from ...driving import Driver
from ..actions import Action, call, done
from ..planner import DrivenPlanner, PlanningContext


class SequencePlanner(DrivenPlanner):
    """Calls the agents in order; the value is that of the last one."""

    def __init__(self) -> None:
        self._next = 0

    async def decide(self, context: PlanningContext, driver: Driver) -> Action:
        if self._next == len(context.agents):
            return done()
        self._next += 1
        return call(context.agents[self._next - 1])

    def execution_state(self) -> Any:
        return {"next": self._next}

    def restore(self, state: Any) -> None:
        self._next = state["next"]

"""All agents side by side."""

from __future__ import annotations

from ...driving import Driver
from ..actions import Action, call, done
from ..planner import DrivenPlanner, PlanningContext


class ParallelPlanner(DrivenPlanner):
    """Calls all agents at once; there is no value but what `output` makes of the scope."""

    async def decide(self, context: PlanningContext, driver: Driver) -> Action:
        if context.previous is None:
            return call(*context.agents)
        return done(None)

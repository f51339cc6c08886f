"""The agents whose conditions hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...driving import Driver
from ..actions import Action, call, done
from ..planner import DrivenPlanner, PlanningContext
from ..scope import AgenticScope

Predicate = Callable[[AgenticScope], Any]


class ConditionalPlanner(DrivenPlanner):
    """Calls every agent whose predicate holds, side by side, or only the first of them.

    Where none does, the agent after the last predicate is called, if there is one; else the value is `None`.
    A predicate that is `None` always holds.
    """

    def __init__(self, predicates: Sequence[Predicate | None], *, first_match: bool) -> None:
        self._predicates = predicates
        self._first_match = first_match

    async def decide(self, context: PlanningContext, driver: Driver) -> Action:
        if context.previous is not None:
            return done()
        chosen = []
        for predicate, agent in zip(self._predicates, context.agents, strict=False):
            if predicate is None or await driver.call(predicate, context.scope):
                chosen.append(agent)
                if self._first_match:
                    break
        chosen = chosen or list(context.agents[len(self._predicates) :])
        return call(*chosen) if chosen else done(None, reason="no_branch")

"""One agent for each item of a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...driving import Driver
from ...errors import AgentError
from ..actions import Action, Call, Gathered, Step, done
from ..needs import MISSING
from ..planner import DrivenPlanner, PlanningContext


class MappingPlanner(DrivenPlanner):
    """Calls its agent once for each item under the key `items`, side by side, with the item as `argument`.

    The value is the list of what they give, in the order of the items.
    """

    def __init__(self, items: str, argument: str) -> None:
        self._items = items
        self._argument = argument

    async def decide(self, context: PlanningContext, driver: Driver) -> Action:
        (agent,) = context.agents
        if context.previous is not None:
            return done(Gathered.ALL)
        promise = context.scope.promise_of(self._items)
        if promise is not None:
            await promise.kept(driver)
        value = context.scope.peek(self._items, MISSING)
        steps = tuple(Step(agent, {self._argument: item}) for item in self._listed(value))
        return Call(steps) if steps else done([])

    def _listed(self, value: Any) -> Iterable[Any]:
        if value is MISSING:
            raise AgentError(
                f"there is nothing under {self._items!r}, the key of the items: write a list before"
            )
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            raise AgentError(
                f"the items under {self._items!r} are a {type(value).__name__}, not a list: give a list"
            )
        return list(value)

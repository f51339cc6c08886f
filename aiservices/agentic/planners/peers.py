"""Agents that run whenever what they read has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...driving import Driver
from ..actions import Action, call, done, noop
from ..planner import DrivenPlanner, PlanningContext
from ..scope import AgenticScope
from .readiness import Readiness

Until = Callable[[AgenticScope, int], Any]


class PeersPlanner(DrivenPlanner):
    """Calls all agents that are ready, side by side, and again when they have ended.

    It ends when `until` says so, asked before each round, when no agent is ready any more, or when
    `max_invocations` agents have been called.
    """

    def __init__(self, max_invocations: int, until: Until | None) -> None:
        self._max_invocations = max_invocations
        self._until = until
        self._count = 0
        self._running = 0
        self._readiness = Readiness()

    async def decide(self, context: PlanningContext, driver: Driver) -> Action:
        if context.previous is not None:
            self._running -= 1
        if self._running:
            return noop()
        if self._until is not None and await driver.call(self._until, context.scope, self._count):
            return done(reason="condition")
        ready = self._readiness.ready(context.agents, context.scope)
        chosen = ready[: self._max_invocations - self._count]
        if not chosen:
            return done(reason="limit" if ready else "quiescent")
        for agent in chosen:
            self._readiness.called(agent, context.agents, context.scope)
        self._count += len(chosen)
        self._running = len(chosen)
        return call(*chosen)

    def execution_state(self) -> Any:
        return {"count": self._count, "running": self._running, "seen": self._readiness.state()}

    def restore(self, state: Any) -> None:
        self._count, self._running = state["count"], state["running"]
        self._readiness.restore(state["seen"])

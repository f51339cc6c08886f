"""Agents that are asked the same, and vote."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from ..actions import Action, call, done, noop
from ..planner import Planner, PlanningContext


def majority(votes: Sequence[Any]) -> Any:
    """What was voted for most often; of several, what the first of the agents voted for."""
    return max(votes, key=votes.count)


def average(votes: Sequence[float]) -> float:
    """The mean of numbers."""
    return fmean(votes)


def highest(votes: Sequence[Any]) -> Any:
    """The greatest vote; of equal ones the first."""
    return max(votes)


class Voting(Planner):
    """Calls all agents side by side and gives what `decide` makes of their outputs, in the agents' order.

    `decide` is `majority`, `average`, `highest` or a function of the list of votes. An agent that gives
    `None` abstains; without a vote the value is `None`.
    """

    def __init__(self, decide: Callable[[Sequence[Any]], Any] = majority) -> None:
        self._decide = decide
        self._running = 0

    def first_action(self, context: PlanningContext) -> Action:
        self._running = len(context.agents)
        return call(*context.agents)

    def next_action(self, context: PlanningContext) -> Action:
        self._running -= 1
        if self._running:
            return noop()
        votes = [each.output for each in context.calls if each.output is not None]
        return done(self._decide(votes) if votes else None)

    def execution_state(self) -> Any:
        return {"running": self._running}

    def restore(self, state: Any) -> None:
        self._running = state["running"]

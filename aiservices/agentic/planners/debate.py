"""Agents that debate until they agree, and one that judges."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from ...errors import AgentError
from ..actions import Action, call, done, noop
from ..planner import Planner, PlanningContext
from ..wording import worded

DEBATE: Final = "debate"
_WORDS: Final = re.compile(r"\w+")


def unanimous(answers: Sequence[Any]) -> bool:
    """Whether all answers are equal."""
    return all(answer == answers[0] for answer in answers)


def unanimous_last_word(answers: Sequence[Any]) -> bool:
    """Whether all answers end with the same word, as a verdict does, in whatever case and punctuation."""
    return unanimous([_WORDS.findall(worded(answer).casefold())[-1:] for answer in answers])


class Debate(Planner):
    """All agents but the last debate, side by side, in at most `rounds` rounds; the last one judges.

    What has been said so far, a line for each answer, is under the key `debate`: empty at first. The debate
    ends early when `agreed` holds of the answers of a round. The value is the judge's. Raises `AgentError`
    for fewer than three agents.
    """

    writes = (DEBATE,)

    def __init__(self, *, rounds: int = 3, agreed: Callable[[Sequence[Any]], bool] = unanimous) -> None:
        self._rounds = rounds
        self._agreed = agreed
        self._round = 0
        self._running = 0

    def first_action(self, context: PlanningContext) -> Action:
        if len(context.agents) < 3:
            raise AgentError("a debate needs three agents at least: two that debate, and a judge as the last")
        context.scope.write(DEBATE, "")
        return self._next_round(context)

    def next_action(self, context: PlanningContext) -> Action:
        self._running -= 1
        if self._running > 0:
            return noop()
        if self._running < 0:
            return done()
        said = context.calls
        context.scope.write(DEBATE, "\n".join(f"{each.agent}: {worded(each.output)}" for each in said))
        answers = [each.output for each in said[-(len(context.agents) - 1) :]]
        if self._round < self._rounds and not self._agreed(answers):
            return self._next_round(context)
        return call(context.agents[-1])

    def _next_round(self, context: PlanningContext) -> Action:
        debaters = context.agents[:-1]
        self._round += 1
        self._running = len(debaters)
        return call(*debaters)

    def execution_state(self) -> Any:
        return {"round": self._round, "running": self._running}

    def restore(self, state: Any) -> None:
        self._round, self._running = state["round"], state["running"]

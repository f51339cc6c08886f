"""The shortest way to a goal, over what agents read and write."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any, TypeAlias

from ...errors import AgentError
from ..actions import Action, call, done
from ..node import Node, listed
from ..planner import Planner, PlanningContext


class GoalPlanner(Planner):
    """Calls one agent after another until the goal, a key, is in the scope; each agent at most once.

    The way is looked for anew after each agent, from what is there then.
    """

    def __init__(self, goal: str) -> None:
        self._goal = goal
        self._called: list[int] = []

    def next_action(self, context: PlanningContext) -> Action:
        if context.scope.promise_of(self._goal) is not None:
            return done()  # with what the agent in the background will give
        if context.scope.has(self._goal):
            return done(context.scope.peek(self._goal))
        left = {index: each for index, each in enumerate(context.agents) if index not in self._called}
        keys = {key for each in left.values() for key in each.inputs}
        present = {key for key in keys if context.scope.has(key)}
        path = shortest_path(self._goal, list(left.values()), present)
        if not path:
            raise self._no_path(context, present)
        self._called.append(next(index for index, each in left.items() if each is path[0]))
        return call(path[0])

    def _no_path(self, context: PlanningContext, present: Collection[str]) -> AgentError:
        written = {each.output_key for each in context.agents}
        keys = dict.fromkeys(need.key for each in context.agents for need in each.needs if need.required)
        missing = [key for key in keys if key not in present and key not in written]
        why = (
            f"nobody has given {listed(missing)}" if missing else "its agents need what only they could give"
        )
        return AgentError(f"the goal {self._goal!r} cannot be reached from what is there: {why}")

    def execution_state(self) -> Any:
        return {"called": [*self._called]}

    def restore(self, state: Any) -> None:
        self._called = [*state["called"]]


Way: TypeAlias = tuple[int, int, tuple[str, ...], frozenset[int]]


def shortest_path(goal: str, agents: Sequence[Node], present: Collection[str]) -> list[Node]:
    """The fewest agents that lead from the keys present to the goal, in order; none if there is no way.

    Searches backwards: for a key that is still to be written it tries each agent that writes it. Where every
    key has one writer there is nothing to choose. Of ways of the same length the agents given first win.
    """
    usable = _ordered(agents, present)
    order = count()
    ways: list[Way] = [(0, next(order), (goal,), frozenset())]
    while ways:
        _, _, open_keys, chosen = heappop(ways)
        if not open_keys:
            way = _ordered([each for index, each in enumerate(usable) if index in chosen], present)
            if any(each.output_key == goal for each in way):
                return way
            continue  # its agents wait for one another
        key, *rest = open_keys
        for index, each in enumerate(usable):
            if each.output_key == key:
                after = _still_open([*rest, *_required(each)], chosen | {index}, usable, present)
                heappush(ways, (len(chosen) + 1, next(order), after, chosen | {index}))
    return []


def _still_open(
    keys: Sequence[str], chosen: frozenset[int], agents: Sequence[Node], present: Collection[str]
) -> tuple[str, ...]:
    written = {agents[index].output_key for index in chosen}
    return tuple(dict.fromkeys(key for key in keys if key not in present and key not in written))


def _ordered(agents: Sequence[Node], present: Collection[str]) -> list[Node]:
    """Those that can be called one after another, each with its inputs written before it."""
    keys, found, left = set(present), list[Node](), list(agents)
    while ready := next((each for each in left if keys.issuperset(_required(each))), None):
        left.remove(ready)
        found.append(ready)
        if ready.output_key is not None:
            keys.add(ready.output_key)
    return found


def _required(agent: Node) -> list[str]:
    return [need.key for need in agent.needs if need.required]

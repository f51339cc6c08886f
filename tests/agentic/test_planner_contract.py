"""Every planner of the framework keeps one contract: save its state anywhere, restore it, it goes on alike.

A planner is driven by itself here, with agents that only have a name. After each question its state goes
through JSON into a new planner, which then answers all that follows as the first one would have.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from aiservices.agentic import Action, AgenticScope, AgentInvocation, Planner, PlanningContext, as_agent
from aiservices.agentic.actions import Call, Done, Gathered, Noop, Suspend
from aiservices.agentic.node import Node
from aiservices.agentic.planner import DrivenPlanner
from aiservices.agentic.planners.conditional import ConditionalPlanner
from aiservices.agentic.planners.loop import LoopPlanner
from aiservices.agentic.planners.mapping import MappingPlanner
from aiservices.agentic.planners.parallel import ParallelPlanner
from aiservices.agentic.planners.sequence import SequencePlanner
from aiservices.driving import ASYNCHRONOUS

Make = Callable[[], Planner]

PLANNERS: dict[str, tuple[Make, int, dict[str, Any]]] = {
    "sequence": (SequencePlanner, 3, {}),
    "parallel": (ParallelPlanner, 3, {}),
    "parallel_map": (lambda: MappingPlanner("items", "item"), 1, {"items": [1, 2, 3]}),
    "loop": (lambda: LoopPlanner(3, None, each_agent=True), 2, {}),
    "loop_until": (lambda: LoopPlanner(9, lambda scope, n: n == 2, each_agent=False), 2, {}),
    "conditional": (
        lambda: ConditionalPlanner([lambda scope: True, lambda scope: False, None], first_match=False),
        3,
        {},
    ),
    "otherwise": (lambda: ConditionalPlanner([lambda scope: False], first_match=True), 2, {}),
}


def agents(number: int) -> tuple[Node, ...]:
    def nothing() -> None: ...

    made = []
    for index in range(number):
        node = as_agent(nothing)
        node.name = f"agent{index}"
        made.append(node)
    return tuple(made)


class Drive:
    """Asks a planner as the loop does, one finished agent after another."""

    def __init__(self, planner: Planner, team: tuple[Node, ...], state: dict[str, Any]) -> None:
        self.planner = planner
        self.team = team
        self.scope = AgenticScope(state)

    def ask(self, previous: str | None, planner: Planner | None = None) -> Action:
        asked = planner or self.planner
        done = None if previous is None else AgentInvocation(previous, previous, {}, previous)
        context = PlanningContext(self.scope, self.team, done)

        async def decide() -> Any:
            if isinstance(asked, DrivenPlanner):
                return await asked.decide(context, ASYNCHRONOUS)
            question = asked.first_action if previous is None else asked.next_action
            return await ASYNCHRONOUS.call(question, context)

        action: Action = asyncio.run(decide())
        return action


def shown(action: Action) -> Any:
    match action:
        case Call(steps):
            return [(step.agent.name, step.arguments) for step in steps]
        case Done(value, reason):
            return value.value if isinstance(value, Gathered) else value, reason
        case Noop() | Suspend():
            return action


def whole(drive: Drive) -> list[Any]:
    """All that a planner wants until it is done, each of its agents ending in order."""
    action, wanted = drive.ask(None), []
    running: list[str] = []
    while True:
        wanted.append(shown(action))
        if isinstance(action, Call):
            running += [step.agent.name for step in action.steps]
        if not running:
            return wanted
        action = drive.ask(running.pop(0))


@pytest.mark.parametrize("name", PLANNERS)
def test_a_planner_goes_on_from_any_state_as_it_would_have(name: str) -> None:
    make, number, state = PLANNERS[name]
    team = agents(number)
    expected = whole(Drive(make(), team, state))
    for stop in range(1, len(expected) + 1):
        drive = Drive(make(), team, state)
        action, wanted, running = drive.ask(None), [], list[str]()
        for asked in range(len(expected)):
            wanted.append(shown(action))
            if isinstance(action, Call):
                running += [step.agent.name for step in action.steps]
            if asked + 1 == stop:  # killed here: another process takes over
                saved = json.loads(json.dumps(drive.planner.execution_state()))
                drive = Drive(make(), team, state)
                drive.planner.restore(saved)
            if running:
                action = drive.ask(running.pop(0))
        assert wanted == expected


def test_the_contract_is_about_something() -> None:
    make, number, state = PLANNERS["loop"]
    wanted = whole(Drive(make(), agents(number), state))
    assert wanted == [[("agent0", None)], [("agent1", None)]] * 3 + [("last", "limit")]


def test_the_states_of_a_sequence() -> None:
    """V1, V2"""
    drive = Drive(SequencePlanner(), agents(3), {})
    states = [drive.planner.execution_state()]
    for previous in (None, "agent0", "agent1", "agent2"):
        action = drive.ask(previous)
        states.append(drive.planner.execution_state())
    assert [each["next"] for each in states] == [0, 1, 2, 3, 3]
    assert isinstance(action, Done)
    drive.planner.restore({"next": 2})
    assert shown(drive.ask("agent1")) == [("agent2", None)]


def test_the_states_of_a_loop() -> None:
    """V3, V4, V5"""
    planner = LoopPlanner(5, None, each_agent=True)
    drive = Drive(planner, agents(2), {})
    drive.ask(None)
    assert planner.execution_state() == {"next": 1, "iteration": 1}
    planner.restore({"next": 1, "iteration": 3})
    assert shown(drive.ask("agent0")) == [("agent1", None)]
    ends = Drive(LoopPlanner(5, lambda scope, n: True, each_agent=False), agents(1), {})
    assert shown(ends.ask(None)) == [("agent0", None)]
    assert shown(ends.ask("agent0")) == ("last", "condition")

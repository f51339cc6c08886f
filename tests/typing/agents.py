"""Agents as type checkers see them: decorated functions keep their type, a façade is its Protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any, Protocol, assert_type

from aiservices.agentic import (
    Action,
    Agent,
    AgentEvent,
    AgenticScope,
    AgentOutcome,
    Completed,
    ErrorContext,
    Failed,
    Planner,
    PlanningContext,
    Recovery,
    Suspended,
    agent,
    call,
    conditional,
    done,
    goal_oriented,
    human_in_the_loop,
    loop,
    parallel,
    parallel_map,
    peer_to_peer,
    planned,
    sequence,
    supervisor,
)
from aiservices.agentic.planners import Voting, highest


@agent(output_key="story")
def write(topic: str) -> str:
    return topic


@agent
async def edit(story: str) -> str:
    return story


class Story(Protocol):
    def tell(self, topic: str) -> str: ...


class Rounds(Planner):
    def next_action(self, context: PlanningContext) -> Action:
        return call(*context.agents) if context.previous is None else done(context.previous.output)


def until(scope: AgenticScope, iteration: int) -> bool:
    return iteration > 2


def help_with(context: ErrorContext) -> Recovery:
    return Recovery.retry() if context.attempt < 3 else Recovery.fail()


async def uses() -> None:
    assert_type(write("bees"), str)
    assert_type(await edit("story"), str)
    assert_type(sequence(write, edit, on_error=help_with), Agent)
    assert_type(sequence(write, edit, service=Story), Story)
    assert_type(sequence(write, edit, service=Story).tell("bees"), str)
    assert_type(loop(write, until=until, check="round_end", service=Story), Story)
    assert_type(parallel(write, edit, service=Story), Story)
    assert_type(parallel_map(write, items="topics", service=Story), Story)
    assert_type(conditional((lambda scope: True, write), otherwise=edit, service=Story), Story)
    assert_type(planned(Rounds, write, service=Story), Story)
    assert_type(planned(partial(Voting, highest), write, service=Story), Story)
    assert_type(supervisor(write, edit, chat_model="local", max_invocations=3), Agent)
    assert_type(supervisor(write, chat_model="local", service=Story), Story)
    assert_type(goal_oriented("story", write, name="writer"), Agent)
    assert_type(goal_oriented("story", write, service=Story), Story)
    assert_type(peer_to_peer(write, edit, until=until), Agent)
    assert_type(peer_to_peer(write, edit, service=Story), Story)
    assert_type(planned(Rounds, write, human_in_the_loop("ask")), Agent)
    story = sequence(write, output=lambda scope: scope.read("story"))
    assert_type(story.run(topic="x"), AgentOutcome)
    assert_type(story.stream(topic="x"), Iterator[AgentEvent])
    assert_type(story.astream(topic="x"), AsyncIterator[AgentEvent])
    match await story.arun(topic="x"):
        case Completed(value, scope):
            assert_type(value, Any)
            assert_type(scope, AgenticScope)
        case Suspended(pending):
            assert_type(pending[0].question, str)
        case Failed(error):
            assert_type(error, Exception)

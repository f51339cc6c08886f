"""The builders of agents that find their own way: supervisor, goal_oriented, peer_to_peer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, overload

from typing_extensions import TypeForm, Unpack

from ..errors import ConfigurationError
from ..models import ChatModel, resolve_chat_model
from .agents import Agent
from .building import AgentLike, CommonOptions, agents_of, built, with_count
from .cards import Roster, roster_problems, roster_remarks
from .composite import Plan
from .node import Node
from .planners.goal import GoalPlanner
from .planners.peers import PeersPlanner
from .planners.supervisor import SupervisorPlanner
from .supervising import REQUEST, ContextStrategy, RequestGenerator, ResponseStrategy, Supervision
from .traffic import Flow, Traffic, Want, in_any_order

T = TypeVar("T")


@overload
def supervisor(
    *agents: AgentLike,
    service: TypeForm[T],
    chat_model: ChatModel | str,
    max_invocations: int = 10,
    context_strategy: ContextStrategy = ContextStrategy.CHAT_MEMORY,
    response_strategy: ResponseStrategy = ResponseStrategy.SUMMARY,
    supervisor_context: str | None = None,
    request_generator: RequestGenerator | None = None,
    **options: Unpack[CommonOptions],
) -> T: ...
@overload
def supervisor(
    *agents: AgentLike,
    chat_model: ChatModel | str,
    max_invocations: int = 10,
    context_strategy: ContextStrategy = ContextStrategy.CHAT_MEMORY,
    response_strategy: ResponseStrategy = ResponseStrategy.SUMMARY,
    supervisor_context: str | None = None,
    request_generator: RequestGenerator | None = None,
    **options: Unpack[CommonOptions],
) -> Agent: ...
def supervisor(
    *agents: Any,
    chat_model: Any,
    service: Any = None,
    max_invocations: int = 10,
    context_strategy: ContextStrategy = ContextStrategy.CHAT_MEMORY,
    response_strategy: ResponseStrategy = ResponseStrategy.SUMMARY,
    supervisor_context: str | None = None,
    request_generator: RequestGenerator | None = None,
    **options: Any,
) -> Any:
    """Agents that a model gives work to, one at a time, until the input `request` is fulfilled.

    The model names an agent and its arguments, which are written to the scope; what it leaves out is read
    from there. A name that is none of the agents', and arguments that do not fit, go back to the model, at
    most five times for one decision; then `AgentError` is raised. It ends with `done` and a `response`, or
    after `max_invocations` calls, which is no error: `stop_reason` is `limit`.

    The value is the model's response, or what the last agent gave where there is none; `response_strategy`
    can make it what the last agent gave, or the better of the two. `context_strategy` is what the model sees
    of its work: the newest 20 messages, the newest exchange and a summary of all before, or 20 messages and
    a summary.
    `supervisor_context` is more to bear in mind; an input of that name wins over it. `request_generator`
    makes the request from the scope, in place of the input. Raises `ValueError` for fewer than one
    invocation, `ConfigurationError` for agents whose names a model could not tell apart. See `sequence`.
    """
    made = agents_of(agents, frame := sys._getframe(1))
    _check_count(max_invocations)
    name = options.get("name") or "supervisor"
    if problems := [f"{name}: {each}" for each in roster_problems(made)]:
        raise ConfigurationError(problems)
    how = Supervision(
        name=name,
        model=resolve_chat_model(chat_model),
        roster=Roster(made),
        max_invocations=max_invocations,
        context=ContextStrategy(context_strategy),
        response=ResponseStrategy(response_strategy),
        supervisor_context=supervisor_context,
        request=request_generator,
    )
    plan = Plan(
        pattern="supervisor",
        make_planner=partial(SupervisorPlanner, how),
        flow=_supervised(name, asks=request_generator is None),
        reads_scope=True,
        remarks=roster_remarks(made),
    )
    return built(plan, made, options, service, frame)


@overload
def goal_oriented(
    goal: str, *agents: AgentLike, service: TypeForm[T], **options: Unpack[CommonOptions]
) -> T: ...
@overload
def goal_oriented(goal: str, *agents: AgentLike, **options: Unpack[CommonOptions]) -> Agent: ...
def goal_oriented(goal: str, *agents: Any, service: Any = None, **options: Any) -> Any:
    """The fewest agents that lead to the goal, a key, from what is in the scope; each at most once.

    The value is what is under the key; where it is there already, nothing runs. Raises `ConfigurationError`
    when no agent can write the goal; the run raises `AgentError` naming the goal when there is no way to it.
    See `sequence`.
    """
    made = agents_of(agents, frame := sys._getframe(1))
    writers = [each for each in made if each.output_key == goal and not _needs(each, goal)]
    if made and not writers:
        raise ConfigurationError(f"goal_oriented: no agent writes the goal {goal!r}: give one that does")
    plan = Plan(
        pattern="goal_oriented",
        make_planner=partial(GoalPlanner, goal),
        flow=_towards(goal),
        output_type=writers[0].output_type if len(writers) == 1 else Any,
    )
    return built(plan, made, options, service, frame)


@overload
def peer_to_peer(
    *agents: AgentLike,
    service: TypeForm[T],
    max_invocations: int = 10,
    until: Callable[..., Any] | None = None,
    **options: Unpack[CommonOptions],
) -> T: ...
@overload
def peer_to_peer(
    *agents: AgentLike,
    max_invocations: int = 10,
    until: Callable[..., Any] | None = None,
    **options: Unpack[CommonOptions],
) -> Agent: ...
def peer_to_peer(
    *agents: Any,
    service: Any = None,
    max_invocations: int = 10,
    until: Callable[..., Any] | None = None,
    **options: Any,
) -> Any:
    """Every agent runs when its inputs are there, and again when one has changed; side by side with others.

    It ends when `until(scope)` or `until(scope, invocations)` is true, asked before each round, when no input
    has changed, or after `max_invocations` calls, which is no error: `stop_reason` is `condition`,
    `quiescent` or `limit`. The value is what the last agent gave. Raises `ValueError` for fewer than one
    invocation. See `sequence`.
    """
    made = agents_of(agents, frame := sys._getframe(1))
    _check_count(max_invocations)
    asked = None if until is None else with_count(until)
    plan = Plan(
        pattern="peer_to_peer",
        make_planner=partial(PeersPlanner, max_invocations, asked),
        reads_scope=until is not None,
    )
    return built(plan, made, options, service, frame)


def _check_count(max_invocations: Any) -> None:
    if isinstance(max_invocations, bool) or not isinstance(max_invocations, int) or max_invocations < 1:
        raise ValueError(f"max_invocations is {max_invocations!r}: give a whole number above 0")


def _needs(agent: Node, key: str) -> bool:
    return any(need.key == key and need.required for need in agent.needs)


def _supervised(name: str, *, asks: bool) -> Flow:
    """Only the request is asked for: what the agents read the model gives, or says why it cannot."""

    def flow(parts: Sequence[Traffic]) -> Traffic:
        wants = (Want(REQUEST, Any, name),) if asks else ()
        return replace(in_any_order(parts), wants=wants)

    return flow


def _towards(goal: str) -> Flow:
    """Nothing has to be there: which agents run depends on what is. The goal is written on every path."""

    def flow(parts: Sequence[Traffic]) -> Traffic:
        whole = in_any_order(parts)
        wants = tuple(replace(want, required=False, early=False) for want in whole.wants)
        return replace(whole, wants=wants, sure=frozenset({goal}))

    return flow

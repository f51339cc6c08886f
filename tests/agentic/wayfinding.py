"""Agents that find their own way, for the process that the crash tests kill."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from aiservices.agentic import (
    ContextStrategy,
    agent,
    goal_oriented,
    peer_to_peer,
    planned,
    supervisor,
)
from aiservices.agentic.planners import Blackboard, Debate, Desire, Intentions, Voting, average
from aiservices.messages import ChatRequest
from aiservices.testing import ScriptedChatModel

WAYFINDERS: Final = (
    "supervisor",
    "summarizing",
    "goal_oriented",
    "peer_to_peer",
    "blackboard",
    "voting",
    "debate",
    "intentions",
)
_PLANS: Final = (
    ("add", {"left": 1, "right": 2}),
    ("twice", {}),
    ("add", {"left": 5, "right": 6}),
    ("done", {"response": "all added up"}),
)


def planner_model(step: Callable[[], None], asked_before: Callable[[ChatRequest], int]) -> ScriptedChatModel:
    """A model that knows how far the work is only from the conversation that it is shown."""

    def answer(request: ChatRequest) -> str:
        step()
        if request.response_format is None and "Sum up" in request.messages[0].text:  # type: ignore[union-attr]
            told = request.messages[1].text  # type: ignore[union-attr]
            return f"{told.count('gave:') + told.count('+')}+"
        name, arguments = _PLANS[asked_before(request)]
        return json.dumps({"agent_name": name, "arguments": arguments})

    return ScriptedChatModel(*[answer] * 50)


def by_window(request: ChatRequest) -> int:
    return (len(request.messages) - 2) // 2


def by_summary(request: ChatRequest) -> int:
    said = request.messages[1].text  # type: ignore[union-attr]
    before = int(said.split("So far: ")[1].split("+")[0]) if "So far: " in said else 0
    return before + by_window(request)


def wayfinders(noting: Callable[[str, Any], Any], step: Callable[[], None], store: Any) -> dict[str, Any]:
    """A builder of each kind; their agents note when they have ended."""

    add, twice = adders(noting)
    pro, con, judge = debaters(noting)

    @agent(output_key="one")
    def one(x: int) -> int:
        return noting(f"one{x}", x + 1)  # type: ignore[no-any-return]

    @agent(output_key="two")
    def two(one: int) -> int:
        return noting(f"two{one}", min(one * 2, 20))  # type: ignore[no-any-return]

    @agent(output_key="other")
    async def other(one: int, tags: frozenset[str] = frozenset({"a", "b", "c"})) -> set[str]:
        return noting(f"other{one}", {f"{tag}{one}" for tag in tags})  # type: ignore[no-any-return]

    @agent(output_key="goal")
    def goal(two: int, other: set[str]) -> list[Any]:
        return noting(f"goal{two}", [two, sorted(other)])  # type: ignore[no-any-return]

    @agent(output_key="x")
    def back(two: int) -> int:
        return noting(f"back{two}", two)  # type: ignore[no-any-return]

    desires = (
        Desire("low", [one, two], lambda scope: "two" in scope.state),
        Desire(
            "high",
            [other],
            lambda scope: "other" in scope.state,
            priority=1,
            achievable=lambda scope: "one" in scope.state,
        ),
    )
    return {
        "supervisor": lambda: supervisor(add, twice, chat_model=planner_model(step, by_window), store=store),
        "summarizing": lambda: supervisor(
            add,
            twice,
            chat_model=planner_model(step, by_summary),
            context_strategy=ContextStrategy.SUMMARIZATION,
            store=store,
        ),
        "goal_oriented": lambda: goal_oriented("goal", back, goal, other, two, one, store=store),
        "peer_to_peer": lambda: peer_to_peer(one, two, other, goal, back, max_invocations=9, store=store),
        "blackboard": lambda: planned(partial(Blackboard, "goal"), one, two, other, goal, store=store),
        "voting": lambda: planned(
            partial(Voting, average), one, voter(noting), other_voter(noting), store=store
        ),
        "debate": lambda: planned(Debate, pro, con, judge, store=store),
        "intentions": lambda: planned(partial(Intentions, *desires), one, two, other, store=store),
    }


def voter(noting: Callable[[str, Any], Any]) -> Callable[..., Any]:
    async def vote(x: int) -> int:
        return noting("vote", x)  # type: ignore[no-any-return]

    return vote


def other_voter(noting: Callable[[str, Any], Any]) -> Callable[..., Any]:
    def vote(x: int) -> int:
        return noting("other vote", x * 3)  # type: ignore[no-any-return]

    return vote


def adders(noting: Callable[[str, Any], Any]) -> Any:
    @agent(output_key="added")
    def add(left: int, right: int) -> int:
        """Adds."""
        return noting(f"add{left}", left + right)  # type: ignore[no-any-return]

    @agent(output_key="doubled")
    async def twice(added: int) -> int:
        """Doubles."""
        return noting(f"twice{added}", added * 2)  # type: ignore[no-any-return]

    return add, twice


def debaters(noting: Callable[[str, Any], Any]) -> Any:
    def pro(x: int, debate: str) -> str:
        return noting(f"pro{len(debate)}", f"{x} is fine" if debate else "no, AGREE")  # type: ignore[no-any-return]

    async def con(x: int, debate: str) -> str:
        return noting(f"con{len(debate)}", f"{x} is fine" if debate else "yes")  # type: ignore[no-any-return]

    def judge(debate: str) -> str:
        return noting("judge", f"judged: {debate}")  # type: ignore[no-any-return]

    return pro, con, judge

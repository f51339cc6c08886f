"""For any mix of tools over any rounds: each call has one result, and what is told is what stands."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Any, Literal

from hypothesis import given, settings
from hypothesis import strategies as st

import aiservices
from aiservices import InMemoryStore, Limits, Result, Tool, ToolCall, ToolError
from aiservices.messages import AiMessage, ToolResultMessage
from aiservices.pipeline import STAGES, inserted
from aiservices.stages import roll_back
from aiservices.testing import ScriptedChatModel
from aiservices.tools.leases import LEASES
from aiservices.tools.log import CALLS
from tests.asking import asking

from .calling import results, within

Kind = Literal["succeeds", "slow", "fails", "crashes", "hangs", "undo fails", "stranger"]
KINDS: tuple[Kind, ...] = ("succeeds", "slow", "fails", "crashes", "hangs", "undo fails", "stranger")
ENDS = ("answers", "model fails", "limit")


@dataclass
class World:
    """What was done and undone, by number, in order."""

    done: list[int] = field(default_factory=list)
    undone: list[int] = field(default_factory=list)
    logged: bool = False

    @property
    def standing(self) -> list[int]:
        return sorted(set(self.done) - set(self.undone))

    def act(self, number: int, kind: str) -> str:
        if kind == "fails":
            raise ToolError("no")
        if kind == "crashes":
            raise ValueError("crash")
        self.done.append(number)
        return str(number)

    def undo(self, number: int, kind: str, result: str | None) -> None:
        assert result in ((str(number), None) if self.logged else (str(number),))
        if kind == "undo fails":
            raise OSError
        assert number not in self.undone
        if number in self.done:  # what was broken off, and is in the log, may not have been done
            self.undone.append(number)


def tools(world: World, style: str) -> list[Tool[..., Any]]:
    def act(number: int, kind: str) -> str:
        if kind in ("slow", "hangs"):
            time.sleep(0.002 if kind == "slow" else 0.04)
        return world.act(number, kind)

    async def aact(number: int, kind: str) -> str:
        if kind in ("slow", "hangs"):
            await asyncio.sleep(0.002 if kind == "slow" else 5)
        return world.act(number, kind)

    made: Tool[..., Any] = aiservices.tool(name="act", timeout=0.02)(act if style == "blocking" else aact)
    made.compensation(world.undo)
    return [made]


def conversation(rounds: list[list[Kind]]) -> list[list[ToolCall]]:
    """Calls that are numbered through, all with one id."""
    numbers = count()

    def numbered(kind: Kind) -> ToolCall:
        name = "nobody" if kind == "stranger" else "act"
        return ToolCall("same", name, json.dumps({"number": next(numbers), "kind": kind}))

    return [[numbered(kind) for kind in kinds] for kinds in rounds]


def told(messages: tuple[Any, ...], holds: Callable[[ToolResultMessage], bool]) -> list[int]:
    """The numbers of the calls of whose results something holds."""
    calls = {c.id: c for message in messages if isinstance(message, AiMessage) for c in message.tool_calls}
    found = [calls[result.tool_call_id] for result in results(messages) if holds(result)]
    return sorted(json.loads(each.arguments)["number"] for each in found)


def stands(result: ToolResultMessage) -> bool:
    """Whether the model was told that what a call did stands."""
    return not result.is_error or "what it did still stands" in result.text


def assert_whole(messages: tuple[Any, ...]) -> None:
    """Each call has exactly one result, right after its answer and in its order."""
    position, seen = 0, set[str]()
    while position < len(messages):
        message = messages[position]
        assert isinstance(message, AiMessage)
        ids = [c.id for c in message.tool_calls]
        following = messages[position + 1 : position + 1 + len(ids)]
        assert all(isinstance(each, ToolResultMessage) for each in following)
        assert [each.tool_call_id for each in following] == ids
        assert not seen & set(ids)
        seen |= set(ids)
        position += 1 + len(ids)


@settings(max_examples=60)
@given(
    rounds=st.lists(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4), min_size=1, max_size=3),
    mode=st.sampled_from(["tool_error", "invocation_failure"]),
    end=st.sampled_from(ENDS),
    tool_style=st.sampled_from(["blocking", "asynchronous"]),
    service_style=st.sampled_from(["blocking", "asynchronous", "cancelled"]),
    parallel=st.booleans(),
    policy=st.sampled_from(["tell_model", "raise"]),
    logged=st.booleans(),
)
def test_what_is_told_is_what_stands(
    rounds: list[list[Kind]],
    mode: Any,
    end: str,
    tool_style: str,
    service_style: str,
    parallel: bool,
    policy: Any,
    logged: bool,
) -> None:
    world, store, kept = World(logged=logged), InMemoryStore(), list[tuple[Any, ...]]()
    answers = conversation(rounds)

    async def spy(call: Any, proceed: Any) -> Any:
        """A stage outside of roll_back, which sees the ledger in the end."""
        try:
            return await proceed(call)
        finally:
            kept.append(tuple(m for entry in call.journal.ledger.rounds for m in entry.messages))

    last: list[Any] = {"answers": ["ok"], "model fails": [OSError("down")], "limit": [answers[0]]}[end]
    limits = Limits(max_round_trips=len(rounds)) if end == "limit" else Limits()
    service = aiservices.create(
        asking(Result[str]),
        chat_model=ScriptedChatModel(*answers, *last),
        tools=tools(world, tool_style),
        compensation=mode,
        parallel_tools=parallel,
        on_tool_error=policy,
        limits=limits,
        compensation_log=store if logged else None,
        stages=inserted(STAGES, spy, before=roll_back),
    )
    result: Any = None
    try:
        if service_style == "blocking":
            result = service.ask("go")
        else:
            result = asyncio.run(_asked(service, 0.006 if service_style == "cancelled" else 10))
    except (OSError, TimeoutError, aiservices.AiServiceError):
        pass
    time.sleep(0.05 if "hangs" in sum(rounds, []) else 0)  # noqa: RUF017 - they are short
    (messages,) = kept
    assert_whole(messages)
    assert within(2, lambda: world.standing == told(messages, stands))
    if result is not None:
        assert [m for m in result.exchange if isinstance(m, AiMessage | ToolResultMessage)] == list(messages)
        left = [
            e for e in result.tool_executions if not (e.compensation.undone if e.compensation else e.is_error)
        ]
        assert sorted(json.loads(e.call.arguments)["number"] for e in left) == world.standing
    assert_reversed(world, messages)
    if logged:
        assert within(2, lambda: store.keys(LEASES) == [])
        left = [entry.value["arguments"] for key in store.keys(CALLS) if (entry := store.get(CALLS, key))]
        kinds = [json.loads(arguments)["kind"] for arguments in left]
        assert set(kinds) <= {"undo fails"}, "recover is left what could not be undone, and nothing else"


def assert_reversed(world: World, messages: tuple[Any, ...]) -> None:
    """Undone in stretches, one for each failure, each the reverse of what was done by then.

    What came too late for its call is undone by itself.
    """
    order = {number: position for position, number in enumerate(world.done)}
    late = told(messages, lambda result: "TOOL_ERROR" in result.text)
    positions = [order[number] for number in world.undone if number not in late]
    stretches: list[list[int]] = []
    for position in positions:
        if stretches and position < stretches[-1][-1]:
            stretches[-1].append(position)
        else:
            stretches.append([position])
    for earlier, later in pairwise(stretches):
        assert max(earlier) < min(later), "what was done before a failure is not undone after a later one"


async def _asked(service: Any, seconds: float) -> Any:
    return await asyncio.wait_for(service.aask("go"), seconds)

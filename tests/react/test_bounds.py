"""What bounds a run when nothing is said, and that a bound which was reached is named."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from aiservices import ChatModel, InMemoryStore, LimitExceededError, Limits, TokenUsage
from aiservices.messages import (
    AiMessage,
    ChatRequest,
    ChatResponse,
    ModelEvent,
    PartialText,
    ResponseDone,
)
from aiservices.react import StopReason, react
from tests.react.asking import STYLES, agent, call, calls, outputs, short

both = pytest.mark.parametrize("style", STYLES)


def add(a: int, b: int) -> int:
    return a + b


def endless(request: ChatRequest) -> ChatResponse:
    """An answer that asks for a tool, whatever was said."""
    return ChatResponse(AiMessage(tool_calls=[call("add", a=1, b=1)]), usage=TokenUsage(1000, 1000))


@both
def test_an_agent_that_never_ends_stops_after_twenty_steps(style: str) -> None:
    """AJ-06: tokens have no bound unless one is given."""
    asked, model = agent(*[endless] * 21, tools=[add])
    assert calls(style, asked, "invoke", "go").stop_reason is StopReason.MAX_STEPS
    assert len(model.requests) == 20
    assert inspect.signature(react).parameters["max_steps"].default == 20
    assert (Limits().timeout, Limits().max_tokens) == (600, None)


@both
@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(max_round_trips=3), "max_round_trips=3"),
        (Limits(max_tool_calls=3), "max_tool_calls=3"),
        (Limits(max_tokens=7000), "max_tokens=7000"),
    ],
    ids=["rounds", "calls", "tokens"],
)
def test_a_limit_that_is_reached_is_named_with_its_number(style: str, limits: Limits, words: str) -> None:
    """LG-25"""
    asked, model = agent(*[endless] * 9, tools=[add], limits=limits)
    with pytest.raises(LimitExceededError, match=words) as caught:
        calls(style, asked, "invoke", "go", "t")
    assert caught.value.limit == words.partition("=")[0]
    assert len(model.requests) == 4
    assert asked.state("t").stop_reason is StopReason.LIMIT


class Silent(ChatModel):
    """Asks for a tool, and never answers again; says whether it was cancelled."""

    was_cancelled = False

    async def achat(self, request: ChatRequest) -> ChatResponse:
        if len(request.messages) == 1:
            return ChatResponse(AiMessage(tool_calls=[call("add", a=1, b=2)]))
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        raise AssertionError


@pytest.mark.anyio
async def test_a_model_that_does_not_answer_is_cut_off_and_the_thread_can_go_on() -> None:
    model = Silent()
    asked = react(chat_model=model, tools=[add], limits=Limits(timeout=0.05))
    with pytest.raises(LimitExceededError, match=r"Limits\.timeout") as caught:
        await asked.ainvoke("go", "t")
    assert (caught.value.limit, model.was_cancelled) == ("timeout", True)
    state = await asked.astate("t")
    assert (state.stop_reason, short(state.messages)) == (StopReason.LIMIT, ["U:go", "A?c1", "R:3"])
    newest, *_ = await asked.ahistory("t")
    assert (newest.node, newest.next) == ("action", "agent")  # where it was when time ran out


def late(request: ChatRequest) -> str:
    time.sleep(0.08)
    return "at last"


def test_an_answer_that_comes_too_late_is_told_of_and_kept() -> None:
    asked, _ = agent(late, limits=Limits(timeout=0.05))
    with pytest.raises(LimitExceededError, match=r"Limits\.timeout") as caught:
        asked.invoke("go", "t")
    assert [response.text for response in caught.value.responses] == ["at last"]
    state = asked.state("t")
    assert (state.stop_reason, state.final_response) == (StopReason.LIMIT, "at last")


@both
def test_whoever_reads_an_answer_as_it_comes_may_take_their_time(style: str) -> None:
    asked, _ = agent(late, limits=Limits(timeout=0.05))
    given: list[Any] = outputs(style, asked, "go", tokens=True)
    assert (given[-1].node, given[-1].state.final_response) == ("end", "at last")


class Dictating(ChatModel):
    """Takes its time for an answer."""

    async def achat(self, request: ChatRequest) -> ChatResponse:
        await asyncio.sleep(0.1)
        return ChatResponse(AiMessage("at last"))

    async def astream(self, request: ChatRequest) -> AsyncIterator[ModelEvent]:
        answer = await self.achat(request)
        yield PartialText("at last")
        yield ResponseDone(answer)


def test_an_answer_that_is_read_as_it_comes_is_not_cut_off_as_others_are() -> None:
    asked = react(chat_model=Dictating(), limits=Limits(timeout=0.05))
    with pytest.raises(LimitExceededError, match=r"Limits\.timeout"):
        outputs("asynchronous", asked, "go")
    given = outputs("asynchronous", asked, "go", tokens=True)
    assert given[-1].state.final_response == "at last"


def test_nothing_is_left_of_a_round_that_a_limit_has_ended() -> None:
    def slow() -> str:
        time.sleep(0.08)
        return "done"

    store = InMemoryStore()
    asked, _ = agent(
        [call("slow", "c1"), call("add", "c2", a=1, b=2)],
        tools=[slow, add],
        limits=Limits(timeout=0.05),
        parallel_tools=False,
        checkpointer=store,
    )
    with pytest.raises(LimitExceededError, match=r"Limits\.timeout"):
        asked.invoke("go", "t")
    assert short(asked.state("t").messages)[:3] == ["U:go", "A?c1,c2", "R:done"]
    assert store.keys("aiservices.react.calls") == []


class Wandering(ChatModel):
    """Answers what is no number, then never, then with a number."""

    asked = 0

    async def achat(self, request: ChatRequest) -> ChatResponse:
        self.asked += 1
        if self.asked == 2:
            await asyncio.Event().wait()
        return ChatResponse(AiMessage("forty" if self.asked == 1 else "42"), usage=TokenUsage(1000, 1000))


@pytest.mark.anyio
async def test_an_answer_counts_though_the_time_ran_out_when_it_was_asked_for_again() -> None:
    limits = Limits(timeout=0.05, max_tokens=3000)
    asked = react(chat_model=Wandering(), response_format=int, limits=limits)
    with pytest.raises(LimitExceededError, match="ran out of time"):
        await asked.ainvoke("go", "t")
    with pytest.raises(LimitExceededError, match="4000 tokens"):
        await asked.aresume("t")

"""Streams of runs that go on, and of answers that are begun again."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import Any

import pytest

from aiservices import AgentError, PartialText, Restarted, ServerError
from aiservices.react import AgentExecutor, Approve, Refuse, StopReason
from tests.react.asking import STYLES, agent, call, calls, outputs, short

both = pytest.mark.parametrize("style", STYLES)


def add(a: int, b: int) -> int:
    return a + b


def waiting(kept: dict[str, Any], *replies: Any) -> AgentExecutor:
    """An agent whose thread waits for a decision."""
    asked, _ = agent(call("add", a=1, b=2), *replies, tools=[add], approvals={"add": True}, **kept)
    asked.invoke("go", "t")
    return asked


def resumed(style: str, asked: AgentExecutor, *arguments: Any, **options: Any) -> list[Any]:
    return outputs(style, asked, "t", *arguments, method="resume_stream", **options)


@both
def test_the_steps_of_a_run_that_goes_on_are_streamed(style: str, kept: dict[str, Any]) -> None:
    asked = waiting(kept, "It is 3.")
    given = resumed(style, asked, Approve())
    assert [output.node for output in given] == ["agent", "action", "agent", "end"]
    assert (given[0].state.pending, given[0].state.stop_reason) == ((), None)
    assert short(given[1].state.messages) == ["U:go", "A?c1", "R:3"]
    assert given[-1].state == asked.state("t")


@both
def test_so_are_the_tokens_of_its_answer(style: str, kept: dict[str, Any]) -> None:
    asked = waiting(kept, "It is 3.")
    given = resumed(style, asked, Approve(), tokens=True)
    texts = [output.event.text for output in given if isinstance(output.event, PartialText)]
    assert "".join(texts) == "It is 3."


@both
def test_where_nothing_runs_the_state_is_given_once(style: str, kept: dict[str, Any]) -> None:
    asked = waiting(kept, "It is 3.")
    (still,) = resumed(style, asked)
    assert (still.node, still.state.stop_reason) == ("agent", StopReason.INTERRUPTED)
    *_, last = resumed(style, asked, Refuse())
    (finished,) = resumed(style, asked)
    assert finished.state == last.state
    assert finished.state.stop_reason is StopReason.FINAL


@both
def test_an_older_version_is_streamed_too(style: str, kept: dict[str, Any]) -> None:
    asked = waiting(kept, "It is 3.", "It is still 3.")
    version = asked.history("t")[0].version
    asked.resume("t", Approve())
    *_, last = resumed(style, asked, Approve(), version)
    assert last.state.final_response == "It is still 3."


def test_a_stream_that_is_closed_breaks_the_run_off_and_it_can_go_on(kept: dict[str, Any]) -> None:
    asked = waiting(kept, "It is 3.")
    reading = asked.resume_stream("t", Approve())
    assert [next(reading).node, next(reading).node] == ["agent", "action"]
    reading.close()
    assert asked.state("t").final_response is None
    assert [output.node for output in asked.resume_stream("t")] == ["action", "agent", "end"]


def test_an_asynchronous_one_too(kept: dict[str, Any]) -> None:
    asked = waiting(kept, "It is 3.")

    async def first() -> str:
        async with aclosing(asked.aresume_stream("t", Approve())) as reading:
            return (await anext(reading)).node

    assert asyncio.run(first()) == "agent"
    assert [output.node for output in asked.resume_stream("t")] == ["agent", "action", "agent", "end"]


@both
@pytest.mark.parametrize(("thread_id", "decision"), [("other", None), ("t", {"c9": Approve()})])
def test_what_cannot_be_resumed_is_told_when_it_is_read(style: str, thread_id: str, decision: Any) -> None:
    asked = waiting({}, "It is 3.")
    with pytest.raises(AgentError):
        outputs(style, asked, thread_id, decision, method="resume_stream")
    assert calls(style, asked, "resume", "t", Approve()).final_response == "It is 3."


@both
def test_a_session_streams_how_its_turn_goes_on(style: str) -> None:
    asked, _ = agent(call("add", a=1, b=2), "It is 3.", tools=[add], approvals={"add": True})
    session = asked.new_session()
    session.invoke("go")
    given = outputs(style, session, Approve(), method="resume_stream")
    assert [output.node for output in given] == ["agent", "action", "agent", "end"]


@both
def test_a_typed_answer_that_is_asked_for_again_voids_what_was_shown(style: str) -> None:
    asked, _ = agent("forty", "42", response_format=int)
    shown = outputs(style, asked, "go", "t", tokens=True)
    told = [output.event for output in shown if isinstance(output.event, PartialText | Restarted)]
    assert [event.text if isinstance(event, PartialText) else event.context.memory_id for event in told] == [
        "forty",
        "t",
        "42",
    ]
    assert shown[-1].state.value == 42


@both
@pytest.mark.parametrize("first", ["one", ServerError("gone in the middle")])
def test_a_hook_that_proceeds_again_voids_what_was_shown(style: str, first: Any) -> None:
    class Again:
        async def around(self, state: Any, proceed: Any) -> Any:
            with suppress(ServerError):
                await proceed()
            return await proceed()

    asked, _ = agent(first, "two", "three", call_model_hooks=[Again()])
    shown = outputs(style, asked, "go", tokens=True)
    told = [output.event for output in shown if isinstance(output.event, PartialText | Restarted)]
    kinds = [type(event).__name__ for event in told]
    assert kinds[-2:] == ["Restarted", "PartialText"]
    assert kinds.count("Restarted") == 1
    assert isinstance(told[-1], PartialText)
    assert told[-1].text == shown[-1].state.final_response

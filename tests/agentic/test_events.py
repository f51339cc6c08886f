"""What listeners hear and what a stream gives: the same events, in order, of every call."""

from __future__ import annotations

import logging
from typing import Any, Protocol

import pytest

import aiservices
from aiservices import ChatResponse, TokenUsage
from aiservices.agentic import (
    AgentCompleted,
    AgentEvent,
    AgentFailed,
    AgentSkipped,
    AgentStarted,
    Completed,
    Failed,
    Recovery,
    RunEnded,
    agent,
    loop,
    parallel,
    sequence,
)
from aiservices.messages import AiMessage
from aiservices.testing import ScriptedChatModel

from .styles import Log, Style, publish, write


def shown(events: list[AgentEvent]) -> list[str]:
    return [f"{type(event).__name__} {event.where.path}" for event in events]


def test_a_stream_gives_each_step_and_ends_with_the_outcome(style: Style) -> None:
    events = style.events(sequence(sequence(write, name="draft"), publish, name="story"), topic="bees")
    assert shown(events) == [
        "AgentStarted story",
        "AgentStarted story/draft",
        "AgentStarted story/draft/write",
        "AgentCompleted story/draft/write",
        "AgentCompleted story/draft",
        "AgentStarted story/publish",
        "AgentCompleted story/publish",
        "AgentCompleted story",
        "RunEnded story",
    ]
    last = events[-1]
    assert isinstance(last, RunEnded)
    assert isinstance(last.outcome, Completed)
    assert last.outcome.value == "published: a story about bees"


def test_events_say_which_call_they_are_about(style: Style) -> None:
    events = style.events(loop(write, publish, max_iterations=2), topic="bees", memory_id="m")
    started = [event for event in events if isinstance(event, AgentStarted)]
    assert [event.where.call for event in started] == ["", "0", "1", "2", "3"]
    assert len({event.where.run_id for event in events}) == 1
    assert {event.where.memory_id for event in events} == {"m"}
    assert [event.agent for event in started[1:]] == ["write", "publish"] * 2
    assert dict(started[1].inputs) == {"topic": "bees"}
    completed = [event for event in events if isinstance(event, AgentCompleted)]
    assert completed[0].output == "a story about bees"
    assert all(event.seconds >= 0 for event in completed)


def test_listeners_hear_in_order_what_happens_within_their_composite(style: Style, log: Log) -> None:
    heard: list[tuple[int, str]] = []

    class Listener:
        def on_event(self, event: AgentEvent) -> None:
            heard.append((3, event.where.path))

    inner = sequence(
        log.agent("b"), name="inner", listeners=[lambda event: heard.append((1, event.where.path))]
    )
    outer = sequence(
        log.agent("a"), inner, listeners=[lambda event: heard.append((2, event.where.path)), Listener()]
    )
    style.invoke(outer)
    assert [path for number, path in heard if number == 1] == [
        "sequence/inner",
        "sequence/inner/b",
        "sequence/inner/b",
        "sequence/inner",
    ]
    two, three = ([path for number, path in heard if number == each] for each in (2, 3))
    assert two == three
    assert two[0] == two[-1] == "sequence"
    assert [number for number, path in heard if path == "sequence/inner/b"] == [2, 3, 1] * 2


def test_a_listener_that_fails_hurts_nobody(style: Style, log: Log, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[Any] = []

    def fail(event: AgentEvent) -> None:
        raise ZeroDivisionError

    with caplog.at_level(logging.WARNING):
        assert style.invoke(sequence(log.agent("a"), listeners=[fail, heard.append])) == "a"
    assert len(heard) == 5
    assert "a listener failed on AgentStarted" in caplog.text


def test_each_attempt_is_heard(style: Style, log: Log) -> None:
    results = iter([ZeroDivisionError("boom"), "fine"])
    flaky = log.agent("flaky", value=lambda: next(results))
    events = style.events(sequence(flaky, on_error=lambda context: Recovery.retry()))
    of_flaky = [event for event in events if event.agent == "flaky"]
    assert [type(event).__name__ for event in of_flaky] == [
        "AgentStarted",
        "AgentFailed",
        "AgentStarted",
        "AgentCompleted",
    ]
    assert [event.attempt for event in of_flaky[:3]] == [1, 1, 2]  # type: ignore[union-attr]


def test_failing_skipping_and_a_missing_input_are_heard(style: Style, log: Log) -> None:
    optional = agent(name="optional", optional=True)(lambda audience: audience)
    failing = log.agent("failing", value=ZeroDivisionError("boom"))
    events = style.events(sequence(optional, failing))
    skipped = next(event for event in events if isinstance(event, AgentSkipped))
    assert (skipped.agent, skipped.missing) == ("optional", "audience")
    assert [event.agent for event in events if isinstance(event, AgentFailed)] == ["failing", "sequence"]
    ended = events[-1]
    assert isinstance(ended, RunEnded)
    assert isinstance(ended.outcome, Failed)


def test_parallel_agents_are_heard_too(style: Style, log: Log) -> None:
    events = style.events(parallel(log.agent("a"), log.agent("b")))
    assert sorted(shown(events)[1:-2]) == sorted(
        f"{kind} parallel/{name}" for kind in ("AgentStarted", "AgentCompleted") for name in "ab"
    )


class Asker(Protocol):
    @agent(output_key="answer")
    def ask(self, text: str) -> str: ...


def test_tokens_are_counted_for_the_agent_and_all_around_it(style: Style, log: Log) -> None:
    response = ChatResponse(AiMessage("yes"), TokenUsage(3, 4))
    asker = aiservices.create(Asker, chat_model=ScriptedChatModel(response, response))
    events = style.events(sequence(sequence(asker, name="inner"), asker, log.agent("free")), text="?")
    usage = {event.where.path: event.usage for event in events if isinstance(event, AgentCompleted)}
    assert usage == {
        "sequence/inner/ask": TokenUsage(3, 4),
        "sequence/inner": TokenUsage(3, 4),
        "sequence/ask": TokenUsage(3, 4),
        "sequence/free": TokenUsage(0, 0),
        "sequence": TokenUsage(6, 8),
    }


def test_what_is_not_listened_to_has_the_same_outcome(style: Style, log: Log) -> None:
    made = sequence(log.agent("a"), log.agent("b"))
    ended = style.events(made)[-1]
    assert isinstance(ended, RunEnded)
    assert isinstance(ended.outcome, Completed)
    assert ended.outcome.value == style.invoke(made)

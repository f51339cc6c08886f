"""What listeners hear of runs that do not simply end: cancelled, left, suspended and resumed ones."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from aiservices import ConfigurationError, InMemoryStore
from aiservices.agentic import (
    AgentCancelled,
    AgentEvent,
    AgentStarted,
    AgentSuspended,
    agent,
    human_in_the_loop,
    sequence,
)

from .styles import Log, Style


class Noting:
    """A listener that keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[AgentEvent] = []

    def on_event(self, event: AgentEvent) -> None:
        self.heard.append(event)

    @property
    def told(self) -> list[str]:
        return [f"{type(event).__name__} {event.where.path}" for event in self.heard]


def test_a_listener_hears_what_happens_below_its_agent_and_nothing_else(style: Style, log: Log) -> None:
    inner, outer = Noting(), Noting()
    part = sequence(log.agent("one"), name="part", listeners=[inner])
    style.invoke(sequence(part, log.agent("two"), name="all", listeners=[outer]))
    of_the_part = [
        "AgentStarted all/part",
        "AgentStarted all/part/one",
        "AgentCompleted all/part/one",
        "AgentCompleted all/part",
    ]
    assert inner.told == of_the_part
    assert outer.told == [
        "AgentStarted all",
        *of_the_part,
        "AgentStarted all/two",
        "AgentCompleted all/two",
        "AgentCompleted all",
        "RunEnded all",
    ]


def test_what_cannot_listen_is_refused_where_it_is_given(log: Log) -> None:
    async def later(event: AgentEvent) -> None: ...

    for wrong in (later, Noting, 3):
        with pytest.raises(ConfigurationError, match="listener"):
            sequence(log.agent("one"), listeners=[wrong])


def test_a_run_whose_task_is_cancelled_is_heard_of() -> None:
    noting = Noting()

    async def main() -> None:
        begun = asyncio.Event()

        @agent(name="slow")
        async def slow() -> None:
            begun.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(sequence(slow, name="all", listeners=[noting]).arun())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert noting.told[2:] == ["AgentCancelled all/slow", "AgentCancelled all"]


def test_a_stream_that_is_left_is_heard_of(log: Log) -> None:
    noting = Noting()
    events: Any = sequence(log.agent("one"), log.agent("two"), name="all", listeners=[noting]).stream()
    assert isinstance(next(events), AgentStarted)
    events.close()
    assert noting.told == ["AgentStarted all", "AgentCancelled all"]
    assert [each.agent for each in noting.heard if isinstance(each, AgentCancelled)] == ["all"]


def test_a_resumed_run_is_known_by_the_same_id_and_a_new_one_is_not(
    style: Style, log: Log, store: InMemoryStore
) -> None:
    noting = Noting()
    whole = sequence(
        log.agent("one", value=1),
        human_in_the_loop("human", question="Well?", output_key="answer"),
        store=store,
        listeners=[noting],
    )
    style.run(whole, memory_id="ann")
    suspended = [each for each in noting.heard if isinstance(each, AgentSuspended)]
    assert [each.agent for each in suspended] == ["human", "sequence"]
    style.resume(whole, "ann", {suspended[0].pending[0].id: "yes"})
    assert len({each.where.run_id for each in noting.heard}) == 1
    style.run(whole, memory_id="ann")
    assert len({each.where.run_id for each in noting.heard}) == 2

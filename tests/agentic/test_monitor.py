"""A monitor: the last runs as trees of calls."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aiservices
from aiservices import ChatModel, ChatRequest, ChatResponse, InMemoryStore, TokenUsage, user_message
from aiservices.agentic import (
    CallStatus,
    Monitor,
    Recovery,
    agent,
    conditional,
    human_in_the_loop,
    loop,
    parallel,
    parallel_map,
    sequence,
)
from aiservices.messages import AiMessage

from .styles import Log, Style, publish, write
from .watching import tree


class Counting(ChatModel):
    """Ten tokens in, one out."""

    def chat(self, request: ChatRequest) -> ChatResponse:
        return ChatResponse(AiMessage("counted"), usage=TokenUsage(10, 1))


class Asker(Protocol):
    @agent
    @user_message("How many?")
    def asks(self) -> str: ...


def asker() -> Asker:
    return aiservices.create(Asker, chat_model=Counting())


def test_a_run_is_a_tree_of_calls(style: Style, monitor: Monitor) -> None:
    style.invoke(
        sequence(sequence(write, name="draft"), publish, name="story", listeners=[monitor]), topic="bees"
    )
    (run,) = monitor.runs
    assert tree(run.call) == ("story completed", ("draft completed", "write completed"), "publish completed")
    assert (run.agent, run.status, run.output) == (
        "story",
        CallStatus.COMPLETED,
        "published: a story about bees",
    )
    assert (run.inputs, run.error, run.memory_id, run.stop_reason) == ({"topic": "bees"}, None, None, "done")
    story, draft, written, published = run.call.walk()
    assert [each.path for each in (draft, written, published)] == [
        "story/draft",
        "story/draft/write",
        "story/publish",
    ]
    assert (written.inputs, written.output) == ({"topic": "bees"}, "a story about bees")
    assert published.inputs == {"story": "a story about bees"}
    assert story.began == 0
    assert written.began <= written.began + written.seconds <= published.began + 1e-9 <= run.seconds
    assert run.began.tzinfo is not None


def test_each_round_of_a_loop_is_an_iteration(style: Style, monitor: Monitor, log: Log) -> None:
    used = loop(log.agent("a"), log.agent("b"), max_iterations=3, listeners=[monitor])
    style.invoke(used)
    calls = monitor.runs[0].call.calls
    assert [(call.agent, call.iteration) for call in calls] == [
        ("a", 1),
        ("b", 1),
        ("a", 2),
        ("b", 2),
        ("a", 3),
        ("b", 3),
    ]
    assert monitor.runs[0].stop_reason == "limit"


def test_each_attempt_is_a_call_beside_the_others(style: Style, monitor: Monitor, log: Log) -> None:
    tries = iter([ValueError("once"), ValueError("twice"), "well"])
    part = sequence(log.agent("first"), log.agent("shaky", value=lambda: next(tries)), name="part")
    used = sequence(
        part, log.agent("last"), on_error=lambda context: Recovery.retry(), name="all", listeners=[monitor]
    )
    style.invoke(used)
    assert tree(monitor.runs[0].call) == (
        "all completed",
        ("part completed", "first completed", "shaky failed", "shaky failed", "shaky completed"),
        "last completed",
    )
    shaky = monitor.runs[0].call.calls[0].calls[1:]
    assert [(call.attempt, call.iteration, call.error) for call in shaky] == [
        (1, 1, "ValueError: once"),
        (2, 1, "ValueError: twice"),
        (3, 1, None),
    ]


def test_what_runs_in_a_second_attempt_is_not_mixed_up_with_the_first(
    style: Style, monitor: Monitor, log: Log
) -> None:
    results = iter([1, None])

    def output(scope: Any) -> Any:
        if next(results):
            raise ValueError("no value")
        return "value"

    part = sequence(log.agent("first"), name="part", output=output)
    used = parallel(
        part,
        log.agent("beside"),
        on_error=lambda context: Recovery.retry(),
        name="all",
        listeners=[monitor],
    )
    style.invoke(used)
    calls = monitor.runs[0].call.calls
    assert sorted(map(tree, calls), key=str) == [
        ("part completed", "first completed"),
        ("part failed", "first completed"),
        "beside completed",
    ]
    first, second = (index for index, call in enumerate(calls) if call.agent == "part")
    assert second == first + 1
    assert [calls[first].attempt, calls[second].attempt] == [1, 2]


def test_a_result_in_place_of_an_error_leaves_the_error_to_be_seen(
    style: Style, monitor: Monitor, log: Log
) -> None:
    used = sequence(
        log.agent("broken", value=ValueError("no")),
        on_error=lambda context: Recovery.result("instead"),
        listeners=[monitor],
    )
    assert style.invoke(used) == "instead"
    assert tree(monitor.runs[0].call) == ("sequence completed", "broken failed")


def test_what_was_missing_is_said(style: Style, monitor: Monitor, log: Log) -> None:
    @agent(optional=True)
    def maybe(address: str) -> str:
        return address

    style.run(sequence(maybe, write, listeners=[monitor], name="all"))
    style.run(sequence(maybe, log.agent("one"), listeners=[monitor], name="some"))
    failed, completed = monitor.runs
    assert tree(failed.call) == "all failed"
    assert "MissingInputError" in str(failed.error)
    assert tree(completed.call) == ("some completed", "maybe skipped", "one completed")
    assert completed.call.calls[0].error == "nobody has given 'address'"


def test_agents_side_by_side_and_items_of_a_map_are_told_apart(style: Style, monitor: Monitor) -> None:
    @agent
    async def double(number: int) -> int:
        return 2 * number

    style.invoke(parallel_map(double, items="numbers", listeners=[monitor]), numbers=[1, 2, 3])
    calls = monitor.runs[0].call.calls
    assert sorted((call.id, call.inputs["number"], call.output) for call in calls) == [
        ("0", 1, 2),
        ("1", 2, 4),
        ("2", 3, 6),
    ]
    assert sorted(call.iteration for call in calls) == [1, 2, 3]


def test_tokens_are_summed_up_the_tree(style: Style, monitor: Monitor, log: Log) -> None:
    asks = asker()
    used = sequence(
        parallel(asks, log.agent("idle"), name="both"),
        loop(asks, max_iterations=2),
        name="all",
        listeners=[monitor],
    )
    style.invoke(used)
    (run,) = monitor.runs
    both, rounds = run.call.calls
    assert [call.usage.total for call in (run.call, both, rounds)] == [33, 11, 22]
    assert {call.agent: call.usage.total for call in both.calls} == {"asks": 11, "idle": 0}
    assert run.usage == TokenUsage(30, 3)


def test_a_run_that_waits_goes_on_under_the_same_entry(
    style: Style, monitor: Monitor, log: Log, store: InMemoryStore
) -> None:
    used = sequence(
        log.agent("first"),
        sequence(human_in_the_loop("boss", question="Well?"), log.agent("last"), name="part"),
        name="all",
        store=store,
        listeners=[monitor],
    )
    style.run(used, memory_id="ann")
    (run,) = monitor.runs
    assert tree(run.call) == ("all suspended", "first completed", ("part suspended", "boss suspended"))
    assert run.memory_id == "ann"
    assert run.call.questions == run.call.calls[1].calls[0].questions == ("Well?",)
    style.resume(used, "ann", {"all/part/boss#1.0": "yes"})
    (again,) = monitor.runs
    assert again.run_id == run.run_id
    assert tree(again.call) == (
        "all completed",
        "first completed",
        ("part completed", "boss completed", "last completed"),
    )
    assert again.call.questions == ()
    assert again.call.calls[1].calls[0].output == "yes"
    # The clock stood still while nobody ran it.
    last = again.call.calls[1].calls[1]
    assert run.seconds <= last.began <= again.seconds


def test_a_run_that_failed_goes_on_under_the_same_entry(
    style: Style, monitor: Monitor, log: Log, store: InMemoryStore
) -> None:
    tries = iter([ValueError("down"), "well"])
    used = sequence(
        log.agent("first"),
        log.agent("shaky", value=lambda: next(tries)),
        name="all",
        store=store,
        listeners=[monitor],
    )
    style.run(used, memory_id=7)
    assert monitor.runs[0].error == "ValueError: down"
    style.resume(used, 7)
    (run,) = monitor.runs
    assert tree(run.call) == ("all completed", "first completed", "shaky failed", "shaky completed")
    assert run.error is None
    style.run(used, memory_id=8)
    style.restart(used, 7)
    assert len(monitor.runs) == 3


def test_a_composite_that_failed_goes_on_too(
    style: Style, monitor: Monitor, log: Log, store: InMemoryStore
) -> None:
    tries = iter([ValueError("down"), "well"])
    part = sequence(log.agent("first"), log.agent("shaky", value=lambda: next(tries)), name="part")
    used = sequence(part, name="all", store=store, listeners=[monitor])
    style.run(used, memory_id=7)
    style.resume(used, 7)
    assert tree(monitor.runs[0].call) == (
        "all completed",
        ("part completed", "first completed", "shaky failed", "shaky completed"),
    )


def test_tokens_are_counted_while_it_runs(monitor: Monitor) -> None:
    seen: list[int] = []

    @agent
    def looks() -> None:
        seen.extend(call.usage.total for call in monitor.runs[0].call.walk())

    sequence(asker(), looks, listeners=[monitor]).invoke()
    assert seen == [11, 11, 0]


def test_a_cancelled_run_is_not_running_any_more(monitor: Monitor) -> None:
    async def main() -> None:
        begun = asyncio.Event()

        @agent(name="slow")
        async def slow() -> None:
            begun.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(sequence(slow, name="all", listeners=[monitor]).arun())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert tree(monitor.runs[0].call) == ("all cancelled", "slow cancelled")


def test_a_stream_that_is_left_is_not_running_any_more(monitor: Monitor, log: Log) -> None:
    events: Any = sequence(log.agent("one"), name="all", listeners=[monitor]).stream()
    next(events)
    assert monitor.runs[0].status is CallStatus.RUNNING
    events.close()
    assert tree(monitor.runs[0].call) == "all cancelled"


def test_within_a_system_each_call_of_its_agent_is_a_run(style: Style, monitor: Monitor, log: Log) -> None:
    part = sequence(log.agent("one"), name="part", listeners=[monitor])
    style.invoke(loop(part, log.agent("two"), max_iterations=2, name="all"))
    assert [tree(run.call) for run in monitor.runs] == [("part completed", "one completed")] * 2
    assert [run.call.id for run in monitor.runs] == ["0", "2"]


def test_a_monitor_that_hears_everything_twice_counts_it_once(style: Style, monitor: Monitor) -> None:
    part = sequence(asker(), name="part", listeners=[monitor])
    style.invoke(sequence(part, name="all", listeners=[monitor]))
    (run,) = monitor.runs
    assert tree(run.call) == ("all completed", ("part completed", "asks completed"))
    assert [call.usage.total for call in run.call.walk()] == [11, 11, 11]


def test_a_result_that_could_not_be_saved_is_a_failed_run(style: Style, monitor: Monitor, log: Log) -> None:
    used = sequence(
        log.agent("one"), output=lambda scope: object(), store=InMemoryStore(), listeners=[monitor]
    )
    style.run(used, memory_id=1)
    (run,) = monitor.runs
    assert tree(run.call) == ("sequence failed", "one completed")
    assert run.error is not None


def systems() -> st.SearchStrategy[Any]:
    """Trees whose leaves give a value or fail."""
    leaves = st.sampled_from(["well", "fails", "skipped"])
    return st.recursive(
        leaves,
        lambda part: st.tuples(
            st.sampled_from(["sequence", "parallel", "loop", "conditional"]),
            st.lists(part, min_size=1, max_size=3),
        ),
        max_leaves=6,
    )


def made(shape: Any, names: Any) -> Any:
    if isinstance(shape, str):
        name = f"a{next(names)}"

        @agent(name=name, optional=shape == "skipped")
        def leaf() -> str:
            if shape == "fails":
                raise ValueError(name)
            return name

        @agent(name=name, optional=True)
        def skipped(nothing_like_it: str) -> str:
            return name

        return skipped if shape == "skipped" else leaf
    kind, parts = shape
    agents = [made(part, names) for part in parts]
    match kind:
        case "sequence":
            return sequence(*agents)
        case "parallel":
            return parallel(*agents)
        case "loop":
            return loop(*agents, max_iterations=2)
        case _:
            return conditional(*[(lambda scope: True, each) for each in agents])


@given(shape=systems(), retries=st.booleans())
def test_every_call_has_ended_when_the_run_has_and_time_and_tokens_add_up(shape: Any, retries: bool) -> None:
    monitor, left = Monitor(), iter(range(1))

    def on_error(context: Any) -> Any:
        return Recovery.retry() if retries and next(left, None) is not None else Recovery.fail()

    outcome = sequence(
        made(shape, iter(range(1000))), on_error=on_error, listeners=[monitor], name="all"
    ).run()
    (run,) = monitor.runs
    assert run.status.value == type(outcome).__name__.lower()
    for call in run.call.walk():
        assert call.status in {CallStatus.COMPLETED, CallStatus.FAILED, CallStatus.SKIPPED}
        assert call.usage.total >= sum(each.usage.total for each in call.calls)
        for each in call.calls:
            assert each.path.rpartition("/")[0] == call.path
            assert call.began <= each.began
            assert each.began + each.seconds <= call.began + call.seconds + 1e-6
        if call.status is CallStatus.COMPLETED and not retries:
            assert all(each.status is not CallStatus.FAILED for each in call.calls)

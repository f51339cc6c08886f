"""People in the loop: runs that wait for answers, and go on where they waited."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import InMemoryStore
from aiservices.agentic import (
    Action,
    AgentOutcome,
    AgentSuspended,
    Completed,
    Pending,
    Planner,
    PlanningContext,
    Suspended,
    agent,
    call,
    done,
    human_in_the_loop,
    loop,
    parallel,
    parallel_map,
    planned,
    sequence,
    suspend,
)
from aiservices.errors import AgentError, AgentSuspendedError, ConfigurationError, MissingInputError

from .styles import Log, Style


@agent(output_key="processed")
def process(data: str) -> str:
    return data.upper()


@agent(output_key="result")
def finish(processed: str, approval: str) -> str:
    return f"{processed} | {approval}"


REVIEW = human_in_the_loop(
    "human-review", question="Is it right?", output_key="approval", inputs=["processed"]
)


def pending(outcome: AgentOutcome) -> tuple[Pending, ...]:
    assert isinstance(outcome, Suspended), outcome
    return outcome.pending


def test_a_run_waits_for_a_person_and_goes_on_with_the_answer(
    style: Style, store: InMemoryStore, log: Log
) -> None:
    """V11, V12, LG-57, LG-58"""
    reviewed = sequence(log.agent("before"), process, REVIEW, finish, store=store)
    waits = style.run(reviewed, data="data", memory_id=7)
    (asked,) = pending(waits)
    assert (asked.agent, asked.question, dict(asked.inputs)) == (
        "human-review",
        "Is it right?",
        {"processed": "DATA"},
    )
    assert "human-review" in asked.id
    assert waits.scope.read("processed") == "DATA"
    goes_on = style.resume(reviewed, 7, {asked.id: "APPROVED"})
    assert isinstance(goes_on, Completed)
    assert goes_on.value == "DATA | APPROVED"
    assert log.ran == ["before"]


def test_invoking_what_waits_raises_what_it_waits_for(style: Style) -> None:
    reviewed = sequence(process, REVIEW, finish)
    with pytest.raises(AgentSuspendedError, match="waits for sequence/human-review") as caught:
        style.invoke(reviewed, data="data")
    assert [each.agent for each in caught.value.pending] == ["human-review"]


def test_the_question_may_show_what_it_is_about(style: Style) -> None:
    ask = human_in_the_loop("ask", question="Publish {{ story }}?", inputs=["story"])
    assert [each.question for each in pending(style.run(sequence(ask), story="it"))] == ["Publish it?"]
    with pytest.raises(MissingInputError):
        style.invoke(sequence(ask))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"question": "Publish {{ story }}?"}, "its question uses story"),
        ({"question": "Publish {{ story"}, "template syntax error"),
        ({"inputs": "story"}, "names of keys"),
        ({"output_key": " "}, "output_key is"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        human_in_the_loop("ask", **options)


def test_two_people_are_asked_one_after_the_other(style: Style, store: InMemoryStore) -> None:
    """V14"""
    steps = [human_in_the_loop(name, output_key=name) for name in ("manager", "legal")]
    join = agent(name="join")(lambda manager, legal: f"{manager} {legal}")
    made = sequence(*steps, join, store=store)
    (manager,) = pending(style.run(made, memory_id="m"))
    (legal,) = pending(style.resume(made, "m", {manager.id: "yes"}))
    assert (manager.agent, legal.agent) == ("manager", "legal")
    outcome = style.resume(made, "m", {legal.id: "no"})
    assert isinstance(outcome, Completed)
    assert outcome.value == "yes no"


def test_resuming_without_an_answer_waits_for_the_same(style: Style, store: InMemoryStore, log: Log) -> None:
    """V16"""
    made = sequence(log.agent("a"), REVIEW.__class__("human", "?"), store=store)
    first = pending(style.run(made, memory_id="m"))
    assert pending(style.resume(made, "m")) == pending(style.resume(made, "m", {})) == first
    assert log.ran == ["a"]


def test_only_what_is_pending_can_be_answered_and_the_first_answer_counts(
    style: Style, store: InMemoryStore
) -> None:
    """V6, V7, V25"""
    pair = [human_in_the_loop(name, output_key=name) for name in ("one", "two")]
    made = parallel(*pair, store=store, output=lambda scope: scope.state)
    one, two = pending(style.run(made, memory_id="m"))
    with pytest.raises(AgentError, match=r"answers is a str: give a mapping; pending is .*one.*two"):
        style.resume(made, "m", "yes")  # type: ignore[arg-type]
    with pytest.raises(AgentError, match=r"nothing is pending under 'nobody': pending is .*one.*two"):
        style.resume(made, "m", {"nobody": 1})
    assert pending(style.resume(made, "m", {one.id: "first"})) == (two,)
    outcome = style.resume(made, "m", {one.id: "again", two.id: "second"})
    assert isinstance(outcome, Completed)
    assert outcome.value == {"one": "first", "two": "second"}


def test_listeners_hear_of_it_once(style: Style, store: InMemoryStore) -> None:
    """V18"""
    heard: list[Any] = []
    made = sequence(process, sequence(REVIEW, name="inner"), finish, store=store, listeners=[heard.append])
    (asked,) = pending(style.run(made, data="x", memory_id="m"))
    told = [event for event in heard if isinstance(event, AgentSuspended)]
    assert [(event.where.path, event.pending) for event in told] == [
        ("sequence/inner/human-review", (asked,)),
        ("sequence/inner", (asked,)),
        ("sequence", (asked,)),
    ]


def test_a_person_within_a_nested_sequence(style: Style, store: InMemoryStore, log: Log) -> None:
    """V19, V26, LG-85, LG-86"""
    a, b = log.agent("A", "a"), log.agent("B", "b")
    c = agent(name="C", output_key="c")(lambda approval: f"C_DONE:{approval}")
    d = agent(name="D")(lambda c: f"D_DONE:{c}")
    person = human_in_the_loop("ask", output_key="approval")
    made = sequence(a, sequence(b, person, c, name="inner"), d, store=store)
    waits = style.run(made, memory_id="m")
    (asked,) = pending(waits)
    assert waits.scope.state == {"a": "A", "b": "B"}
    outcome = style.resume(made, "m", {asked.id: "APPROVED"})
    assert isinstance(outcome, Completed)
    assert outcome.value == "D_DONE:C_DONE:APPROVED"
    assert log.ran == ["A", "B"]


def test_the_branches_beside_a_person_end_and_do_not_run_again(
    style: Style, store: InMemoryStore, log: Log
) -> None:
    """V20, V21"""
    a, c = log.agent("A", "a"), log.agent("C", "c", "C_DONE")
    b = agent(name="B", output_key="b")(lambda approval: f"B_DONE:{approval}")
    d = agent(name="D")(lambda b, c: f"{b}|{c}")
    person = human_in_the_loop("ask", output_key="approval")
    made = sequence(parallel(sequence(a, person, b), c, human_in_the_loop("also")), d, store=store)
    first, second = pending(style.run(made, memory_id="m"))
    assert sorted(log.ran) == ["A", "C"]
    assert pending(style.resume(made, "m", {first.id: "APPROVED"})) == (second,)
    outcome = style.resume(made, "m", {second.id: "yes"})
    assert isinstance(outcome, Completed)
    assert outcome.value == "B_DONE:APPROVED|C_DONE"
    assert sorted(log.ran) == ["A", "C"]


def test_a_person_in_each_round_of_a_loop(style: Style, store: InMemoryStore, log: Log) -> None:
    """V22"""
    count = agent(name="count", output_key="n")(lambda n=0: n + 1)
    person = human_in_the_loop("ask", output_key="ok")
    last = agent(name="last")(lambda n, ok: f"DONE:iter{n}:{ok}")
    made = sequence(loop(count, person, log.agent("b"), max_iterations=2), last, store=store)
    waits = style.run(made, memory_id="m")
    assert waits.scope.read("n") == 1
    (first,) = pending(waits)
    waits = style.resume(made, "m", {first.id: "OK1"})
    assert waits.scope.read("n") == 2
    (second,) = pending(waits)
    assert second.id != first.id
    outcome = style.resume(made, "m", {second.id: "OK2"})
    assert isinstance(outcome, Completed)
    assert outcome.value == "DONE:iter2:OK2"


def test_a_person_deep_inside(style: Style, store: InMemoryStore, log: Log) -> None:
    """V23"""
    x = agent(name="x", output_key="x")(lambda ok: f"DEEP:{ok}")
    other = log.agent("other", "o", "OTHER_DONE")
    y, z = log.agent("y"), agent(name="z")(lambda x, o: f"FINAL:{x}|{o}")
    person = human_in_the_loop("ask", output_key="ok")
    made = sequence(sequence(parallel(sequence(person, x), other), y), z, store=store)
    (asked,) = pending(style.run(made, memory_id="m"))
    assert log.ran == ["other"]
    outcome = style.resume(made, "m", {asked.id: "DEEP_OK"})
    assert isinstance(outcome, Completed)
    assert outcome.value == "FINAL:DEEP:DEEP_OK|OTHER_DONE"
    assert log.ran == ["other", "y"]


def test_a_person_for_each_item(style: Style, store: InMemoryStore) -> None:
    person = human_in_the_loop("rate", question="Rate {{ name }}", inputs=["name"])
    made = parallel_map(person, items="names", store=store)
    asked = pending(style.run(made, names=["a", "b"], memory_id="m"))
    assert sorted(each.question for each in asked) == ["Rate a", "Rate b"]
    answers = {each.id: each.question[-1] * 2 for each in asked}
    outcome = style.resume(made, "m", answers)
    assert isinstance(outcome, Completed)
    assert outcome.value == ["aa", "bb"]


def test_a_background_agent_may_wait_too(style: Style, store: InMemoryStore, log: Log) -> None:
    person = human_in_the_loop("ask", output_key="ok")
    person.background = True
    reader = agent(name="reader")(lambda ok: f"read {ok}")
    made = sequence(person, log.agent("beside"), reader, store=store)
    (asked,) = pending(style.run(made, memory_id="m"))
    assert log.ran == ["beside"]
    outcome = style.resume(made, "m", {asked.id: "yes"})
    assert isinstance(outcome, Completed)
    assert outcome.value == "read yes"
    assert log.ran == ["beside"]


class AsksInBetween(Planner):
    """Suspends once, and is asked again when the run is resumed."""

    def __init__(self) -> None:
        self.step = 0

    def next_action(self, context: PlanningContext) -> Action:
        self.step += 1
        if self.step == 2:
            return suspend()
        if self.step == 3:
            assert context.previous is None
        return call(context.agents[0]) if self.step in (1, 3) else done()

    def execution_state(self) -> Any:
        return self.step

    def restore(self, state: Any) -> None:
        self.step = state


def test_a_planner_that_suspends_is_asked_again_when_the_run_is_resumed(
    style: Style, store: InMemoryStore, log: Log
) -> None:
    made = planned(AsksInBetween, log.agent("a"), store=store)
    assert pending(style.run(made, memory_id="m")) == ()
    outcome = style.resume(made, "m")
    assert isinstance(outcome, Completed)
    assert (outcome.value, log.ran) == ("a", ["a", "a"])

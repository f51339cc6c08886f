"""What helps an agent that failed, and who is asked."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import InMemoryStore
from aiservices.agentic import AgenticScope, ErrorContext, Failed, Recovery, agent, loop, parallel, sequence
from aiservices.agentic.recovering import MOST_ATTEMPTS
from aiservices.errors import AgentError, MissingInputError

from .styles import Log, Style, edit, publish, write


def test_a_missing_input_is_told_before_any_agent_runs(style: Style, log: Log) -> None:
    """W1"""
    story = sequence(log.agent("first"), write)
    with pytest.raises(MissingInputError) as caught:
        style.invoke(story)
    assert (caught.value.agent, caught.value.key, caught.value.producers) == ("write", "topic", ())
    assert log.ran == []


def test_who_could_have_produced_a_missing_input_is_named(style: Style) -> None:
    """W7"""
    with pytest.raises(MissingInputError, match="'write' could produce it but did not run before") as caught:
        style.invoke(sequence(edit, write), topic="bees", style="dry")
    assert caught.value.producers == ("write",)


def test_who_could_have_produced_a_missing_input_but_gave_none_is_named(style: Style) -> None:
    nothing = agent(name="nothing", output_key="story")(lambda topic: None)
    with pytest.raises(MissingInputError, match="'nothing' gave None, so give it") as caught:
        style.invoke(sequence(nothing, publish), topic="bees")
    assert str(caught.value).endswith("as an input")


def test_a_name_near_the_missing_one_is_told(style: Style) -> None:
    typo = agent(name="typo")(lambda stroy: stroy)
    with pytest.raises(MissingInputError, match=r"needs 'stroy', .* or is it misspelt\? There is 'story'"):
        style.invoke(sequence(write, typo), topic="bees")
    with pytest.raises(MissingInputError, match=r"needs 'topic', .* or is it misspelt\? There is 'topik'"):
        style.invoke(sequence(write, publish), topik="bees")


def test_an_agent_of_the_name_of_the_missing_input_that_writes_nothing_is_told(style: Style) -> None:
    draft = agent(name="draft")(lambda topic: topic)
    reader = agent(name="reader")(lambda draft: draft)
    with pytest.raises(MissingInputError, match="let the agent 'draft' write it, with output_key='draft'"):
        style.invoke(sequence(draft, reader), topic="bees")


def test_who_wants_the_id_of_the_run_is_told_how_to_get_it(style: Style) -> None:
    with pytest.raises(MissingInputError, match=r"annotate the parameter as Annotated.*MemoryId"):
        style.invoke(sequence(agent(name="tell")(lambda memory_id: memory_id)), memory_id="m")


def test_a_nested_composite_that_writes_its_own_inputs_is_asked_when_it_begins(style: Style) -> None:
    inner = sequence(write, before=lambda scope: scope.write("topic", "bees"))
    assert style.invoke(sequence(inner, publish)) == "published: a story about bees"
    forgetful = sequence(write, before=lambda scope: None)
    with pytest.raises(MissingInputError, match="'topic'"):
        style.invoke(sequence(forgetful, publish))


def test_a_handler_may_bring_what_is_missing_and_have_it_tried_again(style: Style) -> None:
    """W2"""

    def helping(context: ErrorContext) -> Any:
        assert isinstance(context.error, MissingInputError)
        context.scope.write(context.error.key, "rescue")
        return Recovery.retry()

    assert style.invoke(sequence(write, publish, on_error=helping)) == "published: a story about rescue"


def test_a_handler_may_give_the_result_in_place_of_the_agent(style: Style) -> None:
    """W3"""
    seen = []

    async def helping(context: ErrorContext) -> Any:
        seen.append((context.agent, context.attempt, context.path))
        return Recovery.result("default story")

    story = sequence(write, edit, publish, on_error=helping)
    outcome = style.run(story, topic="bees")
    assert outcome.scope.read("published") == "published: default story"
    assert seen == [("edit", 1, "sequence/edit")]
    assert [each.output for each in outcome.scope.invocations][1] == "default story"


def test_the_result_for_the_last_agent_is_the_value(style: Style, log: Log) -> None:
    """W4"""
    failing = log.agent("failing", value=ZeroDivisionError())
    assert style.invoke(sequence(failing, on_error=lambda context: Recovery.result(7))) == 7


def test_without_help_the_error_is_raised_as_it_was_with_the_agents_path(style: Style, log: Log) -> None:
    """W5"""
    failing = log.agent("failing", value=ZeroDivisionError("boom"))
    story = sequence(sequence(failing, name="inner"), name="outer")
    with pytest.raises(ZeroDivisionError, match="boom") as caught:
        style.invoke(story)
    assert caught.value.__notes__ == ["in the agent outer/inner/failing"]
    failed = style.run(story)
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, ZeroDivisionError)


def test_an_agent_is_tried_again_until_it_succeeds(style: Style, log: Log) -> None:
    results = iter([ZeroDivisionError(), ZeroDivisionError(), "fine"])
    attempts = []

    def helping(context: ErrorContext) -> Any:
        attempts.append(context.attempt)
        return Recovery.retry()

    flaky = log.agent("flaky", value=lambda: next(results))
    assert style.invoke(sequence(flaky, on_error=helping)) == "fine"
    assert attempts == [1, 2]


def test_trying_again_has_an_end(style: Style, log: Log) -> None:
    failing = log.agent("failing", value=ZeroDivisionError)
    with pytest.raises(ZeroDivisionError):
        style.invoke(sequence(failing, on_error=lambda context: Recovery.retry()))
    assert len(log.ran) == MOST_ATTEMPTS


def test_a_background_agent_is_helped_too(style: Style, log: Log) -> None:
    """W10"""
    results = iter([ZeroDivisionError(), ZeroDivisionError(), "late"])
    flaky = log.agent("flaky", "late", lambda: next(results), background=True)
    reader = agent(name="reader")(lambda late: f"read {late}")
    assert style.invoke(sequence(flaky, reader, on_error=lambda context: Recovery.retry())) == "read late"


@pytest.mark.parametrize("inner_says", [Recovery.fail(), None])
def test_the_nearest_composite_decides_first_then_those_around_it(
    style: Style, log: Log, inner_says: Any
) -> None:
    asked = []

    def near(context: ErrorContext) -> Any:
        asked.append(("near", context.agent))
        return inner_says

    def far(context: ErrorContext) -> Any:
        asked.append(("far", context.agent))
        return Recovery.result("saved")

    inner = sequence(log.agent("failing", value=ZeroDivisionError), log.agent("next"), on_error=near)
    assert style.invoke(sequence(inner, on_error=far)) == "next"
    assert asked == [("near", "failing"), ("far", "failing")]


def test_nobody_is_asked_twice_about_one_error(style: Style, log: Log) -> None:
    asked = []
    failing = log.agent("failing", value=ZeroDivisionError("boom"))
    made = sequence(
        sequence(sequence(failing), on_error=lambda context: asked.append("near")),
        on_error=lambda context: asked.append("far"),
    )
    with pytest.raises(ZeroDivisionError):
        style.invoke(made)
    assert asked == ["near", "far"]


def test_a_composite_that_fails_itself_is_helped_by_the_one_around_it(style: Style, log: Log) -> None:
    def output(scope: AgenticScope) -> Any:
        raise ZeroDivisionError("no output")

    inner = sequence(log.agent("a"), name="inner", output=output)
    made = sequence(inner, on_error=lambda context: Recovery.result(context.agent))
    assert style.invoke(made) == "inner"


@pytest.mark.parametrize("saved", [True, False])
def test_a_composite_that_is_tried_again_begins_anew(
    style: Style, store: InMemoryStore, log: Log, saved: bool
) -> None:
    outputs = iter([ZeroDivisionError(), "fine"])

    def output(scope: AgenticScope) -> Any:
        if isinstance(given := next(outputs), Exception):
            raise given
        return given

    inner = sequence(log.agent("a"), log.agent("b"), name="inner", output=output)
    made = sequence(inner, on_error=lambda context: Recovery.retry(), store=store if saved else None)
    outcome = style.run(made, memory_id="m")
    assert log.ran == ["a", "b", "a", "b"]
    assert [each.agent for each in outcome.scope.invocations] == ["a", "b", "inner"]


def test_an_error_of_the_handler_is_raised(style: Style, log: Log) -> None:
    def helping(context: ErrorContext) -> Any:
        raise LookupError("the handler itself")

    with pytest.raises(LookupError, match="the handler itself"):
        style.invoke(sequence(log.agent("failing", value=ZeroDivisionError), on_error=helping))


@pytest.mark.parametrize("answer", [True, "retry", Recovery.retry])
def test_a_handler_that_gives_no_recovery_is_told(style: Style, log: Log, answer: Any) -> None:
    failing = log.agent("failing", value=ZeroDivisionError("boom"))
    with pytest.raises(AgentError, match=r"on_error gave .* 'failing': give Recovery.retry\(\)") as caught:
        style.invoke(sequence(failing, on_error=lambda context: answer))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_value_that_does_not_fit_names_agent_and_key(style: Style) -> None:
    """G2"""

    def double(number: int) -> int:
        return number * 2

    with pytest.raises(AgentError, match="double: its input 'number' is a str that does not fit"):
        style.invoke(sequence(double), number="many")


def test_a_timeout_ends_what_takes_too_long(style: Style) -> None:
    import asyncio

    async def forever() -> None:
        await asyncio.Event().wait()

    with pytest.raises(TimeoutError, match=r"did not end within"):
        style.invoke(sequence(forever, timeout=0.05))


def test_after_the_time_is_over_no_agent_begins(style: Style, log: Log) -> None:
    with pytest.raises(TimeoutError, match="the time was over before it began"):
        style.invoke(sequence(sequence(log.agent("a"), timeout=1e-9), timeout=60))
    assert log.ran == []


def test_each_branch_may_be_helped(style: Style, log: Log) -> None:
    pair = [log.agent(name, name, ZeroDivisionError) for name in ("a", "b")]
    made = parallel(
        *pair, on_error=lambda context: Recovery.result(context.agent * 2), output=lambda s: s.state
    )
    assert style.invoke(made) == {"a": "aa", "b": "bb"}


def test_a_failure_in_a_later_round_of_a_loop_leaves_nothing_behind(style: Style, log: Log) -> None:
    """L7"""
    results = iter(["fine", ZeroDivisionError()])
    with pytest.raises(ZeroDivisionError):
        style.invoke(loop(log.agent("a", "x", lambda: next(results))))

"""The orchestrations: in which order agents run, how often, and which value comes out."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from aiservices.agentic import (
    AgenticScope,
    Completed,
    agent,
    conditional,
    loop,
    parallel,
    parallel_map,
    sequence,
)
from aiservices.errors import AgentError, ConfigurationError, MissingInputError

from .styles import Log, Style, edit, publish, write


def test_a_sequence_hands_on_what_each_agent_writes_and_gives_the_last_value(style: Style) -> None:
    story = sequence(write, edit, publish)
    assert style.invoke(story, topic="dragons", style="dry") == "published: a story about dragons, dry"


def test_a_sequence_in_a_sequence_is_an_agent_like_any_other(style: Style) -> None:
    story = sequence(sequence(write, edit, name="draft"), publish)
    outcome = style.run(story, topic="bees", style="dry")
    assert isinstance(outcome, Completed)
    assert [(each.agent, each.path) for each in outcome.scope.invocations] == [
        ("write", "sequence/draft/write"),
        ("edit", "sequence/draft/edit"),
        ("draft", "sequence/draft"),
        ("publish", "sequence/publish"),
    ]


def test_an_optional_agent_whose_input_is_missing_is_skipped(style: Style) -> None:
    """W6"""
    optional = agent(name="for_audience", output_key="story", optional=True)(
        lambda story, audience: f"{story} for {audience}"
    )
    story = sequence(write, optional, publish)
    assert style.invoke(story, topic="bees") == "published: a story about bees"
    assert style.invoke(story, topic="bees", audience="kids") == "published: a story about bees for kids"


def test_before_writes_defaults_that_the_caller_may_have_given(style: Style) -> None:
    """W8, W9"""

    def before(scope: AgenticScope) -> None:
        if scope.read("topic") is None:
            scope.write("topic", "nothing")

    story = sequence(write, before=before)
    assert style.invoke(story) == "a story about nothing"
    assert style.invoke(story, topic="bees") == "a story about bees"


def test_a_parameter_with_a_default_needs_no_input(style: Style) -> None:
    shout = agent(name="shout")(lambda text, mark="!": text + mark)
    assert style.invoke(sequence(shout), text="hey") == "hey!"
    assert style.invoke(sequence(shout), text="hey", mark="?") == "hey?"


def test_an_agent_that_gives_nothing_is_no_error(style: Style, log: Log) -> None:
    """W12"""
    nothing = agent(name="nothing", output_key="unread")(lambda: None)
    outcome = style.run(sequence(nothing, log.agent("last")))
    assert isinstance(outcome, Completed)
    assert outcome.value == "last"
    assert outcome.scope.read("unread") is None


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_loop_that_nothing_ends_runs_so_many_rounds(style: Style, log: Log, rounds: int) -> None:
    """L1, L2, AGT-04: the limit is no error, and there is no round more."""
    outcome = style.run(loop(log.agent("a"), log.agent("b"), max_iterations=rounds))
    assert log.ran == ["a", "b"] * rounds
    assert isinstance(outcome, Completed)
    assert (outcome.value, outcome.stop_reason) == ("b", "limit")


@pytest.mark.parametrize(("check", "edits"), [("each_agent", 2), ("round_end", 3)])
def test_a_loop_ends_after_the_agent_or_the_round_that_meets_its_condition(
    style: Style, log: Log, check: Any, edits: int
) -> None:
    """L3, L4, AGT-26: it says that the condition ended it."""
    scores = iter([0.1, 0.5, 0.9])
    score = log.agent("score", "score", lambda: next(scores))
    refining = loop(score, log.agent("edit"), until=lambda scope: scope.read("score", 0) >= 0.8, check=check)
    outcome = style.run(refining)
    assert (log.ran.count("score"), log.ran.count("edit")) == (3, edits)
    assert isinstance(outcome, Completed)
    assert outcome.stop_reason == "condition"


def test_a_condition_may_take_the_iteration_which_counts_from_one(style: Style, log: Log) -> None:
    """L5"""
    seen = []

    async def until(scope: AgenticScope, iteration: int) -> bool:
        seen.append(iteration)
        return iteration > 2

    style.invoke(loop(log.agent("a"), until=until))
    assert seen == [1, 2, 3]


def test_a_condition_with_a_default_of_its_own_is_not_given_the_iteration(style: Style, log: Log) -> None:
    style.invoke(loop(log.agent("a"), max_iterations=4, until=lambda scope, least=9: least == 9))
    assert log.ran == ["a"]


def test_output_makes_the_value_of_the_scope(style: Style, log: Log) -> None:
    """L6"""
    made = loop(log.agent("a", "x", 7), max_iterations=2, output=lambda scope: scope.read("x") * 6)
    assert style.invoke(made) == 42


@pytest.mark.parametrize("number", [0, -1, True, 1.5])
def test_a_loop_has_at_least_one_round(number: Any, log: Log) -> None:
    """AGT-04"""
    with pytest.raises(ValueError, match="max_iterations"):
        loop(log.agent("a"), max_iterations=number)


def test_a_conditional_runs_the_branches_that_match_and_no_other(style: Style, log: Log) -> None:
    """K1, K3, K4"""
    made = conditional(
        (lambda scope: scope.read("x") > 1, log.agent("big")),
        (lambda scope: scope.read("x") > 10, log.agent("bigger")),
        log.agent("always"),
    )
    assert style.invoke(made, x=5) == "always"
    assert sorted(log.ran) == ["always", "big"]


def test_without_a_match_there_is_no_value_and_what_follows_goes_on(style: Style, log: Log) -> None:
    """K2, AGT-21, AGT-26"""
    route = conditional((lambda scope: False, log.agent("a", "answer")))
    outcome = style.run(route, x=3)
    assert isinstance(outcome, Completed)
    assert (outcome.value, outcome.stop_reason) == (None, "no_branch")
    assert style.invoke(sequence(route, log.agent("after")), x=3) == "after"
    assert log.ran == ["after"]


def test_first_match_takes_one_and_otherwise_the_rest(style: Style, log: Log) -> None:
    made = conditional(
        (lambda scope: scope.read("x") > 1, log.agent("big")),
        (lambda scope: scope.read("x") > 0, log.agent("positive")),
        otherwise=log.agent("other"),
        first_match=True,
    )
    assert [style.invoke(made, x=x) for x in (2, 1, 0)] == ["big", "positive", "other"]
    assert log.ran == ["big", "positive", "other"]


def test_branches_that_write_one_key_give_it_the_value_of_the_last_one(style: Style) -> None:
    """AGT-20: whichever of them ends last."""
    ended = threading.Event()

    def first() -> str:
        assert ended.wait(5)
        return "first"

    def second() -> str:
        ended.set()
        return "second"

    pair = [agent(name=each.__name__, output_key="x")(each) for each in (first, second)]
    outcome = style.run(conditional(*pair))
    assert outcome.scope.read("x") == "second"
    assert [each.agent for each in outcome.scope.invocations] == ["first", "second"]


def test_parallel_agents_run_at_the_same_time_and_output_joins_them(style: Style) -> None:
    """P1"""
    meeting = threading.Barrier(2)

    def film() -> str:
        meeting.wait(5)
        return "Alien"

    def meal() -> str:
        meeting.wait(5)
        return "pizza"

    pair = [agent(output_key=each.__name__)(each) for each in (film, meal)]
    plan = parallel(*pair, output=lambda scope: (scope.read("film"), scope.read("meal")))
    assert style.invoke(plan) == ("Alien", "pizza")
    assert style.invoke(parallel(*pair)) is None


def test_parallel_agents_with_one_output_key_are_refused(log: Log) -> None:
    """AGT-20"""
    with pytest.raises(ConfigurationError, match="side by side write the same key 'res'"):
        parallel(log.agent("p1", "res"), sequence(log.agent("p2", "res"), log.agent("p3")))


def test_parallel_map_gives_results_in_the_order_of_the_items(style: Style) -> None:
    """N1"""
    started = threading.Event()

    def shout(word: str, mark: str) -> str:
        if word == "slow":
            assert started.wait(5)
        else:
            started.set()
        return word + mark

    made = parallel_map(shout, items="words")
    assert style.invoke(made, words=["slow", "a", "b"], mark="!") == ["slow!", "a!", "b!"]


def test_parallel_map_of_nothing_is_an_empty_list(style: Style) -> None:
    """N2"""
    made = parallel_map(lambda_named("shout", lambda word: word), items="words", output_key="loud")
    outcome = style.run(made, words=[])
    assert isinstance(outcome, Completed)
    assert outcome.value == []
    assert outcome.scope.read("loud") == []


def test_each_item_of_a_parallel_map_has_a_scope_of_its_own(style: Style) -> None:
    first = agent(name="first", output_key="half")(lambda word: word[0])
    second = agent(name="second")(lambda half, word: f"{half} of {word}")
    outcome = style.run(parallel_map(sequence(first, second), items="words"), words=["ab", "cd"])
    assert isinstance(outcome, Completed)
    assert outcome.value == ["a of ab", "c of cd"]
    assert outcome.scope.state == {"words": ["ab", "cd"]}


def test_an_item_whose_agent_is_skipped_keeps_its_place(style: Style) -> None:
    shout = agent(name="shout", optional=True)(lambda word: word.upper())
    assert style.invoke(parallel_map(shout, items="words"), words=["a", None, "b"]) == ["A", None, "B"]


@pytest.mark.parametrize("items", ["text", {"a": 1}, 7])
def test_what_is_no_list_of_items_is_refused(style: Style, items: Any) -> None:
    """N5"""
    with pytest.raises(AgentError, match=r"'words' are a (str|dict|int), not a list"):
        style.invoke(parallel_map(lambda_named("shout", lambda word: word), items="words"), words=items)


def test_missing_items_are_a_missing_input(style: Style) -> None:
    with pytest.raises(MissingInputError, match="'words'"):
        style.invoke(parallel_map(lambda_named("shout", lambda word: word), items="words"))


def test_a_background_agent_runs_beside_what_follows_and_its_reader_waits(style: Style) -> None:
    going = threading.Event()

    def slow() -> str:
        assert going.wait(5)
        return "slow"

    def quick() -> str:
        going.set()
        return "quick"

    async def read(late: str, soon: str) -> str:
        return f"{soon} {late}"

    made = sequence(
        agent(output_key="late", background=True)(slow), agent(output_key="soon")(quick), agent(read)
    )
    outcome = style.run(made)
    assert isinstance(outcome, Completed)
    assert outcome.value == "quick slow"
    assert [each.agent for each in outcome.scope.invocations] == ["slow", "quick", "read"]


def test_a_background_agent_that_is_last_gives_the_value(style: Style, log: Log) -> None:
    assert style.invoke(sequence(log.agent("a"), log.agent("b", background=True))) == "b"


def test_a_background_agent_that_gives_nothing_that_nobody_reads_is_no_error(style: Style, log: Log) -> None:
    """AGT-22"""
    nothing = agent(name="n", output_key="unread", background=True)(lambda: None)
    assert style.invoke(sequence(nothing, log.agent("r"))) == "r"


@pytest.mark.parametrize("is_read", [True, False])
def test_the_failure_of_a_background_agent_surfaces_with_its_own_type(
    style: Style, log: Log, is_read: bool
) -> None:
    """W11, G9, AGT-22: also where nobody reads its key."""
    failing = log.agent("n", "late", ZeroDivisionError("boom"), background=True)
    reader = agent(name="reader")((lambda late: late) if is_read else (lambda: None))
    with pytest.raises(ZeroDivisionError, match="boom") as caught:
        style.invoke(sequence(failing, reader))
    assert caught.value.__notes__ == ["in the agent sequence/n"]


def test_a_failing_branch_raises_as_it_is_once_the_others_have_ended(style: Style, log: Log) -> None:
    """W13"""
    ended = log.agent("ended")
    with pytest.raises(ZeroDivisionError):
        style.invoke(parallel(log.agent("failing", value=ZeroDivisionError()), ended))
    assert sorted(log.ran) == ["ended", "failing"]


def lambda_named(name: str, function: Any) -> Any:
    return agent(name=name)(function)

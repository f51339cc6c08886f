"""A supervisor: what its model sees, and what comes out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aiservices.agentic import (
    AgenticScope,
    Completed,
    ContextStrategy,
    ResponseStrategy,
    agent,
    sequence,
    supervisor,
)
from aiservices.errors import (
    ConfigurationError,
    MissingInputError,
)
from aiservices.models import Capability
from aiservices.testing import ScriptedChatModel

from .banking import does, ends, texts
from .styles import Style


def test_agents_are_called_as_the_model_says_until_it_is_done(
    style: Style, bank: Any, accounts: dict[str, int]
) -> None:
    """AJ-84"""
    with ScriptedChatModel(
        does("debit", user="Ann", amount=30), does("credit", user="Bob", amount=30), ends("moved")
    ) as model:
        outcome = style.run(supervisor(*bank, chat_model=model), request="Move 30 from Ann to Bob")
    assert accounts == {"Ann": 70, "Bob": 50}
    assert isinstance(outcome, Completed)
    assert (outcome.value, outcome.stop_reason) == ("moved", "done")
    assert [each.agent for each in outcome.scope.invocations] == ["debit", "credit"]
    assert outcome.scope.read("debited") == "Ann has 70"


def test_the_model_sees_cards_the_request_and_what_each_agent_gave(style: Style, bank: Any) -> None:
    model = ScriptedChatModel(does("credit", user="Bob", amount=1), ends())
    style.invoke(supervisor(*bank, chat_model=model), request="Give Bob 1")
    first, second = map(texts, model.requests)
    card = next(json.loads(line) for line in first[0].splitlines() if '"credit"' in line)
    assert card == {
        "name": "credit",
        "description": "Puts an amount on the account of a user.",
        "arguments": {"user": {"type": "string"}, "amount": {"type": "integer"}},
        "writes": "credited",
    }
    assert "Give Bob 1" in first[1]
    assert second[:1] == first[:1]
    assert second[2] == does("credit", user="Bob", amount=1)
    assert second[3].startswith("The agent 'credit' gave:\nBob has 21")


@pytest.mark.parametrize("capabilities", [(), (Capability.JSON_SCHEMA,)])
def test_a_model_gets_a_schema_where_it_takes_one_and_else_instructions(
    bank: Any, capabilities: tuple[Capability, ...]
) -> None:
    model = ScriptedChatModel(ends("nothing to do"), capabilities=capabilities)
    assert supervisor(*bank, chat_model=model).invoke(request="Rest") == "nothing to do"
    assert (model.request.response_format is not None) == bool(capabilities)
    assert ('"agent_name": (type: string)' in texts(model.request)[-1]) == (not capabilities)


def test_done_without_a_response_gives_the_last_response(style: Style, bank: Any) -> None:
    """Z1"""
    for number, end in enumerate(('{"agent_name": "DONE"}', ends(" ")), start=1):
        model = ScriptedChatModel(does("credit", user="Bob", amount=1), end)
        assert style.invoke(supervisor(*bank, chat_model=model), request="x") == f"Bob has {20 + number}"


def test_the_last_response_can_be_the_value_in_any_case(style: Style, bank: Any) -> None:
    model = ScriptedChatModel(does("credit", user="Bob", amount=1), ends("moved"))
    made = supervisor(*bank, chat_model=model, response_strategy=ResponseStrategy.LAST)
    assert style.invoke(made, request="x") == "Bob has 21"


def test_done_at_once_without_a_response_gives_nothing(style: Style, bank: Any) -> None:
    assert style.invoke(supervisor(*bank, chat_model=ScriptedChatModel(ends())), request="x") is None


def test_done_gives_the_response_where_no_agent_gave_anything(style: Style) -> None:
    def note(text: str) -> None:
        """Notes a text."""

    model = ScriptedChatModel(does("note", text="hi"), ends("noted"))
    assert style.invoke(supervisor(note, chat_model=model), request="x") == "noted"


def test_the_response_is_what_an_output_function_sees_of_a_summary(style: Style) -> None:
    """Z2"""

    @agent(output_key="city")
    def capital(country: str) -> str:
        """Knows capitals."""
        return "PARIS!"

    model = ScriptedChatModel(does("capital", country="France"), ends("Paris"))
    made = supervisor(
        capital,
        chat_model=model,
        output_key="answer",
        name="guide",
    )
    whole = sequence(made, output=lambda scope: f"{scope.read('answer')}.")
    assert style.invoke(whole, request="The capital of France?") == "Paris."


@pytest.mark.parametrize(
    ("given", "shown"), [({}, "at build"), ({"supervisor_context": "at call"}, "at call")]
)
def test_the_context_of_the_call_wins_over_that_of_the_build(
    style: Style, bank: Any, given: dict[str, str], shown: str
) -> None:
    """Z3"""
    model = ScriptedChatModel(ends("fine"))
    made = supervisor(*bank, chat_model=model, supervisor_context="at build")
    style.invoke(made, request="x", **given)
    assert texts(model.request)[0].endswith(f"bear in mind:\n{shown}")


def test_after_the_last_invocation_the_last_response_is_given_without_asking(style: Style, bank: Any) -> None:
    """Z4"""
    with ScriptedChatModel(*[does("credit", user="Bob", amount=1)] * 2) as model:
        outcome = style.run(supervisor(*bank, chat_model=model, max_invocations=2), request="x")
    assert isinstance(outcome, Completed)
    assert (outcome.value, outcome.stop_reason) == ("Bob has 22", "limit")


@pytest.mark.parametrize(
    ("scores", "value"),
    [
        ('{"first": 0.5, "second": 0.5}', "Bob has 21"),
        ('{"first": 0.5, "second": 0.6}', "Bob got 1"),
        ('{"first": 0.9, "second": 0.6}', "Bob has 21"),
        ("both are fine", "Bob has 21"),
    ],
)
def test_of_scored_answers_the_response_has_to_be_better(
    style: Style, bank: Any, scores: str, value: str
) -> None:
    """Z8"""
    with ScriptedChatModel(does("credit", user="Bob", amount=1), ends("Bob got 1"), scores) as model:
        made = supervisor(*bank, chat_model=model, response_strategy=ResponseStrategy.SCORED)
        assert style.invoke(made, request="x") == value
    asked = texts(model.requests[-1])[-1]
    assert "The first answer:\nBob has 21" in asked
    assert "The second answer:\nBob got 1" in asked


def test_the_newest_twenty_messages_are_sent_and_the_request_always(style: Style, bank: Any) -> None:
    plans = [does("credit", user="Bob", amount=n) for n in range(1, 13)]
    model = ScriptedChatModel(*plans, ends())
    style.invoke(supervisor(*bank, chat_model=model, max_invocations=20), request="Be generous")
    sent = [len(request.messages) for request in model.requests]
    assert sent == [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 20, 20, 20]
    assert "Be generous" in texts(model.requests[-1])[1]
    assert texts(model.requests[-1])[2] == plans[3]


def test_a_summary_stands_for_all_but_the_newest_exchange(style: Style, bank: Any) -> None:
    plans = [does("credit", user="Bob", amount=n) for n in (1, 2, 3)]
    with ScriptedChatModel(*plans[:2], "Bob got 1.", plans[2], "Bob got 3 in all.", ends()) as model:
        made = supervisor(*bank, chat_model=model, context_strategy=ContextStrategy.SUMMARIZATION)
        style.invoke(made, request="x")
    last = texts(model.requests[-1])
    assert "So far: Bob got 3 in all." in last[1]
    assert last[2] == plans[2]
    assert len(last) == 4
    assert "Before that: Bob got 1." in texts(model.requests[4])[1]


def test_with_both_a_summary_stands_for_what_the_window_has_left_behind(style: Style, bank: Any) -> None:
    plans = [does("credit", user="Bob", amount=n) for n in range(10)]
    with ScriptedChatModel(*plans, "Bob got 0.", ends()) as model:
        made = supervisor(
            *bank,
            chat_model=model,
            max_invocations=11,
            context_strategy=ContextStrategy.CHAT_MEMORY_AND_SUMMARIZATION,
        )
        style.invoke(made, request="x")
    last = texts(model.requests[-1])
    assert "So far: Bob got 0." in last[1]
    assert last[2] == plans[1]


def test_where_summing_up_gives_nothing_all_is_kept(style: Style, bank: Any) -> None:
    plans = [does("credit", user="Bob", amount=n) for n in (1, 2)]
    model = ScriptedChatModel(*plans, " ", ends())
    made = supervisor(*bank, chat_model=model, context_strategy=ContextStrategy.SUMMARIZATION)
    style.invoke(made, request="x")
    assert texts(model.requests[-1])[2::2] == plans


def test_the_request_may_be_made_from_the_scope(style: Style, bank: Any) -> None:
    async def request(scope: AgenticScope) -> str:
        return f"Pay {scope.read('whom')}"

    model = ScriptedChatModel(ends("no"))
    made = supervisor(*bank, chat_model=model, request_generator=request)
    assert made.inputs == ()
    style.invoke(made, whom="Bob")
    assert "Pay Bob" in texts(model.request)[1]


def test_without_a_request_nothing_is_asked(style: Style, bank: Any) -> None:
    made = supervisor(*bank, chat_model=ScriptedChatModel())
    assert made.inputs == ("request",)
    with pytest.raises(MissingInputError, match="'request'"):
        style.invoke(made)


def test_a_handler_may_bring_no_request_either(style: Style, bank: Any) -> None:
    made = supervisor(*bank, chat_model=ScriptedChatModel(), on_error=lambda context: None)
    with pytest.raises(MissingInputError, match="supervisor has no 'request'"):
        style.invoke(made)


def test_an_agent_with_an_input_named_request_does_not_change_the_request(style: Style) -> None:
    def expert(request: str) -> str:
        """Answers."""
        return f"on {request}"

    model = ScriptedChatModel(does("expert", request="a part of it"), ends())
    assert style.invoke(supervisor(expert, chat_model=model), request="The whole") == "on a part of it"
    assert "The whole" in texts(model.requests[1])[1]


@pytest.mark.parametrize("number", [0, -1, True, 2.5])
def test_fewer_than_one_invocation_is_refused(bank: Any, number: Any) -> None:
    with pytest.raises(ValueError, match="max_invocations"):
        supervisor(*bank, chat_model=ScriptedChatModel(), max_invocations=number)


def test_unknown_options_and_strategies_are_refused(bank: Any) -> None:
    with pytest.raises(ConfigurationError, match="unknown option 'memory'"):
        supervisor(*bank, chat_model=ScriptedChatModel(), memory=1)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="is not a valid ContextStrategy"):
        supervisor(*bank, chat_model=ScriptedChatModel(), context_strategy="all")  # type: ignore[call-overload]

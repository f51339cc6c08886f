"""What becomes of a supervisor's plans: names and arguments, right and wrong."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from aiservices.agentic import (
    Failed,
    agent,
    sequence,
    supervisor,
)
from aiservices.errors import (
    AgentError,
    ConfigurationError,
)
from aiservices.testing import ScriptedChatModel

from .banking import does, ends, texts
from .styles import Log, Style


def test_an_unknown_agent_goes_back_to_the_model_with_the_names(style: Style, bank: Any) -> None:
    """AGT-01, Z5"""
    with ScriptedChatModel(
        '{"agent_name": "Debit Agent", "arguments": {}}', does("debit", user="Ann", amount=1), ends()
    ) as model:
        assert style.invoke(supervisor(*bank, chat_model=model), request="x") == "Ann has 99"
    correction = texts(model.requests[1])[-1]
    assert correction.startswith(
        "That cannot be done: there is no agent 'Debit Agent', the agents are 'credit', 'debit'"
    )
    assert "Debit Agent" not in "".join(texts(model.requests[2])), "a corrected answer is forgotten"


def test_after_five_corrections_the_supervisor_fails_and_names_what_was_wrong(
    style: Style, bank: Any
) -> None:
    """AGT-01, Z5"""
    with ScriptedChatModel(*[does("Debit Agent")] * 6) as model:
        outcome = style.run(supervisor(*bank, chat_model=model), request="x")
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.error, AgentError)
    assert outcome.error.agent == "supervisor"
    assert "'Debit Agent'" in str(outcome.error)
    assert len(model.requests) == 6


def test_every_decision_may_be_corrected_anew(style: Style, bank: Any) -> None:
    wrong = [does("nobody")] * 5
    with ScriptedChatModel(*wrong, does("credit", user="Bob", amount=1), *wrong, ends()) as model:
        assert style.invoke(supervisor(*bank, chat_model=model), request="x") == "Bob has 21"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("I would ask the credit agent.", "no valid JSON found"),
        ("", "the answer is empty"),
        ('{"agent": "credit"}', "agent_name: Field required"),
        ('{"agent_name": "credit", "arguments": "Bob"}', "arguments: Input should be an object"),
        (does("credit", user="Bob"), "credit: the argument 'amount' is missing"),
        (does("credit", user="Bob", amount=None), "the argument 'amount' is missing"),
        (does("credit", user="Bob", amount="lots"), "the argument 'amount' does not fit"),
        (does("credit", user="Bob", amount=1, sum=2), "there is no argument 'sum'"),
        (does("credit"), "'user' is missing, and no agent has written it; the argument 'amount' is missing"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_goes_back_to_the_model(
    bank: Any, answer: str, problem: str
) -> None:
    with ScriptedChatModel(answer, does("credit", user="Bob", amount=1), ends()) as model:
        assert supervisor(*bank, chat_model=model).invoke(request="x") == "Bob has 21"
    assert problem in texts(model.requests[1])[-1]


@pytest.mark.parametrize(
    "said", ["credit", " Credit ", "'CREDIT'", "`credit`", "bank/credit", "bank.credit", '"credit"\n']
)
def test_a_name_is_understood_however_it_is_written(bank: Any, said: str) -> None:
    """Z6, AGT-27"""
    model = ScriptedChatModel(does(said, user="Bob", amount=1), ends())
    assert supervisor(*bank, chat_model=model).invoke(request="x") == "Bob has 21"


@pytest.mark.parametrize(
    "said", ["senior research analyst", "Senior_Research_Analyst", "SENIOR-RESEARCH-ANALYST"]
)
def test_the_name_of_a_role_is_understood_in_any_case(log: Log, said: str) -> None:
    """AGT-27"""
    model = ScriptedChatModel(does(said), ends())
    made = supervisor(log.agent("Senior Research Analyst\n"), log.agent("other"), chat_model=model)
    assert made.invoke(request="x") == "Senior Research Analyst\n"
    assert log.ran == ["Senior Research Analyst\n"]


def test_a_short_name_that_two_agents_have_is_not_understood(log: Log) -> None:
    """Z6"""
    model = ScriptedChatModel(does("write"), does("code.write"), ends())
    supervisor(log.agent("text.write"), log.agent("code.write"), chat_model=model).invoke(request="x")
    assert log.ran == ["code.write"]
    assert "there is no agent 'write'" in texts(model.requests[1])[-1]


@dataclass(frozen=True)
class Order:
    id: int
    tags: tuple[str, ...] = ()


def test_lists_and_objects_arrive_typed(style: Style) -> None:
    """Z7"""
    got: list[Any] = []

    def ship(orders: list[Order], urgent: bool, weights: dict[str, float]) -> str:
        """Ships orders."""
        got.extend([orders, urgent, weights])
        return "shipped"

    plan = does("ship", orders=[{"id": 1, "tags": ["new"]}, {"id": 2}], urgent=True, weights={"a": 1})
    model = ScriptedChatModel(plan, ends())
    assert style.invoke(supervisor(ship, chat_model=model), request="x") == "shipped"
    assert got == [[Order(1, ("new",)), Order(2)], True, {"a": 1.0}]


def test_an_object_that_is_there_is_not_replaced_by_what_the_model_says_of_it(style: Style) -> None:
    got = []

    def ship(order: Order) -> str:
        """Ships an order."""
        got.append(order)
        return "shipped"

    plans = [does("ship", order=each) for each in ("the order", {"id": 7})]
    model = ScriptedChatModel(*plans, does("ship"), ends())
    order = Order(1, ("kept",))
    style.invoke(supervisor(ship, chat_model=model), request="x", order=order)
    assert got == [order] * 3
    assert "known from the beginning: order" in texts(model.requests[0])[1]


def test_what_an_agent_wrote_need_not_be_repeated(style: Style) -> None:
    @agent(output_key="draft")
    def write(topic: str) -> str:
        """Writes."""
        return f"a text about {topic}"

    def edit(draft: str) -> str:
        """Edits."""
        return draft.upper()

    model = ScriptedChatModel(does("write", topic="bees"), does("edit"), ends())
    assert style.invoke(supervisor(write, edit, chat_model=model), request="x") == "A TEXT ABOUT BEES"


def test_what_an_agent_has_made_of_an_argument_need_not_be_repeated(style: Style) -> None:
    @agent(output_key="draft")
    def edit(draft: str) -> str:
        """Edits."""
        return f"{draft}!"

    with ScriptedChatModel(does("edit", draft="Bees"), does("edit"), ends()) as model:
        assert style.invoke(supervisor(edit, chat_model=model), request="x") == "Bees!!"


def test_an_argument_is_for_one_call_only(style: Style) -> None:
    """Nobody moves the amount of the transfer before."""
    calls = []

    def pay(user: str, amount: int, memo: str = "none") -> str:
        """Pays."""
        calls.append((user, amount, memo))
        return "paid"

    with ScriptedChatModel(
        does("pay", user="Ann", amount=5, memo="rent"),
        does("pay", user="Bob"),
        does("pay", user="Bob", amount=1),
        ends(),
    ) as model:
        style.invoke(supervisor(pay, chat_model=model), request="x")
    assert calls == [("Ann", 5, "rent"), ("Bob", 1, "none")]
    assert "'amount' is missing" in texts(model.requests[2])[-1]


def test_what_is_known_but_does_not_fit_is_asked_for(style: Style) -> None:
    def double(number: int) -> int:
        """Doubles."""
        return number * 2

    model = ScriptedChatModel(does("double"), does("double", number=4), ends())
    assert style.invoke(supervisor(double, chat_model=model), request="x", number="many") == 8
    assert "'number' is known already, but does not fit" in texts(model.requests[1])[-1]


def test_what_no_model_can_be_asked_for_is_not_on_the_card() -> None:
    class Handle:
        pass

    def use(handle: Handle, times: int = 1) -> str:
        """Uses a handle."""
        return f"used {times}"

    model = ScriptedChatModel(does("use"), ends())
    assert supervisor(use, chat_model=model).invoke(request="x", handle=Handle()) == "used 1"
    card = next(json.loads(line) for line in texts(model.requests[0])[0].splitlines() if '"use"' in line)
    assert card["arguments"] == {"times": {"type": "integer"}}
    assert card["optional"] == ["times"]


def test_names_that_a_model_could_not_tell_apart_are_refused(log: Log) -> None:
    """AGT-14"""
    given = [log.agent("edit"), log.agent(" Edit"), log.agent("Done")]
    with pytest.raises(ConfigurationError) as caught:
        supervisor(*given, object(), chat_model=ScriptedChatModel())
    assert "is no agent" in str(caught.value)
    with pytest.raises(ConfigurationError) as caught:
        supervisor(*given, chat_model=ScriptedChatModel())
    assert [each.split(",")[0] for each in caught.value.problems] == [
        "supervisor: 2 agents are called 'edit'",
        "supervisor: an agent is called 'Done'",
    ]


def test_an_agent_without_a_description_is_remarked_on(bank: Any, log: Log) -> None:
    """AGT-14"""
    made = supervisor(*bank, log.agent("mute"), chat_model=ScriptedChatModel())
    assert sequence(made).check() == (
        "sequence: 'mute' has no description, so the model knows only its name",
    )

"""A supervisor: what its model sees, what becomes of what it says, and what comes out."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import pytest

import aiservices
from aiservices import InMemoryStore, MemoryId, MessageWindowChatMemory
from aiservices.agentic import (
    AgentCompleted,
    AgenticScope,
    Completed,
    ContextStrategy,
    Failed,
    ResponseStrategy,
    Suspended,
    agent,
    human_in_the_loop,
    sequence,
    supervisor,
)
from aiservices.errors import (
    AgentError,
    ConfigurationError,
    MissingInputError,
    OutputTruncatedError,
    RefusalError,
)
from aiservices.messages import AiMessage, ChatRequest, ChatResponse, FinishReason, TokenUsage
from aiservices.models import Capability
from aiservices.testing import ScriptedChatModel

from .styles import Log, Style


def does(name: str, **arguments: Any) -> str:
    """What a planner model answers."""
    return json.dumps({"agent_name": name, "arguments": arguments})


def ends(response: Any = None) -> str:
    return does("done") if response is None else does("done", response=response)


def texts(request: ChatRequest) -> list[str]:
    return [message.text or "" for message in request.messages]  # type: ignore[union-attr]


@pytest.fixture
def accounts() -> dict[str, int]:
    return {"Ann": 100, "Bob": 20}


@pytest.fixture
def bank(accounts: dict[str, int]) -> list[Callable[..., Any]]:
    @agent(output_key="credited")
    def credit(user: str, amount: int) -> str:
        """Puts an amount on the account of a user."""
        accounts[user] += amount
        return f"{user} has {accounts[user]}"

    @agent(output_key="debited")
    def debit(user: str, amount: int) -> str:
        """Takes an amount from the account of a user."""
        accounts[user] -= amount
        return f"{user} has {accounts[user]}"

    return [credit, debit]


def test_agents_are_called_as_the_model_says_until_it_is_done(
    style: Style, bank: Any, accounts: dict[str, int]
) -> None:
    with ScriptedChatModel(
        does("debit", user="Ann", amount=30), does("credit", user="Bob", amount=30), ends("moved")
    ) as model:
        outcome = style.run(supervisor(*bank, chat_model=model), request="Move 30 from Ann to Bob")
    assert accounts == {"Ann": 70, "Bob": 50}
    assert isinstance(outcome, Completed)
    assert (outcome.value, outcome.stop_reason) == ("Bob has 50", "done")
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
    model = ScriptedChatModel(does("credit", user="Bob", amount=1), '{"agent_name": "DONE"}')
    assert style.invoke(supervisor(*bank, chat_model=model), request="x") == "Bob has 21"


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
        response_strategy=ResponseStrategy.SUMMARY,
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


def test_a_supervisor_may_supervise_another(style: Style, bank: Any) -> None:
    inner = ScriptedChatModel(does("credit", user="Bob", amount=1), ends())
    outer = ScriptedChatModel(does("banker", request="Give Bob 1"), ends())
    banker = supervisor(*bank, chat_model=inner, name="banker", description="Moves money.")
    made = supervisor(banker, chat_model=outer)
    assert style.invoke(made, request="Make Bob happy") == "Bob has 21"
    assert "Give Bob 1" in texts(inner.requests[0])[1]
    assert "Make Bob happy" in texts(outer.requests[1])[1]


def test_a_supervisor_in_a_sequence_reads_the_request_that_is_written_before(style: Style, bank: Any) -> None:
    """AGT-03"""

    @agent(output_key="request")
    def prepare(topic: str) -> str:
        return f"Talk about {topic}"

    model = ScriptedChatModel(ends("done"))
    made = sequence(prepare, supervisor(*bank, chat_model=model))
    assert made.inputs == ("topic",)
    style.invoke(made, topic="bees")
    assert "Talk about bees" in texts(model.request)[1]


def test_a_facade_that_gives_no_request_is_refused(bank: Any) -> None:
    """AGT-03"""

    class Desk(Protocol):
        def ask(self, topic: str) -> str: ...

    with pytest.raises(ConfigurationError, match="'request'"):
        supervisor(*bank, chat_model=ScriptedChatModel(), service=Desk)


def test_a_facade_asks_a_supervisor(bank: Any) -> None:
    class Desk(Protocol):
        def ask(self, request: str) -> str: ...

    desk = supervisor(*bank, chat_model=ScriptedChatModel(ends("no")), service=Desk)
    assert desk.ask("x") == "no"


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


@pytest.mark.parametrize("number", [0, -1, True, 2.5])
def test_fewer_than_one_invocation_is_refused(bank: Any, number: Any) -> None:
    with pytest.raises(ValueError, match="max_invocations"):
        supervisor(*bank, chat_model=ScriptedChatModel(), max_invocations=number)


def test_unknown_options_and_strategies_are_refused(bank: Any) -> None:
    with pytest.raises(ConfigurationError, match="unknown option 'memory'"):
        supervisor(*bank, chat_model=ScriptedChatModel(), memory=1)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="is not a valid ContextStrategy"):
        supervisor(*bank, chat_model=ScriptedChatModel(), context_strategy="all")  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (ChatResponse(AiMessage("{", attributes={"refusal": "I will not"})), RefusalError),
        (ChatResponse(AiMessage("{"), finish_reason=FinishReason.LENGTH), OutputTruncatedError),
        (
            ChatResponse(AiMessage(), finish_reason=FinishReason.CONTENT_FILTER),
            aiservices.ContentFilteredError,
        ),
        (OSError("the model is down"), OSError),
    ],
)
def test_what_asking_again_does_not_help_is_raised(
    style: Style, bank: Any, response: Any, error: Any
) -> None:
    with ScriptedChatModel(response) as model, pytest.raises(error):
        style.invoke(supervisor(*bank, chat_model=model), request="x")


def test_the_tokens_of_the_planning_model_are_counted(style: Style, bank: Any) -> None:
    model = ScriptedChatModel(ChatResponse(AiMessage(ends("no")), TokenUsage(3, 4)))
    events = style.events(supervisor(*bank, chat_model=model), request="x")
    (completed,) = [each for each in events if isinstance(each, AgentCompleted)]
    assert completed.usage == TokenUsage(3, 4)


def test_a_model_that_does_not_answer_in_time_ends_the_run(style: Style, bank: Any) -> None:
    released = threading.Event()

    def never(request: ChatRequest) -> str:
        released.wait()
        return ends()

    async def anever(request: ChatRequest) -> str:
        await asyncio.Event().wait()
        return ends()

    model = ScriptedChatModel(never if style.is_blocking else anever)
    try:
        with pytest.raises(TimeoutError):
            style.invoke(supervisor(*bank, chat_model=model, timeout=0.02), request="x")
    finally:
        released.set()


def test_a_person_may_be_among_the_agents(style: Style, bank: Any, store: InMemoryStore) -> None:
    ask = human_in_the_loop(
        "manager", question="Pay {{ amount }}?", output_key="approval", inputs=("amount",)
    )
    model = ScriptedChatModel(does("manager", amount=5), does("credit", user="Bob", amount=5), ends())
    made = supervisor(*bank, ask, chat_model=model, store=store)
    outcome = style.run(made, memory_id=1, request="Pay Bob 5")
    assert isinstance(outcome, Suspended)
    assert outcome.pending[0].question == "Pay 5?"
    assert len(model.requests) == 1
    outcome = style.resume(made, 1, {outcome.pending[0].id: "yes"})
    assert isinstance(outcome, Completed)
    assert outcome.value == "Bob has 25"
    assert texts(model.requests[1])[2:] == [does("manager", amount=5), texts(model.requests[1])[3]]
    assert texts(model.requests[1])[3].startswith("The agent 'manager' gave:\nyes")


def test_a_run_that_failed_while_planning_goes_on_with_the_same_conversation(
    style: Style, bank: Any, accounts: dict[str, int], store: InMemoryStore
) -> None:
    model = ScriptedChatModel(
        does("debit", user="Ann", amount=5),
        does("nobody"),
        OSError("the model is down"),
        does("credit", user="Bob", amount=5),
        ends(),
    )
    made = supervisor(*bank, chat_model=model, store=store, max_invocations=3)
    assert isinstance(style.run(made, memory_id=1, request="x"), Failed)
    outcome = style.resume(made, 1)
    assert isinstance(outcome, Completed)
    assert accounts == {"Ann": 95, "Bob": 25}
    assert texts(model.requests[3]) == texts(model.requests[1])


def test_a_background_agent_is_told_to_have_begun(style: Style) -> None:
    @agent(background=True, output_key="report")
    def research(topic: str) -> str:
        """Takes its time."""
        return f"all about {topic}"

    model = ScriptedChatModel(does("research", topic="bees"), ends())
    assert style.invoke(supervisor(research, chat_model=model), request="x") == "all about bees"
    assert "'research' has begun" in texts(model.requests[1])[3]


def test_an_agent_remembers_within_a_run_and_not_beyond(style: Style) -> None:
    """AGT-29"""

    class Friend(Protocol):
        @agent(name="friend", description="Remembers.")
        def say(self, who: Annotated[str, MemoryId], text: str) -> str: ...

    replies = ScriptedChatModel("noted", "Ana", "who?")
    friend = aiservices.create(
        Friend, chat_model=replies, chat_memory_provider=lambda id: MessageWindowChatMemory(10, id)
    )
    plans = [does("friend", text="I am Ana"), does("friend", text="Who am I?"), ends()]
    model = ScriptedChatModel(*plans, plans[1], ends())
    made = supervisor(friend, chat_model=model)
    assert style.invoke(made, memory_id="a", request="x") == "Ana"
    assert texts(replies.requests[1]) == ["I am Ana", "noted", "Who am I?"]
    assert style.invoke(made, memory_id="b", request="x") == "who?"
    assert texts(replies.requests[2]) == ["Who am I?"]


def test_runs_side_by_side_do_not_know_of_one_another(bank: Any) -> None:
    """AGT-12"""

    def answer(request: ChatRequest) -> str:
        said = texts(request)
        return ends() if len(said) > 2 else does("echo", text=said[1].split("\n")[1])

    def echo(text: str) -> str:
        """Echoes."""
        return text

    model = ScriptedChatModel(*[answer] * 40)
    made = supervisor(echo, chat_model=model)

    async def all_at_once() -> list[Any]:
        return await asyncio.gather(*(made.ainvoke(request=f"number {n}") for n in range(20)))

    assert asyncio.run(all_at_once()) == [f"number {n}" for n in range(20)]

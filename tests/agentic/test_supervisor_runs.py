"""Supervisors in runs: failures, time, people, memory, other composites."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated, Any, Protocol

import pytest

import aiservices
from aiservices import InMemoryStore, MemoryId, MessageWindowChatMemory
from aiservices.agentic import (
    AgentCompleted,
    Completed,
    Failed,
    Suspended,
    agent,
    human_in_the_loop,
    sequence,
    supervisor,
)
from aiservices.errors import (
    ConfigurationError,
    OutputTruncatedError,
    RefusalError,
)
from aiservices.messages import AiMessage, ChatRequest, ChatResponse, FinishReason, TokenUsage
from aiservices.testing import ScriptedChatModel

from .banking import does, ends, texts
from .styles import Style


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
    first = does("debit", user="Ann", amount=1), does("debit", user="Ann", amount=4)
    down = does("nobody"), OSError("the model is down")
    model = ScriptedChatModel(*first, *down, does("credit", user="Bob", amount=5))
    made = supervisor(*bank, chat_model=model, store=store, max_invocations=3)
    assert isinstance(style.run(made, memory_id=1, request="x"), Failed)
    outcome = style.resume(made, 1)
    assert isinstance(outcome, Completed)
    assert outcome.stop_reason == "limit"
    assert accounts == {"Ann": 95, "Bob": 25}
    assert texts(model.requests[4]) == texts(model.requests[2])


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

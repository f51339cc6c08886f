"""The executor as type checkers see it: functions know what they are given, decisions are decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import aclosing, closing
from typing import Any, assert_type

from aiservices import ChatMessage, ChatModel, ModelEvent, Restarted
from aiservices.react import (
    AgentExecutor,
    AgentState,
    Approve,
    Channel,
    Decision,
    Edit,
    MessageWindow,
    NodeOutput,
    Refuse,
    Skill,
    SkillInjector,
    StopReason,
    Summary,
    as_tool,
    react,
)
from aiservices.tools import Tool


def order(book: str) -> str:
    return book


async def newest(messages: Sequence[ChatMessage], state: AgentState) -> list[ChatMessage]:
    return [*messages[-state["shown"] :]]


def policies(model: ChatModel) -> Iterable[AgentExecutor]:
    injector = SkillInjector(resolver={"order": "shipping"}, skills=[Skill("shipping", "How", "Ask.")])
    yield react(chat_model=model, conversation_policy=lambda messages, state: messages[-5:])
    yield react(chat_model=model, conversation_policy=newest)
    yield react(chat_model=model, conversation_policy=MessageWindow(5))
    yield react(chat_model=model, conversation_policy=Summary(model))
    yield react(chat_model=model, conversation_policy=injector.conversation_policy(MessageWindow(5)))


agent = react(
    chat_model="local",
    tools=[order],
    approvals={"order": lambda call, state: "book" in call.arguments and not state.active_skills},
    channels={"shown": Channel(lambda old, new: old + new, default=5)},
)
state = agent.invoke("Order Emma.", "ann")
assert_type(state, AgentState)
assert_type(state.stop_reason, StopReason | None)
for output in agent.stream("And Emma?", tokens=True):
    assert_type(output, NodeOutput)
    assert_type(output.event, ModelEvent | Restarted | None)

for output in agent.resume_stream("ann", Approve(), tokens=True):
    assert_type(output, NodeOutput)


async def left_early() -> None:
    with closing(agent.stream("And Emma?")) as outputs:
        assert_type(next(outputs), NodeOutput)
    async with aclosing(agent.aresume_stream("ann")) as coming:
        assert_type(await anext(coming), NodeOutput)


# Decisions
assert_type(agent.resume("ann"), AgentState)
agent.resume("ann", Approve())
agent.resume("ann", {call.id: Refuse("too expensive") for call in state.pending})
both: dict[str, Decision] = {"c1": Approve(), "c2": Edit({"book": "Emma"})}
agent.resume("ann", both)
agent.new_session().resume(Approve())


async def decide(agent: AgentExecutor) -> None:
    assert_type(await agent.aresume("ann", both), AgentState)
    assert_type(await agent.new_session().aresume(Refuse()), AgentState)
    await agent.aresume("ann", True)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


agent.resume("ann", True)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
agent.resume("ann", {"c1": "yes"})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
agent.new_session().resume("yes")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# Agents as tools
assert_type(agent.as_tool(name="librarian", timeout=60, remembers=True), Tool[..., Any])
assert_type(as_tool(order, on_failure=lambda error: f"sorry: {error}"), Tool[..., Any])
assert_type(as_tool(agent, description="Knows books."), Tool[..., Any])
agent.as_tool(time_out=60)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
agent.as_tool(timeout="60")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

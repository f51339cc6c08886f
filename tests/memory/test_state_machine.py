"""Random conversations beside a simple model of what memory must hold after each step."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from aiservices import (
    AiMessage,
    ChatMessage,
    ChatModel,
    ChatRequest,
    ChatResponse,
    InMemoryStore,
    Limits,
    MessageWindowChatMemory,
    SystemMessage,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    messages_from_json,
    tool,
)
from tests.asking import answer
from tests.memory.conversing import chat, problems, short

IDS = ["ann", "bob"]
ROUNDS = 3


class Script(ChatModel):
    """Answers what the step says; every request is noted."""

    def __init__(self) -> None:
        self.replies: list[Any] = []
        self.requests: list[ChatRequest] = []

    async def achat(self, request: ChatRequest) -> ChatResponse:
        self.requests.append(request)
        reply = self.replies.pop(0)
        if callable(reply):
            reply = await reply()
        if isinstance(reply, Exception):
            raise reply
        return ChatResponse(reply) if isinstance(reply, AiMessage) else answer(reply)


class Conversations(RuleBasedStateMachine):
    """Calls that end in every way, with windows that change, and another process that talks too."""

    @initialize()
    def begin(self) -> None:
        self.script, self.store, self.count = Script(), InMemoryStore(), 0
        self.windows = dict.fromkeys(IDS, 8)
        self.expected: dict[str, list[ChatMessage]] = {id: [] for id in IDS}
        self.system: list[SystemMessage] = []

        @tool
        def look() -> str:
            """Look."""
            return "seen"

        @tool
        def fail() -> str:
            """Fail."""
            raise LookupError("nothing there")

        def judged(error: Any, context: Any) -> str:
            if self.tools_may_end_it:
                raise error
            return "it failed"

        self.tools_may_end_it = False
        self.service = chat(
            self.script,
            self.memory,
            tools=[look, fail],
            on_tool_error=judged,
            limits=Limits(max_round_trips=ROUNDS),
            system_message=lambda context: self.system[0].text if self.system else None,
        )

    def memory(self, id: str) -> MessageWindowChatMemory:
        return MessageWindowChatMemory(self.windows[id], id, self.store)

    def said(self, id: str) -> list[ChatMessage]:
        entry = self.store.get("chat", id)
        return list(messages_from_json(entry.value)) if entry else []

    def happened(self, id: str, *turn: ChatMessage) -> None:
        """What the simple model does: append, then drop the oldest until it fits."""
        whole = [*self.expected[id], *turn]
        systems = [item for item in whole if isinstance(item, SystemMessage)]
        rest = [item for item in whole if not isinstance(item, SystemMessage)]
        newest = max(index for index, item in enumerate(rest) if isinstance(item, UserMessage))
        room = self.windows[id] - len(systems[-1:])
        while len(rest) > room and newest > 0:  # whole exchanges, the oldest first
            rest.pop(0)
            newest -= 1
            while not isinstance(rest[0], UserMessage):
                rest.pop(0)
                newest -= 1
        while len(rest) > room and len(rest) > 1:  # then rounds of the newest exchange
            del rest[1]
            while len(rest) > 1 and isinstance(rest[1], ToolResultMessage):
                del rest[1]
        self.expected[id] = [*systems[-1:], *rest]

    @rule(id=st.sampled_from(IDS), number=st.integers(1, 12))
    def set_window(self, id: str, number: int) -> None:
        self.windows[id] = number
        known = self.service.__aiservices_memories__._kept.get(id)
        if known is not None:
            known.max_messages = number

    @rule(name=st.sampled_from(["S1", "S2", ""]))
    def set_system(self, name: str) -> None:
        self.system = [SystemMessage(name)] if name else []

    @rule(id=st.sampled_from(IDS))
    def forget(self, id: str) -> None:
        self.memory(id).clear()
        self.expected[id] = []

    @rule(id=st.sampled_from(IDS))
    def another_process(self, id: str) -> None:
        self.count += 1
        turn = (UserMessage(f"other{self.count}"), AiMessage(f"o{self.count}"))
        self.memory(id).add(*turn)
        self.happened(id, *turn)

    @rule(
        id=st.sampled_from(IDS),
        rounds=st.lists(st.lists(st.booleans(), min_size=1, max_size=2), max_size=ROUNDS + 1),
        end=st.sampled_from(["answer", "empty", "error", "cancel", "tool"]),
        meanwhile=st.booleans(),
        blocking=st.booleans(),
    )
    def call(self, id: str, rounds: list[list[bool]], end: str, meanwhile: bool, blocking: bool) -> None:
        self.count += 1
        user = UserMessage(f"U{self.count}")
        asked = [self.asking(number, well) for number, well in enumerate(rounds)]
        self.script.replies = [*asked, *self.ending(end)]
        if meanwhile:
            self.script.replies.insert(0, self.then(self.script.replies.pop(0), id))
        self.tools_may_end_it = end == "tool" and not all(all(well) for well in rounds)
        ended = self.run(id, user.text, blocking)
        turn: list[ChatMessage] = [*self.system, user]
        for message in asked[: self.finished(rounds, end)]:
            turn += [message, *(self.result(call) for call in message.tool_calls)]
        if ended == "answered":
            turn += [AiMessage("fine")]
        if len(turn) > len(self.system) + 1:
            self.happened(id, *turn)

    def finished(self, rounds: list[list[bool]], end: str) -> int:
        """How many rounds were run: up to the limit, or to the first that may end the call and fails."""
        failing = (index + 1 for index, well in enumerate(rounds) if not all(well))
        return min(len(rounds), ROUNDS, next(failing, ROUNDS) if end == "tool" else ROUNDS)

    def asking(self, number: int, well: list[bool]) -> AiMessage:
        name = {True: "look", False: "fail"}
        ids = [f"c{self.count}.{number}.{index}" for index in range(len(well))]
        return AiMessage(None, [ToolCall(id, name[good], "{}") for id, good in zip(ids, well, strict=True)])

    def result(self, call: ToolCall) -> ToolResultMessage:
        return ToolResultMessage(call.id, call.name, "seen" if call.name == "look" else "it failed")

    def ending(self, end: str) -> list[Any]:
        async def cancel() -> str:
            task = asyncio.current_task()
            assert task
            task.cancel()
            await asyncio.sleep(0)
            return "never"

        ends: dict[str, list[Any]] = {"empty": [""], "error": [OSError("down")], "cancel": [cancel]}
        return ends.get(end, ["fine"])

    def then(self, reply: Any, id: str) -> Callable[[], Any]:
        """The reply, after another process has talked."""

        async def talked() -> Any:
            self.another_process(id)
            return await reply() if callable(reply) else reply

        return talked

    def run(self, id: str, text: str, blocking: bool) -> str:
        try:
            if blocking:
                self.service.say(id, text)
            else:
                asyncio.run(self.service.asay(id, text))
        except (Exception, asyncio.CancelledError):
            return "failed"
        return "answered"

    @invariant()
    def what_happened_is_what_is_kept(self) -> None:
        for id in IDS:
            kept = self.said(id)
            assert not problems(kept), short(kept)
            assert short(kept) == short(self.expected[id])

    @invariant()
    def what_was_sent_was_valid(self) -> None:
        for request in self.script.requests:
            assert not problems(request.messages), short(request.messages)
        self.script.requests.clear()


Conversations.TestCase.settings = settings(max_examples=60, stateful_step_count=12, deadline=None)
test_conversations = pytest.mark.filterwarnings("error")(Conversations.TestCase)

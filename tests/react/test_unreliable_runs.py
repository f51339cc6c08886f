"""Whatever fails in a run, and whenever: each call has one result, in order, and none runs again."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiservices import AiMessage, ChatModel, ChatRequest, ChatResponse, InMemoryStore, ToolCall, ToolContext
from aiservices.errors import AgentError, LimitExceededError, StoreError
from aiservices.messages import ToolResultMessage
from aiservices.react import AgentState, Approve, Edit, Refuse, react
from aiservices.tools import Limits
from tests.react.asking import STYLES, agent, assert_paired, call, calls, short


class Unreliable(InMemoryStore):
    """Fails once, at the operation of this number, before or after it has done its work."""

    def __init__(self, at: int | None = None, *, after: bool = False) -> None:
        super().__init__()
        self.at = at
        self.after = after

    def _done(self, operation: Any, namespace: str, key: str, *args: Any, **options: Any) -> Any:
        self.at = None if self.at is None else self.at - 1
        given = operation(namespace, key, *args, **options) if self.at != 0 or self.after else None
        if self.at == 0:
            raise StoreError("the store is down", namespace=namespace, key=key)
        return given

    def get(self, *args: Any) -> Any:
        return self._done(super().get, *args)

    def put(self, *args: Any, **options: Any) -> Any:
        return self._done(super().put, *args, **options)

    def delete(self, *args: Any, **options: Any) -> Any:
        return self._done(super().delete, *args, **options)


class Noting:
    """A tool that notes under which keys it ran."""

    def __init__(self) -> None:
        self.ran = Counter[str]()

    def note(self, context: ToolContext) -> str:
        self.ran[context.idempotency_key] += 1
        return context.idempotency_key.rpartition(":")[2]


def planned(request: ChatRequest) -> Any:
    """What comes next in a conversation of two rounds."""
    done = sum(isinstance(item, AiMessage) for item in request.messages)
    return [[call("note", "a"), call("note", "b"), call("note", "c")], [call("note", "d")], "ok"][done]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("after", [True, False])
def test_a_run_goes_on_wherever_the_store_has_failed(style: str, after: bool) -> None:
    for number in range(1, 100):
        noting, store = Noting(), Unreliable(after=after)
        asked, _ = agent(
            *[planned] * 9,
            tools=[noting.note],
            approvals={"note": lambda asked, state: asked.id in "acd"},
            checkpointer=store,
            max_steps=None,
        )
        store.at = number
        with suppress(StoreError):
            state = calls(style, asked, "invoke", "go", "t")
            while state.pending:
                state = calls(style, asked, "resume", "t", {state.pending[0].id: Approve()})
        has_ended, store.at = store.at is not None and store.at > 0, None
        if not asked.history("t"):
            continue
        state = calls(style, asked, "resume", "t")
        while state.pending:
            state = calls(style, asked, "resume", "t", {state.pending[0].id: Approve()})
        assert short(state.messages) == ["U:go", "A?a,b,c", "R:a", "R:b", "R:c", "A?d", "R:d", "A:ok"]
        assert list(noting.ran.values()) == [1] * 4
        if has_ended:
            return
    raise AssertionError("it never ended")


class WhimError(Exception):
    """What fails for no reason."""


class Whims(ChatModel):
    """A model, a hook, a provider and a policy that do as they like."""

    dynamic = True

    def __init__(self, random: Random) -> None:
        self.random = random

    def happens(self, share: float = 0.05) -> bool:
        return self.random.random() < share

    def fail(self) -> None:
        if self.happens():
            raise WhimError

    def chat(self, request: ChatRequest) -> ChatResponse:
        self.fail()
        if self.happens(0.3):
            return ChatResponse(AiMessage("ok"))
        pick = self.random.choice
        names, ids, arguments = ["good", "bad", "guarded", "more", "none"], ["c1", "c2", ""], ["{}", "{"]
        asked = [ToolCall(pick(ids), pick(names), pick(arguments)) for _ in range(pick([1, 2, 3]))]
        return ChatResponse(AiMessage(tool_calls=asked))

    def provide(self, request: Any) -> list[Any]:
        def more() -> str:
            return "more"

        self.fail()
        return [more] if self.happens(0.7) else []

    def waits(self, asked: ToolCall, state: AgentState) -> bool:
        self.fail()
        return self.happens(0.8)

    def around(self, state: AgentState, proceed: Any) -> Any:
        self.fail()
        update = proceed(state)
        return proceed(state) if self.happens(0.3) else update

    def after(self, state: AgentState, update: Any) -> Any:
        self.fail()
        said = update.get("messages", ())
        if all(isinstance(item, ToolResultMessage) for item in said):
            return {**update, "messages": self.random.choice([said, said[::-1], said[1:]])}
        return None


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_thread_is_whole_after_whatever_has_failed(random: Random) -> None:
    whims, store, ran = Whims(random), Unreliable(), Counter[str]()

    def good(context: ToolContext) -> str:
        ran[context.idempotency_key] += 1
        return "good"

    def guarded(context: ToolContext) -> str:
        return good(context)

    def bad(context: ToolContext) -> str:
        good(context)
        raise WhimError

    asked = react(
        chat_model=whims,
        tools=[good, bad, guarded],
        tool_providers=[whims],
        approvals={"guarded": whims.waits},
        execute_tools_hooks=[whims] if random.random() < 0.5 else [],
        checkpointer=store,
        parallel_tools=False,
        limits=Limits(max_tool_calls=random.choice([None, 4])),
    )
    for _ in range(random.randint(1, 6)):
        pending = asked.state("t").pending if asked.history("t") else ()
        store.at = random.choice([None, random.randint(1, 25)])
        with suppress(WhimError, StoreError, LimitExceededError, AgentError):
            if pending:
                decisions = {item.id: random.choice([Approve(), Refuse(), Edit({})]) for item in pending}
                asked.resume("t", {id: decisions[id] for id in list(decisions)[: random.randint(1, 3)]})
            elif random.random() < 0.5:
                asked.resume("t")
            else:
                asked.invoke("go", "t")
        store.at = None
        for newest in asked.history("t")[:1]:
            said = newest.state.messages
            assert_paired(said[:-1] if newest.next == "action" else said)
            assert not newest.state.pending or newest.next == "action"
        assert all(times == 1 for times in ran.values())

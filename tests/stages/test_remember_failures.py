"""What a call that fails, is cancelled or cannot be kept leaves in memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from aiservices import (
    InMemoryStore,
    LimitExceededError,
    Limits,
    MessageWindowChatMemory,
    OutputParsingError,
    StoreError,
    ToolCall,
    ToolResultMessage,
    messages_from_json,
    tool,
)
from tests.memory.conversing import a_tool, asks, problems, remembering, short, written


@tool
def fails() -> str:
    """Fail."""
    raise RuntimeError("broken")


@pytest.mark.parametrize("failure", [RuntimeError("down"), "x"], ids=["the model", "the answer"])
def test_a_call_that_fails_before_any_tool_ran_leaves_memory_as_it_was(invoke: Any, failure: Any) -> None:
    memory = MessageWindowChatMemory(10)
    memory.add(*written("U A"))
    service, _ = remembering(int, memory, failure, failure)
    with pytest.raises((RuntimeError, OutputParsingError)):
        invoke(service, "ask", "U2")
    assert short(memory.messages()) == "U A"


def test_a_limit_that_forbids_the_first_round_leaves_memory_as_it_was(invoke: Any) -> None:
    memory = MessageWindowChatMemory(10)
    service, _ = remembering(str, memory, asks("a"), tools=[a_tool()], limits=Limits(max_round_trips=0))
    with pytest.raises(LimitExceededError):
        invoke(service, "ask", "U")
    assert memory.messages() == ()


def test_a_limit_that_forbids_a_later_round_leaves_the_finished_ones(invoke: Any) -> None:
    memory = MessageWindowChatMemory(10)
    service, _ = remembering(
        str, memory, asks("a"), asks("b"), tools=[a_tool()], limits=Limits(max_round_trips=1)
    )
    with pytest.raises(LimitExceededError):
        invoke(service, "ask", "U")
    assert short(memory.messages()) == "U A:a R:a"


@pytest.mark.parametrize("failure", [RuntimeError("down"), "x"], ids=["the model", "the answer"])
def test_a_call_that_fails_after_a_round_leaves_the_question_and_the_round(invoke: Any, failure: Any) -> None:
    memory = MessageWindowChatMemory(10)
    service, _ = remembering(int, memory, asks("a"), failure, failure, tools=[a_tool()])
    with pytest.raises((RuntimeError, OutputParsingError)):
        invoke(service, "ask", "U")
    assert short(memory.messages()) == "U A:a R:a"
    service, model = remembering(int, memory, "7")
    assert invoke(service, "ask", "again") == 7
    assert short(model.request.messages).startswith("U A:a R:a again")


def test_a_tool_that_ends_the_call_has_a_result_in_memory(invoke: Any) -> None:
    """TOOL-05, with the policy that raises"""
    memory = MessageWindowChatMemory(10)
    service, model = remembering(
        str, memory, asks("a", name="fails"), "hi", tools=[fails], on_tool_error="raise"
    )
    with pytest.raises(Exception, match="broken"):
        invoke(service, "ask", "U")
    assert short(memory.messages()) == "U A:a R:a"
    assert invoke(service, "ask", "again") == "hi"
    assert not problems(model.requests[-1].messages)


def test_arguments_that_are_no_json_do_not_spoil_the_conversation(invoke: Any) -> None:
    """TOOL-05"""

    @tool
    def commit(id: str, body: str) -> str:
        """Commit."""
        return "done"

    memory = MessageWindowChatMemory(10)
    broken = ToolCall("c1", "commit", '{"id":"7", "body": "line1')
    service, model = remembering(str, memory, broken, "sorry", "hi", tools=[commit])
    assert invoke(service, "ask", "U1") == "sorry"
    assert invoke(service, "ask", "U2") == "hi"
    assert short(model.requests[2].messages) == "U1 A:c1 R:c1 sorry U2"
    assert model.requests[2].messages[2].is_error


def test_what_was_undone_is_told_so_in_memory(invoke: Any) -> None:
    undone = []

    @tool
    def book() -> str:
        """Book."""
        return "booked"

    @book.compensation
    def cancel() -> None:
        undone.append(1)

    memory = MessageWindowChatMemory(10)
    service, _ = remembering(str, memory, asks("a", name="book"), RuntimeError("down"), tools=[book])
    with pytest.raises(RuntimeError):
        invoke(service, "ask", "U")
    _, _, result = memory.messages()
    assert isinstance(result, ToolResultMessage)
    assert undone
    assert result.is_error
    assert result.text != "booked"


@pytest.mark.anyio
async def test_a_cancelled_call_keeps_what_its_tools_have_done_and_nothing_else() -> None:
    reached, memory = asyncio.Event(), MessageWindowChatMemory(10)

    async def hang(request: Any) -> str:
        reached.set()
        await asyncio.sleep(60)
        return "never"

    async def cancelled(*replies: Any) -> None:
        reached.clear()
        service, _ = remembering(str, memory, *replies, tools=[a_tool()])
        task = asyncio.create_task(service.aask("U"))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    await cancelled(hang)
    assert memory.messages() == ()
    await cancelled(asks("a"), hang)
    assert short(memory.messages()) == "U A:a R:a"
    service, model = remembering(str, memory, "hi")
    assert await service.aask("again") == "hi"
    assert short(model.request.messages) == "U A:a R:a again"


@pytest.mark.anyio
async def test_a_call_cancelled_while_it_is_kept_is_kept_whole() -> None:
    class Slow(InMemoryStore):
        begun = asyncio.Event()

        async def aput(self, *args: Any, **options: Any) -> int:
            self.begun.set()
            await asyncio.sleep(0.02)
            return await super().aput(*args, **options)

    store = Slow()
    service, _ = remembering(str, MessageWindowChatMemory(10, store=store), "ok")
    task = asyncio.create_task(service.aask("U"))
    await store.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    entry = store.get("chat", "default")
    assert entry
    assert short(messages_from_json(entry.value)) == "U ok"


class Full(InMemoryStore):
    """Cannot be written to any more."""

    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        raise StoreError("the disk is full", namespace=namespace, key=key)


def test_an_answer_that_cannot_be_kept_is_an_error_that_carries_it(invoke: Any) -> None:
    service, _ = remembering(
        str, MessageWindowChatMemory(10, store=Full()), asks("a"), "ok", tools=[a_tool()]
    )
    with pytest.raises(StoreError, match="full") as caught:
        invoke(service, "ask", "U")
    assert (caught.value.namespace, caught.value.key) == ("chat", "default")
    assert short(caught.value.turn) == "U A:a R:a ok"
    assert caught.value.responses[-1].text == "ok"
    assert len(caught.value.tool_executions) == 1


def test_why_a_call_failed_is_not_hidden_by_a_store_that_fails_too(
    invoke: Any, caplog: pytest.LogCaptureFixture
) -> None:
    failure = RuntimeError("down")
    service, _ = remembering(
        str, MessageWindowChatMemory(10, store=Full()), asks("a"), failure, tools=[a_tool()]
    )
    with pytest.raises(RuntimeError, match="down") as caught:
        invoke(service, "ask", "U")
    assert "could not be kept in memory: StoreError: the disk is full" in caught.value.__notes__[0]
    assert "could not be kept" in caplog.text


def test_words_that_no_store_can_hold_are_an_error_that_says_where(invoke: Any) -> None:
    """MEM-11"""
    memory = MessageWindowChatMemory(10)
    service, _ = remembering(str, memory, "half \ud83d")
    with pytest.raises(StoreError, match="'default' in 'chat' cannot be kept: message 1: text"):
        invoke(service, "ask", "U")
    assert memory.messages() == ()

"""Calls of one conversation take turns; a call within a call never waits for itself."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from aiservices import (
    ChatModel,
    ChatRequest,
    ChatResponse,
    InMemoryStore,
    MemoryInUseError,
    MessageWindowChatMemory,
    ToolCall,
    ToolFailedError,
    ToolResultMessage,
    tool,
)
from aiservices.memory import LOCKS
from aiservices.testing import ScriptedChatModel
from tests.asking import answer
from tests.memory.conversing import asks, chat, problems, short

SECONDS = 10


class Turns(ChatModel):
    """Asks for the tool `slow` once in every call, then says what was asked."""

    def __init__(self) -> None:
        self.requests: list[ChatRequest] = []

    def chat(self, request: ChatRequest) -> ChatResponse:
        self.requests.append(request)
        last = request.messages[-1]
        if isinstance(last, ToolResultMessage):
            return answer(f"done {request.messages[-3].text}")  # type: ignore[union-attr]
        return ChatResponse(asks(f"{last.text}", name="slow"))  # type: ignore[union-attr]


def slow(seconds: float) -> Any:
    @tool
    async def slow() -> str:
        """Take a while."""
        await asyncio.sleep(seconds)
        return "done"

    return slow


def in_threads(service: Any, *calls: tuple[str, str]) -> None:
    with ThreadPoolExecutor(len(calls)) as pool:
        for _ in pool.map(lambda call: service.say(*call), calls):
            pass


def in_tasks(service: Any, *calls: tuple[str, str]) -> None:
    async def main() -> None:
        await asyncio.wait_for(asyncio.gather(*(service.asay(*call) for call in calls)), SECONDS)

    asyncio.run(main())


def in_both(service: Any, *calls: tuple[str, str]) -> None:
    thread = threading.Thread(target=in_threads, args=(service, *calls[::2]))
    thread.start()
    in_tasks(service, *calls[1::2])
    thread.join(SECONDS)
    assert not thread.is_alive()


TOGETHER = pytest.mark.parametrize("run", [in_threads, in_tasks, in_both])


@TOGETHER
@pytest.mark.parametrize("services", [1, 2])
def test_calls_of_one_conversation_take_turns(run: Any, services: int) -> None:
    """MEM-02, also through two services on one store"""
    model, store = Turns(), InMemoryStore()

    def provider(id: Any) -> MessageWindowChatMemory:
        return MessageWindowChatMemory(100, id, store)

    made = [chat(model, provider, tools=[slow(0.002)]) for _ in range(services)]

    class Both:
        def say(self, id: str, text: str) -> Any:
            return made[int(text[1:]) % services].say(id, text)

        async def asay(self, id: str, text: str) -> Any:
            return await made[int(text[1:]) % services].asay(id, text)

    run(Both(), *(("ann", f"q{number}") for number in range(8)))
    turns = short(provider("ann").messages()).replace("done q", "done ").split(" q")
    turns[0] = turns[0].removeprefix("q")
    assert sorted(turns) == [f"{n} A:q{n} R:q{n} done {n}" for n in range(8)]
    assert not any(problems(request.messages) for request in model.requests)
    assert len(model.requests) == 16
    assert not LOCKS._wanted


@TOGETHER
def test_different_conversations_run_side_by_side(run: Any) -> None:
    service = chat(Turns(), lambda id: MessageWindowChatMemory(9, id), tools=[slow(0.1)])
    begin = time.perf_counter()
    run(service, *((f"user {number}", "q") for number in range(8)))
    assert time.perf_counter() - begin < 0.6


@pytest.mark.anyio
async def test_who_gives_up_waiting_leaves_the_line_and_nothing_in_memory() -> None:
    memory = MessageWindowChatMemory(9)
    service = chat(Turns(), lambda id: memory, tools=[slow(0.05)])
    first = asyncio.create_task(service.asay("ann", "q1"))
    await asyncio.sleep(0.01)
    second = asyncio.create_task(service.asay("ann", "q2"))
    third = asyncio.create_task(service.asay("ann", "q3"))
    await asyncio.sleep(0.01)
    second.cancel()
    await asyncio.wait_for(asyncio.gather(first, third), SECONDS)
    assert "q2" not in short(memory.messages())


def again_and(service: list[Any], id: str) -> tuple[Any, Any]:
    """A blocking and an asynchronous tool that call the service."""

    @tool(name="again")
    def again() -> str:
        """Ask again."""
        return str(service[0].say(id, "inner"))

    @tool(name="again")
    async def aagain() -> str:
        """Ask again."""
        return str(await service[0].asay(id, "inner"))

    return again, aagain


@pytest.mark.parametrize("kind", [0, 1], ids=["blocking tool", "asynchronous tool"])
@pytest.mark.parametrize("number", [1, 3])
def test_a_tool_cannot_use_the_conversation_it_is_called_in(invoke: Any, kind: int, number: int) -> None:
    """TOOL-39"""
    service: list[Any] = []
    memory = MessageWindowChatMemory(20)
    model = ScriptedChatModel(asks(*"abc"[:number], name="again"), "out")
    service.append(chat(model, lambda id: memory, tools=[again_and(service, "u1")[kind]]))
    assert _within_time(lambda: invoke(service[0], "say", "u1", "q")) == "out"
    results = [message for message in model.requests[1].messages if isinstance(message, ToolResultMessage)]
    assert len(results) == number
    assert all("MemoryInUseError" in result.text and result.is_error for result in results)
    assert not problems(memory.messages())


@pytest.mark.parametrize("kind", [0, 1], ids=["blocking tool", "asynchronous tool"])
def test_the_error_reaches_the_caller_when_tools_may_raise(invoke: Any, kind: int) -> None:
    service: list[Any] = []
    model = ScriptedChatModel(asks("a", name="again"))
    made = chat(
        model,
        lambda id: MessageWindowChatMemory(9, id),
        tools=[again_and(service, "u1")[kind]],
        on_tool_error="raise",
    )
    service.append(made)
    with pytest.raises(ToolFailedError, match=r"Chat\.a?say: the memory 'u1' is in use") as caught:
        _within_time(lambda: invoke(made, "say", "u1", "q"))
    assert isinstance(caught.value.__cause__, MemoryInUseError)


@pytest.mark.parametrize("kind", [0, 1], ids=["blocking tool", "asynchronous tool"])
def test_a_tool_may_use_another_conversation(invoke: Any, kind: int) -> None:
    """TOOL-39"""
    service: list[Any] = []
    memories = {id: MessageWindowChatMemory(9, id) for id in ("u1", "u2")}
    model = ScriptedChatModel(asks("a", name="again"), "in", "out")
    service.append(chat(model, memories.__getitem__, tools=[again_and(service, "u2")[kind]]))
    assert _within_time(lambda: invoke(service[0], "say", "u1", "q")) == "out"
    assert short(memories["u1"].messages()) == "q A:a R:a out"
    assert short(memories["u2"].messages()) == "inner in"


def test_two_conversations_whose_tools_use_each_other_do_not_wait_for_ever() -> None:
    both = threading.Barrier(2)
    service: list[Any] = []

    @tool
    def ask_other(id: str) -> str:
        """Ask in another conversation."""
        both.wait(SECONDS)
        return str(service[0].say(id, "inner"))

    def reply(request: ChatRequest) -> Any:
        last = request.messages[-1]
        if isinstance(last, ToolResultMessage) or last.text == "inner":  # type: ignore[union-attr]
            return "fine"
        return ToolCall("c", "ask_other", f'{{"id": "{last.text}"}}')  # type: ignore[union-attr]

    service.append(chat([reply] * 5, lambda id: MessageWindowChatMemory(9, id), tools=[ask_other]))
    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(service[0].say, *ids) for ids in (("a", "b"), ("b", "a"))]
        assert [future.result(SECONDS) for future in futures] == ["fine", "fine"]


@pytest.mark.anyio
async def test_a_blocking_call_in_asynchronous_code_does_not_stop_its_own_loop() -> None:
    reached = asyncio.Event()

    async def hang(request: ChatRequest) -> str:
        reached.set()
        await asyncio.sleep(0.05)
        return "one"

    service = chat([hang, "two", "three"], lambda id: MessageWindowChatMemory(9, id))
    task = asyncio.create_task(service.asay("ann", "q1"))
    await reached.wait()
    assert service.say("bob", "q2") == "two"  # another conversation
    with pytest.raises(RuntimeError, match="await the asynchronous variant"):
        service.say("ann", "q3")  # would wait for the task, which could not go on
    assert await task == "one"
    assert service.say("ann", "q4") == "three"


@pytest.mark.anyio
async def test_a_task_that_a_tool_has_left_behind_may_use_the_conversation_afterwards() -> None:
    service: list[Any] = []
    over, tasks = asyncio.Event(), []

    @tool
    async def look() -> str:
        """Look."""

        async def later() -> str:
            await over.wait()
            return str(await service[0].asay("ann", "later"))

        tasks.append(asyncio.create_task(later()))
        return "seen"

    service.append(chat([asks("a"), "ok", "fine"], lambda id: MessageWindowChatMemory(9, id), tools=[look]))
    assert await service[0].asay("ann", "q") == "ok"
    over.set()
    assert await asyncio.wait_for(tasks[0], SECONDS) == "fine"


def test_a_forked_child_is_not_blocked_by_a_call_of_its_parent() -> None:
    """ASY-12"""
    begun, over = threading.Event(), threading.Event()

    def reply(request: ChatRequest) -> str:
        begun.set()
        over.wait(SECONDS)
        return "ok"

    service = chat([reply, "ok"], lambda id: MessageWindowChatMemory(9, id))
    thread = threading.Thread(target=service.say, args=("ann", "q"))
    thread.start()
    begun.wait(SECONDS)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            over.set()
            status = 0 if service.say("ann", "in the child") == "ok" else 2
        finally:
            os._exit(status)
    deadline = time.monotonic() + SECONDS
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    over.set()
    thread.join(SECONDS)
    assert ended == (child, 0)


def _within_time(function: Any) -> Any:
    """What a function gives; one that hangs is a failure and no hang of the tests."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(function())
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert found, "it hangs"
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]

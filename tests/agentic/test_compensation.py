"""When a system of agents fails, what the tools of its services did is undone, if that is asked for."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, Protocol

import pytest

import aiservices
from aiservices import Compensated, InMemoryStore, ToolCall, tool
from aiservices.agentic import Recovery, agent, parallel, sequence
from aiservices.testing import ScriptedChatModel

from .styles import Log, Style, fails_once, value_of


class Teller(Protocol):
    @agent
    def act(self, task: str) -> str: ...


class Bank:
    """Tools that credit and debit, their undos, and one without."""

    def __init__(self, *, fails: str = "") -> None:
        self.done: list[str] = []
        self.heard: list[Any] = []

        @tool
        def credit(amount: int) -> str:
            return self._does(f"credit:{amount}")

        @credit.compensation
        def uncredit(amount: int) -> None:
            self._does(f"uncredit:{amount}")

        @tool
        def debit(amount: int) -> str:
            return self._does(f"debit:{amount}")

        @debit.compensation
        def undebit(amount: int) -> None:
            if fails == "undebit":
                raise OSError("no line to the bank")
            self._does(f"undebit:{amount}")

        @tool
        def notify() -> str:
            return self._does("notify")

        self.tools = [credit, debit, notify]

    def _does(self, what: str) -> str:
        self.done.append(what)
        return "ok"

    def teller(self, *names: str, times: int = 1) -> Any:
        """A service that calls these tools; an agent."""
        calls = [ToolCall(name, name, "{}" if name == "notify" else '{"amount": 100}') for name in names]
        model = ScriptedChatModel(*([calls, "done"] * times))
        return aiservices.create(
            Teller, chat_model=model, tools=self.tools, parallel_tools=False, listeners=[self.heard.append]
        )


@pytest.mark.parametrize("compensate", [True, False])
def test_what_agents_did_is_undone_in_reverse_when_a_later_one_fails(
    style: Style, log: Log, compensate: bool
) -> None:
    """B1, B2, B3"""
    bank = Bank()
    failing = log.agent("failing", value=ZeroDivisionError)
    made = sequence(
        bank.teller("credit"), sequence(bank.teller("notify", "debit")), failing, compensate=compensate
    )
    with pytest.raises(ZeroDivisionError):
        style.invoke(made, task="pay")
    undone = ["undebit:100", "uncredit:100"] if compensate else []
    assert bank.done == ["credit:100", "notify", "debit:100", *undone]
    assert len([event for event in bank.heard if isinstance(event, Compensated)]) == len(undone)


def test_an_undo_that_fails_is_noted_and_the_others_run(style: Style, log: Log) -> None:
    """B4"""
    bank = Bank(fails="undebit")
    failing = log.agent("failing", value=ZeroDivisionError)
    made = sequence(bank.teller("credit", "debit"), failing, compensate=True)
    with pytest.raises(ZeroDivisionError) as caught:
        style.invoke(made, task="pay")
    assert bank.done == ["credit:100", "debit:100", "uncredit:100"]
    assert "what the tool 'debit' did could not be undone: OSError" in caught.value.__notes__


def test_nothing_is_undone_that_somebody_has_helped(style: Style, log: Log) -> None:
    bank = Bank()
    failing = log.agent("failing", value=ZeroDivisionError)
    made = sequence(
        bank.teller("credit"), failing, compensate=True, on_error=lambda context: Recovery.result("helped")
    )
    assert style.invoke(made, task="pay") == "helped"
    assert bank.done == ["credit:100"]


def test_only_the_composites_that_fail_are_undone_and_nothing_twice(style: Style, log: Log) -> None:
    bank = Bank()
    failing = log.agent("failing", value=ZeroDivisionError)
    inner = sequence(bank.teller("debit"), failing, compensate=True, name="inner")
    beside = sequence(bank.teller("credit"), name="beside")
    made = sequence(parallel(beside, inner), compensate=True)
    with pytest.raises(ZeroDivisionError):
        style.invoke(made, task="pay")
    assert sorted(bank.done) == ["credit:100", "debit:100", "uncredit:100", "undebit:100"]


def test_what_is_cancelled_is_undone_too(log: Log) -> None:
    bank = Bank()

    async def forever() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    made = sequence(bank.teller("credit"), forever, compensate=True)

    async def cancelled() -> None:
        with pytest.raises(asyncio.CancelledError):
            await made.ainvoke(task="pay")

    asyncio.run(cancelled())
    assert bank.done == ["credit:100", "uncredit:100"]


def test_what_was_undone_is_done_again_when_the_run_is_resumed(
    style: Style, store: InMemoryStore, log: Log
) -> None:
    bank = Bank()
    results = iter([ZeroDivisionError()])
    flaky = log.agent("flaky", value=lambda: next(results, None))
    made = sequence(
        log.agent("before"), sequence(bank.teller("credit", times=2), flaky, compensate=True), store=store
    )
    style.run(made, task="pay", memory_id="m")
    style.resume(made, "m")
    assert bank.done == ["credit:100", "uncredit:100", "credit:100"]
    assert log.ran == ["before", "flaky", "flaky"]


def test_a_whole_run_that_was_undone_is_done_again_when_it_is_resumed(
    style: Style, store: InMemoryStore, log: Log
) -> None:
    bank = Bank()
    made = sequence(bank.teller("credit", times=2), fails_once(log, "flaky"), compensate=True, store=store)
    style.run(made, task="pay", memory_id="m")
    outcome = style.resume(made, "m")
    assert value_of(outcome) == "flaky"
    assert bank.done == ["credit:100", "uncredit:100", "credit:100"]
    assert [each.agent for each in outcome.scope.invocations] == ["act", "flaky"]


@pytest.mark.parametrize("is_whole", [True, False])
def test_what_was_undone_when_it_was_cancelled_is_done_again(store: InMemoryStore, is_whole: bool) -> None:
    bank, begun = Bank(), asyncio.Event()

    async def forever_at_first() -> str:
        if not begun.is_set():
            begun.set()
            await asyncio.Event().wait()
        return "ended"

    whole = partial(sequence, bank.teller("credit", times=2), forever_at_first, compensate=True)
    made = whole(store=store) if is_whole else sequence(whole(), store=store)

    async def cancelled_and_resumed() -> Any:
        task = asyncio.ensure_future(made.arun(task="pay", memory_id="m"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await made.aresume("m")

    assert value_of(asyncio.run(cancelled_and_resumed())) == "ended"
    assert bank.done == ["credit:100", "uncredit:100", "credit:100"]

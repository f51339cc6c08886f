"""What a tool does when its invocation has failed already."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from typing import Any

import pytest

from aiservices import InMemoryStore, TimeLimit, ToolOutcome, tool
from aiservices.tools.leases import LEASES
from aiservices.tools.log import CALLS

from .calling import Invoke, World, boom, call, service, within


class Answering:
    """Answers in the place of a tool that takes too long."""

    def around(self, asked: Any, context: Any, proceed: Any) -> ToolOutcome:
        try:
            given: ToolOutcome = proceed(asked)
        except TimeoutError:
            return ToolOutcome("it is on its way")
        return given


@pytest.mark.parametrize("fails", [True, False])
@pytest.mark.parametrize("logged", [True, False])
def test_what_ends_after_the_invocation_has_failed_is_undone_too(
    invoke: Invoke, fails: bool, logged: bool
) -> None:
    world, go_on, store = World(), threading.Event(), InMemoryStore()

    @tool
    def book(what: str) -> str:
        go_on.wait(5)
        return world.book(what)

    book.compensation(world.cancel)

    def last(request: Any) -> str:
        if fails:
            raise OSError("the model is down")
        return "ok"

    asked, _ = service(
        call("book", what="a"),
        last,
        tools=[book],
        interceptors=[Answering(), TimeLimit(0.02)],
        compensation_log=store if logged else None,
    )
    with pytest.raises(OSError, match="down") if fails else nullcontext():
        invoke(asked, "ask", "hi")
    go_on.set()
    told = ["book a", "cancel a #a"] if fails else ["book a"]
    assert within(5, lambda: world.log == told)
    assert within(5, lambda: store.keys(CALLS) + store.keys(LEASES) == [])
    assert world.log == told


def test_an_undo_that_was_broken_off_is_run_again_when_the_invocation_fails(invoke: Invoke) -> None:
    world, interrupts = World(), [KeyboardInterrupt()]

    @tool
    def book(what: str) -> str:
        return world.book(what)

    @book.compensation
    def cancel(what: str, result: str) -> None:
        if interrupts:
            raise interrupts.pop()
        world.cancel(what, result)

    asked, _ = service([call("book", what="a"), call("boom")], tools=[book, boom], compensation="tool_error")
    with pytest.raises(KeyboardInterrupt):
        invoke(asked, "ask", "hi")
    assert world.log == ["book a", "cancel a #a"]

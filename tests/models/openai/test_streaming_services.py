"""Services that stream over a real connection, from servers that cut their answers in odd ways."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import aiservices
from aiservices import MessageWindowChatMemory, ModelError, Stream, TokenUsage, tool
from tests.models.fake_server import Script
from tests.models.openai.wire import DONE, USAGE, call_part, chunk, model
from tests.streams.services import read_until_it_fails
from tests.streams.styles import read, streaming

KINDS = pytest.mark.parametrize("kind", [Iterator[str], AsyncIterator[str]])
EMPTY: dict[str, Any] = {"id": "chatcmpl-1", "choices": []}


def asked(kind: Any, script: Script, **options: Any) -> Any:
    return aiservices.create(streaming(kind), chat_model=model(script), **options).ask("hi")


def test_chunks_without_choices_are_no_end(script: Script) -> None:
    """STR-04"""
    script.will_say(
        [EMPTY, chunk({"content": "he"}), chunk({"content": "llo"}, "stop"), EMPTY | {"usage": USAGE}]
    )
    stream = asked(Stream[str], script)
    assert list(stream.partials()) == ["he", "hello", "hello"]
    assert stream.result().usage == TokenUsage(9, 4, 3)


@KINDS
def test_an_error_among_the_events_reaches_the_reader(script: Script, kind: Any) -> None:
    """STR-05"""
    script.will_say([chunk({"content": "a"}), {"error": {"message": "tool_use_failed", "code": 400}}])
    memory = MessageWindowChatMemory(10)
    seen, error = read_until_it_fails(asked(kind, script, chat_memory=memory), ModelError)
    assert seen == ["a"]
    assert "tool_use_failed" in str(error)
    assert list(memory.messages()) == []


@KINDS
def test_calls_cut_in_pieces_or_without_arguments_run_once(script: Script, kind: Any) -> None:
    """STR-02 and STR-07"""
    ran: list[Any] = []

    @tool
    def look(q: str) -> str:
        """Look something up."""
        ran.append(q)
        return "seen"

    @tool
    def now() -> str:
        """The time."""
        ran.append("now")
        return "12:00"

    pieces = [
        call_part("", index=0, id="c1", name="look"),
        call_part('{"q":', index=0),
        call_part('"a"}', index=None),
        chunk({}, "tool_calls"),
        DONE,
    ]
    nothing = [call_part(None, index=0, id="c2", name="now"), chunk({}, "tool_calls"), DONE]
    script.will_say(pieces, nothing, [chunk({"content": "12:00"}, "stop"), DONE])
    assert read(asked(kind, script, tools=[look, now])) == ["12:00"]
    assert ran == ["a", "now"]

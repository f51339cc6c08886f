"""Streams of text: the pieces of an answer, as they come."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any

from hypothesis import given
from hypothesis import strategies as st

from aiservices import (
    CallCompleted,
    CallFailed,
    ChatModel,
    ChatRequest,
    MessageWindowChatMemory,
    OutputTruncatedError,
    Stream,
    TokenUsage,
    ToolCall,
    ToolFailedError,
    tool,
)
from aiservices.messages import AiMessage, ChatResponse, FinishReason
from aiservices.testing import Pieces
from aiservices.tools import ReturnBehavior
from tests.asking import answer

from .models import Watched
from .services import KINDS, asked, calling, now, read_until_it_fails
from .styles import read


@KINDS
def test_texts_come_piece_by_piece(kind: Any) -> None:
    assert read(asked(kind[str], Pieces("he", "llo"))) == ["he", "llo"]


@KINDS
def test_texts_of_a_model_that_does_not_stream_come_in_one_piece(kind: Any) -> None:
    class Plain(ChatModel):
        def chat(self, request: ChatRequest) -> ChatResponse:
            return answer("hello")

    assert read(asked(kind[str], Plain())) == ["hello"]


@KINDS
def test_texts_are_made_when_they_are_read(kind: Any) -> None:
    model = Watched("a", "b")
    stream = asked(kind[str], model)
    if kind is Iterator:
        assert (next(stream), model.log) == ("a", ["made a"])
        return

    async def first() -> None:
        assert (await anext(stream), model.log) == ("a", ["made a"])
        await stream.aclose()

    asyncio.run(first())


@KINDS
def test_texts_are_read_once(kind: Any) -> None:
    """STR-14"""
    model = Watched("a")
    stream = asked(kind[str], model)
    assert model.requests == []
    if kind is Iterator:
        assert (read(stream), read(stream)) == (["a"], [])


@KINDS
def test_texts_around_a_tool_round_are_of_both_answers(kind: Any) -> None:
    assert read(asked(kind[str], calling("let me "), "12:00", tools=[now])) == [
        "let",
        " me",
        " ",
        "12:00",
    ]


@KINDS
def test_texts_leave_thoughts_out_of_every_answer(kind: Any) -> None:
    replies = calling("<think>a tool!</think>"), Pieces("<thi", "nk>so</think>", "\n\n12", ":00")
    assert "".join(read(asked(kind[str], *replies, tools=[now]))) == "12:00"


@KINDS
def test_texts_of_an_immediate_tool_are_its_value(kind: Any) -> None:
    @tool(returns=ReturnBehavior.IMMEDIATE)
    def at_once() -> str:
        """Answer."""
        return "12:00"

    assert read(asked(kind[str], ToolCall("c1", "at_once", ""), tools=[at_once])) == ["12:00"]


@KINDS
def test_texts_that_end_badly_raise_after_what_was_said(kind: Any) -> None:
    stream = asked(kind[str], answer("half a", FinishReason.LENGTH))
    seen, error = read_until_it_fails(stream, OutputTruncatedError)
    assert (seen, error.usage) == (["half", " a"], TokenUsage(1, 2))


@KINDS
def test_texts_with_a_comment_on_them_are_texts_too(kind: Any) -> None:
    assert read(asked(kind[Annotated[str, "a comment"]], Pieces("a", "b"))) == ["a", "b"]


@given(st.data())
def test_texts_are_together_what_a_plain_call_returns(data: st.DataObject) -> None:
    thought = data.draw(st.sampled_from(["", "<think>x</think>", "<thinking>\ny</thinking>\n", "<th", "<"]))
    whole = thought + data.draw(st.text("ab <>/\n", min_size=1)) + "end"
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)))))
    edges = [0, *cuts, len(whole)]
    pieces = [whole[a:b] for a, b in pairwise(edges)]
    plain = asked(str, whole)
    assert "".join(asked(Iterator[str], Pieces(*pieces))) == plain
    assert list(asked(Stream[str], Pieces(*pieces)).partials())[-1] == plain


@KINDS
def test_a_failing_tool_between_two_answers_reaches_the_reader(kind: Any) -> None:
    """STR-06"""

    @tool
    def broken() -> str:
        """Break."""
        raise KeyError("x")

    response = ChatResponse(AiMessage("let me ", (ToolCall("c1", "broken", "{}"),)))
    memory, heard = MessageWindowChatMemory(10), list[Any]()
    stream = asked(
        kind[str],
        response,
        tools=[broken],
        on_tool_error="raise",
        chat_memory=memory,
        listeners=[heard.append],
    )
    seen, _ = read_until_it_fails(stream, ToolFailedError)
    assert "".join(seen) == "let me "
    kinds = [type(event) for event in heard]
    assert (kinds.count(CallFailed), kinds.count(CallCompleted)) == (1, 0)
    assert [type(message).__name__ for message in memory.messages()] == [
        "UserMessage",
        "AiMessage",
        "ToolResultMessage",
    ]

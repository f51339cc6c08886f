"""The scripted model gives its replies in order and keeps what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Protocol

import pytest

from aiservices import (
    AiMessage,
    Capability,
    ChatRequest,
    ChatResponse,
    CustomMessage,
    FinishReason,
    PartialText,
    ResponseDone,
    ToolCall,
    UserMessage,
    create,
)
from aiservices.testing import Pieces, ScriptedChatModel, UnexpectedRequestError, UnusedRepliesError
from tests.asking import answer

REQUEST = ChatRequest([UserMessage("hi")])
CALL, OTHER = ToolCall("c1", "look", "{}"), ToolCall("c2", "look", "{}")


class Asker(Protocol):
    def ask(self, text: str) -> str: ...


@pytest.fixture(params=["chat", "achat"])
def ask(request: pytest.FixtureRequest) -> Any:
    """Asks a model, blocking or not."""

    def chat(model: ScriptedChatModel, asked: ChatRequest = REQUEST) -> ChatResponse:
        return model.chat(asked) if request.param == "chat" else asyncio.run(model.achat(asked))

    return chat


async def later(request: ChatRequest) -> Any:
    await asyncio.sleep(0)
    return f"{request.messages[0].text} too"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("reply", "message", "reason"),
    [
        ("hello", AiMessage("hello"), FinishReason.STOP),
        ("", AiMessage(""), FinishReason.STOP),
        (AiMessage(None), AiMessage(None), FinishReason.STOP),
        (AiMessage("see", [CALL]), AiMessage("see", [CALL]), FinishReason.TOOL_CALLS),
        (CALL, AiMessage(tool_calls=[CALL]), FinishReason.TOOL_CALLS),
        ([CALL, OTHER], AiMessage(tool_calls=[CALL, OTHER]), FinishReason.TOOL_CALLS),
        ((call for call in (CALL, OTHER)), AiMessage(tool_calls=[CALL, OTHER]), FinishReason.TOOL_CALLS),
        (answer("cut", FinishReason.LENGTH), AiMessage("cut"), FinishReason.LENGTH),
        (lambda request: request.messages[0].text, AiMessage("hi"), FinishReason.STOP),
        (lambda request: [CALL], AiMessage(tool_calls=[CALL]), FinishReason.TOOL_CALLS),
    ],
    ids=repr,
)
def test_a_reply_may_have_many_forms(reply: Any, message: AiMessage, reason: FinishReason) -> None:
    response = ScriptedChatModel(reply).chat(REQUEST)
    assert (response.message, response.finish_reason) == (message, reason)


def test_a_function_may_be_asynchronous(ask: Any) -> None:
    assert ask(ScriptedChatModel(later)).text == "hi too"


def test_an_exception_is_raised_whether_given_made_or_returned(ask: Any) -> None:
    error = LookupError("gone")
    for reply in (error, lambda request: error):
        with pytest.raises(LookupError) as caught:
            ask(ScriptedChatModel(reply))
        assert caught.value is error
    with pytest.raises(KeyboardInterrupt):
        ask(ScriptedChatModel(KeyboardInterrupt))


def test_replies_come_in_order_and_requests_are_kept(ask: Any) -> None:
    model = ScriptedChatModel("one", "two")
    requests = [ChatRequest([UserMessage(text)]) for text in ("a", "b")]
    assert [ask(model, request).text for request in requests] == ["one", "two"]
    assert model.requests == requests
    assert repr(model) == "ScriptedChatModel(2 asked, 0 left)"


def test_the_only_request_is_the_only_one(ask: Any) -> None:
    model = ScriptedChatModel("one", "two")
    with pytest.raises(AssertionError, match="asked 0 times, not once"):
        _ = model.request
    ask(model)
    assert model.request is REQUEST
    ask(model)
    with pytest.raises(AssertionError, match="asked 2 times, not once"):
        _ = model.request


def test_a_request_beyond_the_script_says_which_and_what(ask: Any) -> None:
    model = ScriptedChatModel("one")
    ask(model)
    with pytest.raises(UnexpectedRequestError, match=r"request 2 has no reply .* ends with 'hi'$"):
        ask(model)


def test_a_request_beyond_the_script_is_told_at_the_end_where_it_was_swallowed(ask: Any) -> None:
    def swallowing() -> None:
        with ScriptedChatModel("one") as model:
            ask(model)
            with suppress(Exception):
                ask(model)

    with pytest.raises(UnexpectedRequestError, match=r"request 2 has no reply .* ends with 'hi'$"):
        swallowing()


def test_a_request_beyond_the_script_fails_a_test_whose_tool_asks_in_vain() -> None:
    def expert(task: str) -> str:
        return inner.chat(ChatRequest([UserMessage(task)])).text or ""

    outer = ScriptedChatModel(ToolCall("c1", "expert", '{"task": "weigh it"}'), "He is ill.")
    with pytest.raises(UnexpectedRequestError, match="ends with 'weigh it'"), ScriptedChatModel() as inner:
        assert create(Asker, chat_model=outer, tools=[expert]).ask("How heavy?") == "He is ill."


def test_what_the_model_was_told_last_is_at_hand_as_text(ask: Any) -> None:
    model = ScriptedChatModel("one", "two")
    ask(model)
    model.chat(ChatRequest([UserMessage("hi"), CustomMessage({"role": "developer"})]))
    assert model.prompts == ["hi", ""]


@pytest.mark.parametrize("wrong", [None, 7, ["a", "b"], [], {"a": 1}, b"x", ScriptedChatModel, [CALL, "x"]])
def test_what_is_no_reply_is_refused_at_once_or_when_a_function_gives_it(wrong: Any) -> None:
    with pytest.raises(TypeError, match="is no reply"):
        ScriptedChatModel(wrong)
    with pytest.raises(TypeError, match="is no reply"):
        ScriptedChatModel(lambda request: wrong).chat(REQUEST)


def test_replies_left_over_are_told(ask: Any) -> None:
    model = ScriptedChatModel("one", "two")
    ask(model)
    with pytest.raises(UnusedRepliesError, match="1 replies were never asked for, the next is 'two'"):
        model.assert_all_used()
    ask(model)
    model.assert_all_used()


def test_a_with_block_tells_of_replies_left_over_unless_it_fails() -> None:
    with pytest.raises(UnusedRepliesError), ScriptedChatModel("one"):
        pass
    with pytest.raises(LookupError), ScriptedChatModel("one"):
        raise LookupError
    with ScriptedChatModel("one") as model:
        model.chat(REQUEST)


def test_it_can_do_what_it_is_told_to_and_streams_what_it_says() -> None:
    assert ScriptedChatModel().capabilities == frozenset()
    assert ScriptedChatModel(capabilities=[Capability.TOOLS]).capabilities == {Capability.TOOLS}
    events: Iterator[Any] = ScriptedChatModel("hello").stream(REQUEST)
    assert list(events) == [PartialText("hello"), ResponseDone(ChatResponse(AiMessage("hello")))]


def test_a_stream_gives_a_text_word_by_word_or_in_its_pieces() -> None:
    model = ScriptedChatModel("a  b\n", Pieces("a", " b"), Pieces("a", KeyError("x")), Pieces("a", "b"))
    assert [event.text for event in model.stream(REQUEST) if isinstance(event, PartialText)] == [
        "a",
        "  b",
        "\n",
    ]
    *texts, done = model.stream(REQUEST)
    assert texts == [PartialText("a"), PartialText(" b")]
    assert done == ResponseDone(ChatResponse(AiMessage("a b")))
    broken = model.stream(REQUEST)
    assert next(broken) == PartialText("a")
    with pytest.raises(KeyError):
        next(broken)
    assert model.chat(REQUEST).text == "ab"

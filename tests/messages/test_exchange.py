"""Requests, answers and usage."""

import functools

import pytest

from aiservices.messages import (
    AiMessage,
    ChatRequest,
    ChatRequestParameters,
    ChatResponse,
    FinishReason,
    TokenUsage,
    UserMessage,
)


class TestTokenUsage:
    def test_adds_up_and_counts_cached_tokens_once(self) -> None:
        usage = TokenUsage(10, 1, 4) + TokenUsage(30, 3, 5)
        assert usage == TokenUsage(40, 4, 9)
        assert usage.total == 44

    def test_marks_a_sum_with_an_unknown_part(self) -> None:
        rounds = [TokenUsage(10, 1), TokenUsage(known=False), TokenUsage(30, 3, 5)]
        usage = functools.reduce(TokenUsage.__add__, rounds)
        assert (usage.input, usage.output, usage.cached, usage.known) == (40, 4, 5, False)

    def test_adds_only_to_its_like(self) -> None:
        with pytest.raises(TypeError):
            TokenUsage() + 1  # type: ignore[operator]


class TestParameters:
    def test_the_right_side_wins_where_it_says_something(self) -> None:
        left = ChatRequestParameters(temperature=0.5, seed=1, extra={"a": 1, "b": 1})
        right = ChatRequestParameters(temperature=0.0, extra={"b": 2})
        assert left | right == ChatRequestParameters(temperature=0.0, seed=1, extra={"a": 1, "b": 2})

    def test_nothing_changes_beside_the_defaults(self) -> None:
        some = ChatRequestParameters(model_name="m", stop="END")
        assert some | ChatRequestParameters() == ChatRequestParameters() | some == some
        assert some.stop == ("END",)

    @pytest.mark.parametrize("timeout", [0, -1, float("nan")])
    def test_a_timeout_is_more_than_no_time(self, timeout: float) -> None:
        with pytest.raises(ValueError, match="more than 0"):
            ChatRequestParameters(timeout=timeout)


def test_a_request_needs_a_message() -> None:
    with pytest.raises(ValueError, match="at least one message"):
        ChatRequest([])


def test_a_request_keeps_tuples_of_what_it_is_given() -> None:
    messages = [UserMessage("hello")]
    request = ChatRequest(messages)
    messages.clear()
    assert request.messages == (UserMessage("hello"),)


def test_an_answer_has_the_text_of_its_message() -> None:
    response = ChatResponse(AiMessage("hello"), metadata={"host": "here"})
    assert (response.text, response.finish_reason) == ("hello", FinishReason.STOP)
    assert response.metadata == {"host": "here"}


def test_an_answer_is_made_of_a_message() -> None:
    with pytest.raises(TypeError, match=r"write ChatResponse\(AiMessage\(text\)\)"):
        ChatResponse("hello")  # type: ignore[arg-type]

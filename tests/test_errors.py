"""Errors carry what recovery needs, also to another process."""

import copy
import pickle

import pytest

import outputparsers
from aiservices.errors import (
    AgentError,
    AiServiceError,
    AuthenticationError,
    ConfigurationError,
    ConflictError,
    LimitExceededError,
    MissingExtraError,
    ModelError,
    OutputParsingError,
    RateLimitError,
    StoreError,
    ToolArgumentsError,
)
from aiservices.messages import AiMessage, ChatResponse, TokenUsage, ToolCall

RESPONSE = ChatResponse(AiMessage("hello"))


def with_what_was_done(error: AiServiceError) -> AiServiceError:
    error.usage, error.responses = TokenUsage(3, 4), (RESPONSE,)
    error.add_note("while testing")
    return error


@pytest.mark.parametrize(
    "error",
    [
        AiServiceError("plain"),
        AgentError("of nobody"),
        AgentError("of one", agent="a"),
        ConfigurationError(["first", "second"]),
        ModelError("x", status=500, request_id="r", response=RESPONSE),
        RateLimitError("slow down", status=429),
        with_what_was_done(AuthenticationError("no key")),
        OutputParsingError("text", "a number", [], where="Service.method"),
        ToolArgumentsError("x", call=ToolCall("c", "n", "{}"), problems=["p"]),
        LimitExceededError("x", limit="requests"),
        StoreError("x", namespace="n", key="k"),
        ConflictError("n", "k", expected=1, found=2),
        MissingExtraError("this", extra="that"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_every_error_survives_pickling_and_copying(error: Exception) -> None:
    """LG-30: also one that tells of no agent."""
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.__dict__ == error.__dict__


def test_a_configuration_error_lists_its_problems() -> None:
    assert ConfigurationError(["first", "second"]).problems == ("first", "second")
    assert str(ConfigurationError(["first", "second"])) == "first\nsecond"
    assert ConfigurationError("only").problems == ("only",)


def test_a_parsing_error_is_one_of_both_packages() -> None:
    error = OutputParsingError("text", "a number", [])
    assert isinstance(error, AiServiceError)
    assert isinstance(error, outputparsers.OutputParsingError)


def test_a_missing_extra_says_what_to_install() -> None:
    assert str(MissingExtraError("this", extra="that")).endswith("pip install 'aiservices[that]'")
    assert isinstance(MissingExtraError("this", extra="that"), ImportError)

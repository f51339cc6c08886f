"""The request that is sent, and what becomes of what the model gives or raises."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Protocol, cast

import pytest

import aiservices
from aiservices import (
    AiMessage,
    ChatModel,
    ChatRequest,
    ChatRequestParameters,
    ChatResponse,
    InvocationContext,
    InvocationParameters,
    RateLimitError,
    Result,
    ServerError,
    SystemMessage,
    UserMessage,
    UserText,
)
from aiservices.messages import TokenUsage
from aiservices.testing import ScriptedChatModel
from tests.asking import answer, asking

# Parameters


class Set(Protocol):
    def ask(self, text: Annotated[str, UserText], how: ChatRequestParameters | None = None) -> str: ...

    async def aask(self, text: Annotated[str, UserText], how: ChatRequestParameters | None = None) -> str: ...


OPTION = ChatRequestParameters(temperature=0.0, seed=1, extra={"a": 1, "b": 1})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((), OPTION),
        ((None,), OPTION),
        ((ChatRequestParameters(),), OPTION),
        (
            (ChatRequestParameters(temperature=1.0, top_p=0.5, extra={"b": 2, "c": 2}),),
            ChatRequestParameters(temperature=1.0, seed=1, top_p=0.5, extra={"a": 1, "b": 2, "c": 2}),
        ),
        ((ChatRequestParameters(temperature=0.0, seed=0),), replace(OPTION, seed=0)),
    ],
)
def test_what_a_call_sets_wins_over_what_the_service_sets(
    invoke: Any, given: tuple[Any, ...], expected: ChatRequestParameters
) -> None:
    model = ScriptedChatModel("ok")
    invoke(aiservices.create(Set, chat_model=model, parameters=OPTION), "ask", "hi", *given)
    assert model.request.parameters == expected


@pytest.mark.parametrize("wrong", [{"temperature": 1}, 0.5])
def test_parameters_of_another_kind_are_refused(invoke: Any, wrong: Any) -> None:
    model = ScriptedChatModel()
    with pytest.raises(TypeError, match=r"ask: the argument 'how' is a \w+, not ChatRequestParameters"):
        invoke(aiservices.create(Set, chat_model=model), "ask", "hi", wrong)
    with pytest.raises(
        aiservices.ConfigurationError, match=r"parameters is a \w+: give ChatRequestParameters"
    ):
        aiservices.create(Set, chat_model=model, parameters=wrong)
    assert not model.requests


class Quiet(Protocol):
    def ask(self, text: Annotated[str, UserText], secret: InvocationParameters) -> str: ...

    async def aask(self, text: Annotated[str, UserText], secret: InvocationParameters) -> str: ...


def test_invocation_parameters_reach_callables_and_no_model(invoke: Any) -> None:
    heard = []

    def system(context: InvocationContext) -> str:
        heard.append(context.parameters["tenant"])
        return "Be brief."

    model = ScriptedChatModel("ok")
    service = aiservices.create(Quiet, chat_model=model, system_message=system)
    invoke(service, "ask", "hi", InvocationParameters({"tenant": "acme"}))
    assert heard == ["acme"]
    assert "acme" not in repr(model.request)


@pytest.mark.parametrize("wrong", [None, {"tenant": "acme"}])
def test_invocation_parameters_must_be_given(invoke: Any, wrong: Any) -> None:
    model = ScriptedChatModel()
    with pytest.raises(TypeError, match=r"ask: the argument 'secret' is a \w+, not InvocationParameters"):
        invoke(aiservices.create(Quiet, chat_model=model), "ask", "hi", wrong)
    assert not model.requests


# The request's transformer


def louder(request: ChatRequest, context: InvocationContext) -> ChatRequest:
    return replace(request, messages=(SystemMessage(context.service), *request.messages))


async def louder_later(request: ChatRequest, context: InvocationContext) -> ChatRequest:
    return louder(request, context)


def louder_alone(request: ChatRequest) -> ChatRequest:
    return replace(request, messages=(SystemMessage("Asker"), *request.messages))


@pytest.mark.parametrize("transform", [louder, louder_later, louder_alone])
def test_a_transformer_has_the_last_word_on_every_request(invoke: Any, transform: Any) -> None:
    model = ScriptedChatModel("?", "7")
    service = aiservices.create(asking(int), chat_model=model, chat_request_transformer=transform)
    assert invoke(service, "ask", "How many?") == 7
    for request in model.requests:
        assert request.messages[0] == SystemMessage("Asker")
        assert isinstance(request.messages[1], UserMessage)


def colder(request: ChatRequest, context: InvocationContext) -> ChatRequest:
    return replace(request, parameters=replace(request.parameters, temperature=0.0))


def untouched(request: ChatRequest, context: InvocationContext) -> ChatRequest:
    return request


@pytest.mark.parametrize(
    ("transform", "temperature", "words"),
    [(colder, 0.0, ["hi"]), (louder, 0.7, ["Asker", "hi"]), (untouched, 0.7, ["hi"])],
)
def test_a_transformer_may_set_parameters_and_instructions_or_leave_all(
    invoke: Any, transform: Any, temperature: float, words: list[str]
) -> None:
    """AJ-34"""
    model = ScriptedChatModel("ok")
    parameters = ChatRequestParameters(temperature=0.7)
    service = aiservices.create(
        asking(str), chat_model=model, parameters=parameters, chat_request_transformer=transform
    )
    invoke(service, "ask", "hi")
    assert model.request.parameters.temperature == temperature
    assert [message.text for message in model.request.messages] == words  # type: ignore[union-attr]


@pytest.mark.parametrize("given", [None, "text", UserMessage("hi")])
def test_a_transformer_gives_a_request_or_is_named(invoke: Any, given: object) -> None:
    model = ScriptedChatModel()
    service = aiservices.create(
        asking(int), chat_model=model, chat_request_transformer=lambda request, context: given
    )
    with pytest.raises(TypeError, match=r"ask: chat_request_transformer gave a \w+: it gives a ChatRequest"):
        invoke(service, "ask", "How many?")
    assert not model.requests


@pytest.mark.parametrize("option", ["chat_request_transformer", "system_message_transformer"])
def test_a_transformer_that_cannot_be_called_is_refused_at_once(option: str) -> None:
    with pytest.raises(aiservices.ConfigurationError, match=f"{option} cannot be called"):
        aiservices.create(asking(int), chat_model=ScriptedChatModel(), **{option: "loud"})  # type: ignore[misc]


# What the model gives or raises


@pytest.mark.parametrize("given", [None, "text", AiMessage("hi"), {"message": "hi"}])
def test_a_model_that_gives_no_response_is_named(invoke: Any, given: object) -> None:
    class Odd(ChatModel):
        def chat(self, request: ChatRequest) -> ChatResponse:
            return cast("ChatResponse", given)

    with pytest.raises(ServerError, match=r"ask: Odd answered a \w+, not a ChatResponse"):
        invoke(aiservices.create(asking(str), chat_model=Odd()), "ask", "hi")


def test_a_model_whose_blocking_half_is_asynchronous_is_told_the_right_name() -> None:
    class Odd(ChatModel):
        async def chat(self, request: ChatRequest) -> ChatResponse:  # type: ignore[override]
            return answer("hi")

    with pytest.raises(ServerError, match=r"Asker.ask: Odd.chat is asynchronous: the name for that is achat"):
        aiservices.create(asking(str), chat_model=Odd()).ask("hi")


class OwnError(Exception):
    pass


@pytest.mark.parametrize(
    "error", [OwnError("mine"), RateLimitError("slow down", status=429), KeyboardInterrupt()]
)
def test_a_models_error_reaches_the_caller_unchanged(invoke: Any, error: BaseException) -> None:
    def fail(request: ChatRequest) -> None:
        try:
            raise LookupError("below")
        except LookupError as below:
            raise error from below

    model = ScriptedChatModel(fail)
    with pytest.raises(type(error)) as caught:
        invoke(aiservices.create(asking(int), chat_model=model, parse_retries=3), "ask", "hi")
    assert caught.value is error
    assert isinstance(error.__cause__, LookupError)
    assert len(model.requests) == 1


@pytest.mark.parametrize("half", ["chat", "achat", "stream", "astream"])
def test_one_half_of_a_model_serves_both_kinds_of_call(invoke: Any, half: str) -> None:
    script = ScriptedChatModel("ok")
    model = cast(
        "type[ChatModel]",
        type("Half", (ChatModel,), {half: lambda _, request: getattr(script, half)(request)}),
    )
    assert invoke(aiservices.create(asking(str), chat_model=model()), "ask", "hi") == "ok"


# Usage


def test_usage_is_summed_over_all_requests_and_says_when_a_part_is_unknown(invoke: Any) -> None:
    usages = [TokenUsage(10, 1), TokenUsage(known=False), TokenUsage(30, 3, 5)]
    model = ScriptedChatModel(
        *[ChatResponse(AiMessage(text), usage) for text, usage in zip("??7", usages, strict=True)]
    )
    service = aiservices.create(asking(Result[int]), chat_model=model, parse_retries=2)
    result = invoke(service, "ask", "How many?")
    assert result.usage == TokenUsage(40, 4, 5, known=False)
    assert result.usage.total == 44
    assert [response.usage for response in result.responses] == usages

"""Whole calls as users make them: one question, one answer, blocking or awaited."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Protocol

import pytest

import aiservices
from aiservices import (
    AiMessage,
    AiServices,
    Capability,
    ChatRequestParameters,
    ChatResponse,
    ImageContent,
    InvocationContext,
    InvocationParameters,
    Result,
    SystemMessage,
    TextContent,
    UserMessage,
    UserName,
    UserText,
    V,
    system_message,
    user_message,
)
from aiservices.messages import TokenUsage
from aiservices.testing import ScriptedChatModel
from tests.asking import answer, asking


class Sentiment(Enum):
    POSITIVE = "positive"
    NEUTRAL = "neutral"
    NEGATIVE = "negative"


@dataclass
class Trip:
    city: str
    days: int
    sights: list[str]


@system_message("You are a terse analyst.")
class Analyst(Protocol):
    @user_message("Analyze the sentiment of: {{ it }}")
    def sentiment(self, text: str) -> Sentiment: ...

    @user_message("Analyze the sentiment of: {{ it }}")
    async def asentiment(self, text: str) -> Sentiment: ...

    @user_message("Sum up {{ text }} in {{ n }} words")
    def sum_up(self, text: str, n: int = 10) -> str: ...

    @user_message("Sum up {{ text }} in {{ n }} words")
    async def asum_up(self, text: str, n: int = 10) -> str: ...

    @system_message("You plan trips to {{ country }}.")
    def plan(self, wishes: Annotated[str, UserText], country: str) -> Result[Trip]: ...

    @system_message("You plan trips to {{ country }}.")
    async def aplan(self, wishes: Annotated[str, UserText], country: str) -> Result[Trip]: ...

    def score(self, text: str) -> float:
        """Two calls and some arithmetic; not a stub, so it runs as written."""
        return (self.sentiment(text) is Sentiment.POSITIVE) + len(self.sum_up(text, n=1)) / 10

    async def ascore(self, text: str) -> float:
        return (await self.asentiment(text) is Sentiment.POSITIVE) + len(await self.asum_up(text, n=1)) / 10


def test_a_choice_is_asked_for_in_words_and_comes_back_as_a_member(invoke: Any) -> None:
    model = ScriptedChatModel("Positive.")
    assert (
        invoke(aiservices.create(Analyst, chat_model=model), "sentiment", "I love it") is Sentiment.POSITIVE
    )
    system, user = model.request.messages
    assert system == SystemMessage("You are a terse analyst.")
    assert user.text.startswith("Analyze the sentiment of: I love it\n")  # type: ignore[union-attr]
    assert user.text.endswith("\npositive\nneutral\nnegative")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("arguments", "named", "sent"),
    [
        (("the text",), {}, "Sum up the text in 10 words"),
        (("the text", 3), {}, "Sum up the text in 3 words"),
        ((), {"n": 3, "text": "the text"}, "Sum up the text in 3 words"),
    ],
)
def test_arguments_are_given_by_place_by_name_or_by_default(
    invoke: Any, arguments: tuple[Any, ...], named: dict[str, Any], sent: str
) -> None:
    model = ScriptedChatModel("short")
    assert invoke(aiservices.create(Analyst, chat_model=model), "sum_up", *arguments, **named) == "short"
    assert model.request.messages[-1] == UserMessage(sent)


def test_wrong_arguments_are_the_type_errors_of_any_function(invoke: Any) -> None:
    model = ScriptedChatModel()
    service = aiservices.create(Analyst, chat_model=model)
    for arguments in ((), ("a", 1, 2)):
        with pytest.raises(TypeError, match="sum_up"):
            invoke(service, "sum_up", *arguments)
    assert not model.requests


def test_a_result_tells_how_the_value_came_about(invoke: Any) -> None:
    model = ScriptedChatModel(
        answer("{}"),
        answer('{"city": "Bonn", "days": 2, "sights": ["Rhine"]}'),
        capabilities=[Capability.JSON_SCHEMA],
    )
    result = invoke(aiservices.create(Analyst, chat_model=model), "plan", "By the river", "Germany")
    assert result.content == Trip("Bonn", 2, ["Rhine"])
    assert result.usage == TokenUsage(2, 4)
    assert [response.text for response in result.responses] == [
        "{}",
        '{"city": "Bonn", "days": 2, "sights": ["Rhine"]}',
    ]
    assert model.requests[0].messages == (
        SystemMessage("You plan trips to Germany."),
        UserMessage("By the river"),
    )
    assert result.exchange == model.requests[1].messages[2:]


def test_a_method_with_a_body_runs_as_written_and_may_call_the_others(invoke: Any) -> None:
    model = ScriptedChatModel("positive", "great")
    assert invoke(aiservices.create(Analyst, chat_model=model), "score", "I love it") == 1.5


def test_nothing_is_returned_but_the_call_is_made(invoke: Any) -> None:
    model = ScriptedChatModel("whatever")
    assert invoke(aiservices.create(asking(None), chat_model=model), "ask", "Do it") is None
    assert model.request.messages == (UserMessage("Do it"),)


def test_the_response_is_the_models_own_object(invoke: Any) -> None:
    response = answer("hi", id="r1", model_name="m", metadata={"k": 1})
    service = aiservices.create(asking(ChatResponse), chat_model=ScriptedChatModel(response))
    assert invoke(service, "ask", "hi") is response


def test_a_message_keeps_its_thoughts_and_attributes(invoke: Any) -> None:
    message = AiMessage("hi", thinking="hm", attributes={"signature": "s"})
    service = aiservices.create(asking(AiMessage), chat_model=ScriptedChatModel(message))
    assert invoke(service, "ask", "hi") is message


class Everything(Protocol):
    @system_message("Speak {{ language }}.")
    @user_message("{{ who }} asks: {{ question }}")
    def ask(
        self,
        question: str,
        who: Annotated[str, UserName],
        tongue: Annotated[str, V("language")],
        images: list[ImageContent],
        settings: ChatRequestParameters,
        hidden: InvocationParameters,
    ) -> str: ...


def test_every_kind_of_parameter_finds_its_place() -> None:
    heard: list[InvocationContext] = []
    cat, model = ImageContent("https://example.test/cat.png"), ScriptedChatModel("ok")
    service = aiservices.create(
        Everything,
        chat_model=model,
        parameters=ChatRequestParameters(seed=1),
        listeners=[lambda event: heard.append(event.context)],
    )
    hidden = InvocationParameters({"tenant": "acme"})
    settings = ChatRequestParameters(temperature=0.5)
    service.ask("What?", "Ana", "German", [cat], settings, hidden)
    assert model.request.messages == (
        SystemMessage("Speak German."),
        UserMessage([TextContent("Ana asks: What?"), cat], name="Ana"),
    )
    assert model.request.parameters == ChatRequestParameters(seed=1, temperature=0.5)
    assert heard[0].parameters is hidden
    assert set(heard[0].arguments) == {"question", "who", "tongue", "images", "settings", "hidden"}


def test_one_configuration_makes_many_services_that_share_nothing_but_the_model(invoke: Any) -> None:
    model = ScriptedChatModel("7", "text", "8")
    config = AiServices(chat_model=model, system_message="Be brief.")
    number, text = config.create(asking(int)), config.create(asking(str))
    loud = config.replace(system_message="Be loud.").create(asking(int))
    assert [invoke(service, "ask", "hi") for service in (number, text, loud)] == [7, "text", 8]
    systems = [request.messages[0] for request in model.requests]
    assert systems == [SystemMessage("Be brief."), SystemMessage("Be brief."), SystemMessage("Be loud.")]


def test_a_call_leaves_its_arguments_as_they_were(invoke: Any) -> None:
    class Lister(Protocol):
        @user_message("Sort {{ items }}")
        def sort(self, items: list[str]) -> list[str]: ...

        @user_message("Sort {{ items }}")
        async def asort(self, items: list[str]) -> list[str]: ...

    given, model = ["b", "a"], ScriptedChatModel('["a", "b"]')
    assert invoke(aiservices.create(Lister, chat_model=model), "sort", given) == ["a", "b"]
    assert given == ["b", "a"]
    assert '["b","a"]' in model.request.messages[0].text  # type: ignore[union-attr]


def test_values_of_several_calls_are_objects_of_their_own(invoke: Any) -> None:
    response = answer('["a"]')
    service = aiservices.create(asking(list[str]), chat_model=ScriptedChatModel(response, response))
    first = invoke(service, "ask", "hi")
    first.append("b")
    assert invoke(service, "ask", "hi") == ["a"]

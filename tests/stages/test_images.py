"""Methods that return images, for models that make some."""

from __future__ import annotations

from typing import Any

import pytest

import aiservices
from aiservices import (
    AiMessage,
    Capability,
    EmptyAnswerError,
    ImageContent,
    MessageWindowChatMemory,
    Result,
)
from aiservices.rag import RetrievalAugmentor
from aiservices.testing import ScriptedChatModel
from tests.asking import asking
from tests.declarations import problems_of

CAT = ImageContent(data=b"\x89PNG cat", media_type="image/png")
DOG = ImageContent(url="https://example.com/dog.png")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (ImageContent, CAT),
        (list[ImageContent], [CAT, DOG]),
    ],
)
def test_an_image_is_what_the_model_has_made(invoke: Any, kind: Any, value: Any) -> None:
    """API.md section 1: `ImageContent` and `list[ImageContent]`; no schema and no instructions are sent."""
    replies = [AiMessage("Here they are.", images=[CAT, DOG])] * 2
    with ScriptedChatModel(*replies, capabilities={Capability.JSON_SCHEMA}) as model:
        assert invoke(aiservices.create(asking(kind), chat_model=model), "ask", "a cat") == value
        result = invoke(aiservices.create(asking(Result[kind]), chat_model=model), "ask", "a cat")
    assert result.content == value
    assert result.message.text == "Here they are."
    for request in model.requests:
        assert request.response_format is None
        assert request.messages[-1].text == "a cat"


@pytest.mark.parametrize("kind", [ImageContent, list[ImageContent]])
@pytest.mark.parametrize("reply", ["I cannot draw.", ""])
def test_an_answer_without_an_image_is_an_error_and_not_asked_for_again(
    invoke: Any, kind: Any, reply: str
) -> None:
    with ScriptedChatModel(reply) as model:
        service = aiservices.create(asking(kind), chat_model=model)
        with pytest.raises(EmptyAnswerError, match="the model made no image") as caught:
            invoke(service, "ask", "a cat")
    assert caught.value.response is not None
    assert (caught.value.response.text or "") == reply


def test_a_message_of_images_alone_is_an_answer() -> None:
    with ScriptedChatModel(AiMessage(images=[CAT])) as model:
        assert aiservices.create(asking(AiMessage), chat_model=model).ask("a cat").images == (CAT,)


def test_memory_keeps_the_images() -> None:
    memory = MessageWindowChatMemory(10)
    with ScriptedChatModel(AiMessage(images=[CAT]), AiMessage(images=[DOG])) as model:
        service = aiservices.create(asking(ImageContent), chat_model=model, chat_memory=memory)
        service.ask("a cat")
        assert service.ask("now a dog") == DOG
    assert model.requests[1].messages[1] == AiMessage(images=[CAT])


def test_a_text_for_when_nothing_is_found_is_no_image() -> None:
    augmentor = RetrievalAugmentor(retrievers=[lambda query: ()], on_empty="Nothing was found.")
    problem, _ = problems_of(asking(ImageContent), retrieval_augmentor=augmentor)
    assert problem == "Asker.ask: on_empty of the retrieval_augmentor is a text, and no image to return"

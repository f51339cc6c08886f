"""Messages are values: frozen, equal by what they say, and hard to build wrongly."""

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from aiservices.messages import (
    AiMessage,
    AudioContent,
    ChatMessage,
    Content,
    CustomMessage,
    ImageContent,
    PdfContent,
    SystemMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    VideoContent,
)

CALL = ToolCall("c1", "look", '{"q": "a"}', {"signature": "s"})
ONE_OF_EACH: list[ChatMessage] = [
    SystemMessage("be brief"),
    UserMessage(["look", ImageContent(url="https://x/y.png")][1:], "Klaus", {"cache": True}),
    AiMessage("let me look", [CALL], "thinking", {"id": "m1"}),
    ToolResultMessage("c1", "look", "nothing there", True),
    CustomMessage({"role": "developer", "parts": [1, {"a": None}]}),
]


def kind(value: object) -> str:
    return type(value).__name__


@pytest.mark.parametrize("message", ONE_OF_EACH, ids=kind)
class TestEveryMessage:
    def test_equals_its_copies(self, message: ChatMessage) -> None:
        assert pickle.loads(pickle.dumps(message)) == message
        assert copy.deepcopy(message) == message
        assert dataclasses.replace(message) == message

    def test_can_be_a_key(self, message: ChatMessage) -> None:
        assert {message: 1}[copy.deepcopy(message)] == 1

    def test_is_frozen(self, message: ChatMessage) -> None:
        with pytest.raises(dataclasses.FrozenInstanceError):
            message.attributes = {}  # type: ignore[misc]

    def test_has_attributes_that_are_read_only(self, message: ChatMessage) -> None:
        with pytest.raises(TypeError):
            message.attributes["new"] = 1  # type: ignore[index]


@pytest.mark.parametrize(
    ("given", "contents"),
    [
        ("hello", (TextContent("hello"),)),
        ("", (TextContent(""),)),
        (TextContent("hello"), (TextContent("hello"),)),
        ([TextContent("a"), TextContent("b")], (TextContent("a"), TextContent("b"))),
        ((TextContent("a"),), (TextContent("a"),)),
        ([], ()),
    ],
)
def test_contents_are_given_as_a_text_one_content_or_several(
    given: Any, contents: tuple[Content, ...]
) -> None:
    assert UserMessage(given).contents == contents
    assert ToolResultMessage("c1", "look", given).contents == contents


@pytest.mark.parametrize("given", [["hello"], b"hello", {"text": "hello"}, [None]])
def test_other_contents_are_refused(given: Any) -> None:
    with pytest.raises(TypeError, match="contents such as TextContent, not"):
        UserMessage(given)


def test_the_text_of_a_message_joins_its_text_parts() -> None:
    contents = [TextContent("a"), ImageContent(url="u"), TextContent("b")]
    assert UserMessage(contents).text == "a\nb"
    assert ToolResultMessage("c1", "look", contents).text == "a\nb"
    assert UserMessage(ImageContent(url="u")).text == ""


def test_tool_calls_are_kept_as_a_tuple() -> None:
    assert AiMessage("text", [CALL]).tool_calls == (CALL,)


def test_a_refusal_is_an_attribute_of_the_answer() -> None:
    assert AiMessage(None, attributes={"refusal": "I will not"}).refusal == "I will not"
    assert AiMessage("fine").refusal is None


def test_messages_can_be_taken_apart_by_position() -> None:
    match AiMessage("text", [CALL]):
        case AiMessage(text, (ToolCall(_, name, arguments),)):
            assert (text, name, arguments) == ("text", "look", '{"q": "a"}')


class TestMedia:
    @pytest.mark.parametrize("make", [ImageContent, AudioContent, VideoContent, PdfContent])
    def test_is_an_address_or_bytes_and_never_both_or_neither(self, make: Any) -> None:
        for wrong in ({}, {"url": "u", "data": b"d", "media_type": "a/b"}):
            with pytest.raises(ValueError, match="either url= or data="):
                make(**wrong)
        assert make(url="https://x/y").address == "https://x/y"
        assert make(data=b"\x00\xff", media_type="a/b").address == "data:a/b;base64,AP8="

    def test_needs_a_media_type_with_its_bytes(self) -> None:
        with pytest.raises(ValueError, match="also needs media_type="):
            ImageContent(data=b"")
        assert PdfContent(data=b"").media_type == "application/pdf"

    def test_is_read_from_a_file(self, tmp_path: Any) -> None:
        (tmp_path / "cat.png").write_bytes(b"png")
        assert ImageContent.from_file(tmp_path / "cat.png") == ImageContent(
            data=b"png", media_type="image/png"
        )
        (tmp_path / "cat").write_bytes(b"png")
        with pytest.raises(ValueError, match="media type of 'cat' is unknown"):
            ImageContent.from_file(str(tmp_path / "cat"))

    def test_does_not_show_its_bytes(self) -> None:
        assert "data=<1000 bytes>" in repr(ImageContent(data=bytes(1000), media_type="image/png"))

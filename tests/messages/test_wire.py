"""Messages become JSON and come back as they were, also through versions that do not know all of it."""

import json
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiservices.messages import (
    AiMessage,
    AudioContent,
    ChatMessage,
    CustomMessage,
    ImageContent,
    PdfContent,
    SystemMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    VideoContent,
    messages_from_json,
    messages_to_json,
    reading,
)
from aiservices.messages.wire_form import CONTENT_FIELDS, MESSAGE_FIELDS, TOOL_CALL_FIELDS

texts = st.text()  # Hypothesis leaves out surrogates, as JSON must
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
# Among the names are those that mean something on the wire.
names = texts | st.sampled_from(["type", "text", "attributes", "unknown_fields", "version"])
attributes = st.dictionaries(names, json_values | st.dictionaries(names, json_values, max_size=2), max_size=3)
sources = st.fixed_dictionaries({"url": texts}, optional={"media_type": texts}) | st.fixed_dictionaries(
    {"data": st.binary(), "media_type": texts}
)


def media(make: Any, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = st.fixed_dictionaries({"attributes": attributes, **more})
    return st.builds(lambda source, others: make(**source, **others), sources, fields)


contents = st.one_of(
    st.builds(TextContent, texts, attributes=attributes),
    media(ImageContent, detail=st.none() | texts),
    media(AudioContent),
    media(VideoContent),
    media(PdfContent, file_name=st.none() | texts),
)
calls = st.builds(ToolCall, texts, texts, texts, attributes)
messages = st.one_of(
    st.builds(SystemMessage, texts, attributes=attributes),
    st.builds(UserMessage, texts | st.lists(contents, max_size=3), st.none() | texts, attributes),
    st.builds(
        AiMessage,
        st.none() | texts,
        st.lists(calls, max_size=2),
        st.none() | texts,
        attributes,
        images=st.lists(media(ImageContent), max_size=1),
    ),
    st.builds(
        ToolResultMessage, texts, texts, texts | st.lists(contents, max_size=3), st.booleans(), attributes
    ),
    st.builds(CustomMessage, attributes),
)


@given(st.lists(messages, max_size=4))
def test_what_is_read_equals_what_was_written(said: list[ChatMessage]) -> None:
    assert messages_from_json(messages_to_json(said)) == tuple(said)


@given(st.lists(messages, max_size=3))
def test_what_is_written_again_is_the_same_text(said: list[ChatMessage]) -> None:
    text = messages_to_json(said)
    assert messages_to_json(messages_from_json(text)) == text
    json.loads(text, parse_constant=pytest.fail)


def test_the_form_on_the_wire() -> None:
    said = [
        SystemMessage("be brief"),
        UserMessage([TextContent("look"), ImageContent(data=b"\x00\xff", media_type="image/png")], "Klaus"),
        AiMessage(None, [ToolCall("c1", "look", '{"q":1}', {"signature": "s"})], "let me see"),
        ToolResultMessage("c1", "look", "gone", is_error=True),
        AiMessage(""),
        CustomMessage({"role": "developer"}),
    ]
    assert json.loads(messages_to_json(said)) == {
        "version": 1,
        "messages": [
            {"type": "system", "text": "be brief"},
            {
                "type": "user",
                "name": "Klaus",
                "contents": [
                    {"type": "text", "text": "look"},
                    {"type": "image", "data": "AP8=", "media_type": "image/png"},
                ],
            },
            {
                "type": "ai",
                "thinking": "let me see",
                "tool_calls": [
                    {"id": "c1", "name": "look", "arguments": '{"q":1}', "attributes": {"signature": "s"}}
                ],
            },
            {
                "type": "tool_result",
                "tool_call_id": "c1",
                "tool_name": "look",
                "contents": [{"type": "text", "text": "gone"}],
                "is_error": True,
            },
            {"type": "ai", "text": ""},
            {"type": "custom", "attributes": {"role": "developer"}},
        ],
    }


def test_a_bare_list_is_read_and_what_is_left_out_has_its_default() -> None:
    assert messages_from_json('[{"type": "ai"}, {"type": "custom"}]') == (AiMessage(), CustomMessage({}))
    assert messages_from_json("[]") == messages_from_json(messages_to_json([])) == ()


class TestAFieldOfANewerVersion:
    FORM = (
        '[{"type":"system","text":"a","new":1},'
        '{"type":"user","contents":[{"type":"text","text":"a","bold":true},'
        '{"type":"pdf","url":"u","pages":[1,2]}],"mood":"fine","attributes":{"mine":0}},'
        '{"type":"ai","tool_calls":[{"id":"c","name":"n","arguments":"","speed":null}]},'
        '{"type":"from the future","contents":{"deep":[0.5]}}]'
    )

    def test_comes_back_where_it_was(self) -> None:
        read = messages_from_json(self.FORM)
        assert messages_to_json(read) == f'{{"version":1,"messages":{self.FORM}}}'
        assert messages_from_json(messages_to_json(read)) == read

    def test_is_kept_among_the_attributes(self) -> None:
        _, user, ai, unknown = messages_from_json(self.FORM)
        assert user.attributes == {"mine": 0, "unknown_fields": {"mood": "fine"}}
        assert isinstance(ai, AiMessage)
        assert ai.tool_calls[0].attributes == {"unknown_fields": {"speed": None}}
        assert isinstance(unknown, CustomMessage)
        assert unknown.attributes["unknown_fields"]["contents"] == {"deep": [0.5]}

    def test_never_takes_the_place_of_a_known_one(self) -> None:
        message = UserMessage("hello", attributes={"unknown_fields": {"type": "system"}})
        assert messages_from_json(messages_to_json([message])) == (message,)


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ("", "EOF while parsing"),
        ("5", "not a document of messages"),
        ('{"messages": []}', "format version is missing"),
        ('{"version": true, "messages": []}', "format version is missing"),
        ('{"version": 7, "messages": "?"}', "written by a newer aiservices: their format version is 7"),
        ('{"version": 1}', "has the fields version and messages"),
        ('{"version": 1, "messages": [], "more": 1}', "and no others"),
        ('[{"type": "ai"}, 5]', "message 1: a message is an object whose type is a text"),
        ('[{"text": "a"}]', "message 0: a message is an object whose type is a text"),
        ('[{"type": "user"}]', "message 0: contents: Field required"),
        (
            '[{"type": "user", "contents": [{"type": "smell"}]}]',
            r"message 0: contents\[0\]: a content's type",
        ),
        (
            '[{"type": "user", "contents": [{"type": "image", "data": "*", "media_type": "a/b"}]}]',
            r"message 0: contents\[0\].data: ",
        ),
        ('[{"type": "user", "contents": [{"type": "image"}]}]', r"contents\[0\]: ImageContent takes either"),
        ('[{"type": "ai", "tool_calls": [{"id": 5}]}]', r"message 0: tool_calls\[0\].id: Input should be"),
        ('[{"type": "ai", "attributes": {"a": [1e999]}}]', r"AiMessage.attributes\['a'\]\[0\] is inf"),
        (
            '[{"type": "ai", "attributes": {"unknown_fields": 1}, "new": 2}]',
            "message 0: it has unknown fields",
        ),
        ('[{"type": "system", "text": "half a pair \\ud83d"}]', "hex escape"),
    ],
)
def test_what_cannot_be_read_is_a_value_error_that_names_the_place(document: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        messages_from_json(document)


def test_every_problem_is_named_and_no_secret_repeated() -> None:
    with pytest.raises(ValueError) as caught:
        messages_from_json('[{"type": "ai", "text": ["secret"]}, {"type": "system", "text": {"secret": 1}}]')
    assert str(caught.value).splitlines() == [
        "message 0: text: Input should be a valid string",
        "message 1: text: Input should be a valid string",
    ]


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        (UserMessage("half a pair \ud83d"), r"message 1: contents\[0\].text cannot be written as JSON"),
        (AiMessage(None, [ToolCall("c", "n", "\udc00")]), r"message 1: tool_calls\[0\].arguments cannot"),
        (CustomMessage({"a": {"\ud83d": 1}}), "message 1: attributes.a, the name of a field cannot"),
        (SystemMessage(b"bytes"), "message 1: text cannot be written as JSON: Object of type bytes"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_written_is_a_value_error_that_names_the_place(
    message: ChatMessage, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        messages_to_json([AiMessage("fine"), message])


@pytest.mark.parametrize("spoil", [lambda kept: kept.append(float("nan")), lambda kept: kept.append(kept)])
def test_attributes_spoiled_after_the_fact_are_refused_too(spoil: Any) -> None:
    message = UserMessage("hello", attributes={"list": []})
    spoil(message.attributes["list"])
    with pytest.raises(ValueError, match=r"message 0:.* cannot be written as JSON"):
        messages_to_json([message])


def test_the_fields_that_are_checked_are_those_that_are_known() -> None:
    def fields(form: Any) -> set[str]:
        return {"type", *get_type_hints(form)}

    assert fields(reading._User) == MESSAGE_FIELDS["user"]
    assert fields(reading._Ai) == MESSAGE_FIELDS["ai"]
    assert fields(reading._ToolResult) == MESSAGE_FIELDS["tool_result"]
    assert fields(reading._Text) == MESSAGE_FIELDS["system"] == CONTENT_FIELDS["text"]
    assert fields(reading._Image) == CONTENT_FIELDS["image"]
    assert fields(reading._Pdf) == CONTENT_FIELDS["pdf"]
    assert fields(reading._ToolCall) - {"type"} == TOOL_CALL_FIELDS


def test_what_is_no_message_is_named() -> None:
    with pytest.raises(TypeError, match="a str is no message"):
        messages_to_json(["hi"])  # type: ignore[list-item]

"""Streams of chat completions: of OpenAI, and of servers that cut and number them in ways of their own."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiservices.errors import InvalidRequestError, RateLimitError, ServerError
from aiservices.messages import (
    AiMessage,
    FinishReason,
    ModelEvent,
    PartialText,
    PartialThinking,
    PartialToolCall,
    TokenLogprob,
    TokenUsage,
    ToolCall,
)
from aiservices.models.openai.chat_completions import ChatCompletions
from aiservices.models.openai.dialect import Manner
from aiservices.models.openai.reading import Reading
from tests.models.fake_server import Answer, Script
from tests.models.openai.wire import DONE, HELLO, USAGE, answered, call_part, chunk, completion, model

ENCODED = json.dumps(chunk({"content": "a"}, "stop")).encode()


def heard_from(script: Script, *events: Any) -> list[ModelEvent]:
    return list(model(script.will_say(list(events))).stream(HELLO))


def test_a_text_comes_in_its_pieces_and_then_whole(script: Script) -> None:
    usage = {"id": "chatcmpl-1", "model": "gpt-test-1", "choices": [], "usage": USAGE}
    role = chunk({"role": "assistant", "content": "", "refusal": None})
    events = heard_from(
        script, role, chunk({"content": "He"}), chunk({"content": "llo"}), chunk({}, "stop"), usage, DONE
    )
    assert events[:-1] == [PartialText("He"), PartialText("llo")]
    answer = answered(events)
    assert answer.message == AiMessage("Hello")
    assert (answer.usage, answer.id, answer.model_name) == (TokenUsage(9, 4, 3), "chatcmpl-1", "gpt-test-1")
    assert script.heard["stream"] is True
    assert script.heard["stream_options"] == {"include_usage": True}


@pytest.mark.anyio
async def test_the_asynchronous_stream_is_the_same(script: Script) -> None:
    script.will_say([chunk({"content": "He"}), chunk({"content": "llo"}, "stop"), DONE])
    asking = model(script)
    assert [event async for event in asking.astream(HELLO)] == list(asking.stream(HELLO))


def test_nothing_is_asked_before_the_stream_is_read(script: Script) -> None:
    stream = model(script.will_say([chunk({"content": "a"}, "stop")])).stream(HELLO)
    assert script.requests == []
    assert len(list(stream)) == 2


def test_a_stream_is_put_together_to_what_a_plain_answer_would_be(script: Script) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q":"a"}'}}
    tokens = [{"token": "He", "logprob": -0.1}, {"token": "y", "logprob": -0.2}]
    plain = completion("Hey", "tool_calls", reasoning_content="Hm.", tool_calls=[call], note=["x", "y"])
    plain["choices"][0]["logprobs"] = {"content": tokens}
    events = [
        chunk({"reasoning_content": "H"}),
        chunk({"reasoning_content": "m."}),
        chunk({"content": "He", "note": ["x"]}, logprobs={"content": tokens[:1]}),
        chunk({"content": "y", "note": ["y"]}, logprobs={"content": tokens[1:]}),
        call_part("", index=0, id="c1", name="look", type="function"),
        call_part('{"q":', index=0),
        call_part('"a"}', index=0),
        chunk({}, "tool_calls"),
        {"choices": [], "usage": USAGE, "id": "chatcmpl-1", "model": "gpt-test-1"},
        DONE,
    ]
    streamed = answered(heard_from(script, *events))
    assert streamed == model(script.will_say(plain)).chat(HELLO)
    assert streamed.logprobs == (TokenLogprob("He", -0.1), TokenLogprob("y", -0.2))


@pytest.mark.parametrize(
    "stream",
    [
        [chunk({"content": "a"}, "stop")],
        [chunk({"content": "a"}, "stop"), DONE],
        [chunk({"content": "a"}), DONE],
        [{"choices": [], "prompt_filter_results": []}, chunk({"content": "a"}), chunk({}, "stop"), DONE],
        [{"choices": None}, {"usage": None}, chunk({"content": "a"}, "stop"), DONE],
        [chunk({"content": "a"}, "stop"), chunk(None), DONE],
        [chunk({"content": None}), chunk({"content": "a"}), chunk({"content": ""}, "stop"), DONE],
        [chunk({"content": "a"}, "stop", index=0), chunk({"content": "b"}, index=1), DONE],
        [chunk({"content": [{"type": "text", "text": "a"}]}, "stop"), DONE],
        [b": keep-alive\n\n", b"event: x\nid: 7\nretry: 3\ndata: " + ENCODED + b"\n\n", DONE],
        [b"\xef\xbb\xbfdata:" + ENCODED + b"\r\n\r\n", b"data:[DONE]\r\n\r\n"],
        [b"data: " + ENCODED.replace(b", ", b",\ndata: ") + b"\n\n"],
        [b"data: " + ENCODED + b"\r\rdata: [DONE]"],
        [chunk({"content": "a"}, "stop"), DONE, b"data: what comes after the end is not read\n\n"],
    ],
)
def test_the_same_answer_in_other_clothes(script: Script, stream: list[Any]) -> None:
    events = heard_from(script, *stream)
    assert [event for event in events if event == PartialText("a")] == [PartialText("a")]
    assert len(events) == 2
    assert (answered(events).message, answered(events).finish_reason) == (AiMessage("a"), FinishReason.STOP)


@pytest.mark.parametrize(
    ("usage", "known"),
    [
        ([{"usage": USAGE}, {"usage": None}], True),
        ([{"usage": {"prompt_tokens": 1, "completion_tokens": 1}}, {"usage": USAGE}], True),
        ([{}, {}], False),
    ],
)
def test_usage_may_come_with_any_chunk_and_the_last_word_counts(
    script: Script, usage: list[dict[str, Any]], known: bool
) -> None:
    first, second = chunk({"content": "a"}) | usage[0], chunk({}, "stop") | usage[1]
    expected = TokenUsage(9, 4, 3) if known else TokenUsage(known=False)
    assert answered(heard_from(script, first, second, DONE)).usage == expected


LOOK, READ = ToolCall("c1", "look", '{"q":"a"}'), ToolCall("c2", "read", '{"n":1}')
Q = ('{"q":', '"a"}')


@pytest.mark.parametrize(
    ("parts", "calls"),
    [
        pytest.param(
            [call_part("", id="c1", name="look"), call_part(Q[0]), call_part(Q[1], index=None)],
            [LOOK],
            id="a delta without an index goes on with the latest call",
        ),
        pytest.param(
            [call_part(Q[0], index=0, id="c1", name="look"), call_part(Q[1], index=0, id="c1", name="look")],
            [LOOK],
            id="id and name come again with each part",
        ),
        pytest.param(
            [call_part(Q[0], index=0, name="look"), call_part(Q[1], index=0, id="c1")],
            [LOOK],
            id="the id comes late",
        ),
        pytest.param(
            [call_part(Q[0], name="look"), call_part(Q[1], id="c1")],
            [LOOK],
            id="the id comes late, and there are no indexes",
        ),
        pytest.param(
            [
                call_part("", index=0, id="c1"),
                call_part(Q[0], index=0, name="look"),
                call_part(Q[1], index=0),
            ],
            [LOOK],
            id="the name comes late",
        ),
        pytest.param(
            [
                call_part("", index=0, id="c1", name="look"),
                call_part("", index=1, id="c2", name="read"),
                call_part(Q[0], index=0),
                call_part('{"n":', index=1),
                call_part(Q[1], index=0),
                call_part("1}", index=1),
            ],
            [LOOK, READ],
            id="two calls come interleaved",
        ),
        pytest.param(
            [
                call_part(Q[0], id="c1", name="look"),
                call_part('{"n":', id="c2", name="read"),
                call_part(Q[1], id="c1"),
                call_part("1}", id="c2"),
            ],
            [LOOK, READ],
            id="two calls come interleaved, told apart by their ids",
        ),
        pytest.param(
            [call_part(call.arguments, index=0, id=call.id, name=call.name) for call in (LOOK, READ)],
            [LOOK, READ],
            id="all calls have one index",
        ),
        pytest.param(
            [call_part("", index=0, id="c1", name="look"), call_part(LOOK.arguments, index=1)],
            [LOOK],
            id="the index of a continuation is wrong",
        ),
        pytest.param(
            [call_part(None, index=0, id="c1", name="now"), chunk({}, "tool_calls")],
            [ToolCall("c1", "now", "")],
            id="there are no arguments",
        ),
        pytest.param(
            [call_part({"q": "a"}, index=0, id="c1", name="look")],  # type: ignore[arg-type]
            [ToolCall("c1", "look", '{"q": "a"}')],
            id="the arguments are an object",
        ),
        pytest.param(
            [
                chunk(
                    {
                        "tool_calls": [
                            {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}}
                            for call in (LOOK, READ)
                        ]
                    }
                )
            ],
            [LOOK, READ],
            id="several calls in one chunk",
        ),
    ],
)
def test_a_tool_call_is_put_together_though(script: Script, parts: list[Any], calls: list[ToolCall]) -> None:
    answer = answered(heard_from(script, *parts, chunk({}, "tool_calls"), DONE))
    assert list(answer.message.tool_calls) == calls
    assert answer.finish_reason is FinishReason.TOOL_CALLS


@pytest.mark.parametrize("index", [None, 0])
def test_calls_of_one_tool_without_ids_are_told_apart_by_their_whole_arguments(
    script: Script, index: int | None
) -> None:
    parts = [call_part(arguments, index=index, name="look", id="") for arguments in ('{"q":1}', '{"q":2}')]
    calls = answered(heard_from(script, *parts, DONE)).message.tool_calls
    assert [(call.name, call.arguments) for call in calls] == [("look", '{"q":1}'), ("look", '{"q":2}')]
    assert len({call.id for call in calls}) == 2


def test_calls_of_one_tool_begun_under_two_indexes_stay_two(script: Script) -> None:
    parts = [call_part("", index=index, name="look") for index in (0, 1)]
    parts += [call_part(f'{{"q":{index}}}', index=index) for index in (0, 1)]
    calls = answered(heard_from(script, *parts, DONE)).message.tool_calls
    assert [call.arguments for call in calls] == ['{"q":0}', '{"q":1}']


def test_pieces_of_a_tool_call_tell_what_is_known_of_it(script: Script) -> None:
    parts = [call_part("", index=3, id="c1", name="look"), call_part("{}", index=3)]
    events = heard_from(script, *parts, DONE)
    assert events[:-1] == [PartialToolCall(0, "c1", "look", ""), PartialToolCall(0, "c1", "look", "{}")]


def test_a_signature_that_comes_with_a_part_of_a_call_is_kept(script: Script) -> None:
    signed = {"google": {"thought_signature": "s"}}
    parts = [call_part("{}", index=0, id="c1", name="now", extra_content=signed)]
    (call,) = answered(heard_from(script, *parts, DONE)).message.tool_calls
    assert call.attributes["openai_chat"]["told"] == {"extra_content": signed}


def test_thinking_under_two_names_is_heard_once(script: Script) -> None:
    events = heard_from(
        script, chunk({"reasoning": "Hm", "reasoning_content": "Hm"}), chunk({"content": "a"}, "stop")
    )
    assert events[:-1] == [PartialThinking("Hm"), PartialText("a")]
    assert answered(events).message == AiMessage("a", thinking="Hm")


def test_channel_marks_are_read_and_not_passed_on(script: Script) -> None:
    text = "<|channel|>analysis<|message|>Hm <x|<|end|>"
    text += "<|start|>assistant<|channel|>final<|message|>Yes <b>.<|return|>"
    events = heard_from(script, *(chunk({"content": letter}) for letter in text), chunk({}, "stop"), DONE)
    assert "".join(event.text for event in events if isinstance(event, PartialThinking)) == "Hm <x|"
    assert "".join(event.text for event in events if isinstance(event, PartialText)) == "Yes <b>."
    assert answered(events).message == AiMessage("Yes <b>.", thinking="Hm <x|")


def test_a_refusal_is_gathered(script: Script) -> None:
    events = heard_from(
        script, chunk({"refusal": "I "}), chunk({"refusal": "won't."}), chunk({}, "stop"), DONE
    )
    assert answered(events).message.refusal == "I won't."
    assert len(events) == 1


@pytest.mark.parametrize(
    ("stream", "kind", "words"),
    [
        ([], ServerError, "held no answer"),
        ([DONE], ServerError, "held no answer"),
        ([{"choices": [], "usage": USAGE}, DONE], ServerError, "held no answer"),
        ([chunk({"content": "a"})], ServerError, "broke off"),
        ([chunk({"content": "a"}), b"data: {\n\n"], ServerError, "not JSON"),
        ([chunk({"content": "a"}), b"data: 7\n\n"], ServerError, "a JSON int"),
        ([{"choices": ["what"]}], ServerError, "not the form"),
        ([{"error": {"message": "tool_use_failed", "code": 400}}], InvalidRequestError, "tool_use_failed"),
        ([chunk({"content": "a"}), {"error": {"message": "Overloaded"}}], ServerError, "Overloaded"),
        ([{"error": "out of memory"}], ServerError, "out of memory"),
        ([{"error": {"message": "slow down", "code": 429, "type": "busy"}}], RateLimitError, "slow down"),
        ([{"object": "error", "message": "bad", "code": 400}], InvalidRequestError, "bad"),
    ],
)
def test_a_stream_that_fails_raises_after_what_came(
    script: Script, stream: list[Any], kind: type[Exception], words: str
) -> None:
    heard: list[ModelEvent] = []
    with pytest.raises(kind, match=words):
        heard.extend(model(script.will_say(stream), max_attempts=1).stream(HELLO))
    assert len(script.requests) == 1


def test_what_came_before_a_failure_is_delivered(script: Script) -> None:
    stream = model(script.will_say([chunk({"content": "a"}), {"error": {"message": "x"}}])).stream(HELLO)
    assert next(stream) == PartialText("a")
    with pytest.raises(ServerError):
        next(stream)


def test_a_connection_that_breaks_in_the_middle_is_the_servers_error(script: Script) -> None:
    stream = model(script.will_say(Answer([chunk({"content": "a"})], breaks_off=True))).stream(HELLO)
    assert next(stream) == PartialText("a")
    with pytest.raises(ServerError, match="RemoteProtocolError"):
        next(stream)


@pytest.mark.anyio
async def test_what_happens_after_the_end_does_not_matter(script: Script) -> None:
    script.will_say(Answer([chunk({"content": "a"}, "stop"), DONE], breaks_off=True))
    assert len(list(model(script).stream(HELLO))) == 2
    assert len([event async for event in model(script).astream(HELLO)]) == 2


def test_a_server_that_does_not_stream_is_understood(script: Script) -> None:
    events = list(model(script.will_say(completion("Hey", reasoning_content="Hm"))).stream(HELLO))
    assert events[:-1] == [PartialThinking("Hm"), PartialText("Hey")]
    assert answered(events).message.text == "Hey"


@given(
    cuts=st.lists(st.integers(min_value=0, max_value=600), max_size=30),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_it_does_not_matter_where_the_bytes_are_cut(cuts: list[int], line_end: str) -> None:
    lines = []
    for event in (chunk({"content": "Zoë"}), chunk({"content": " 🐈"}), chunk({}, "stop")):
        in_two_lines = json.dumps(event, ensure_ascii=False).replace(", ", f",{line_end}data: ", 1)
        lines += [f"data: {in_two_lines}", ": comment", ""]
    stream = line_end.join([*lines, "data: [DONE]", "", ""]).encode()
    edges = [0, *sorted(cut % len(stream) for cut in cuts), len(stream)]
    reading = Reading(ChatCompletions(Manner(host="h")))
    events = [event for start, end in pairwise(edges) for event in reading.feed(stream[start:end])]
    events += reading.finish()
    assert events[:-1] == [PartialText("Zoë"), PartialText(" 🐈")]
    assert answered(events).message == AiMessage("Zoë 🐈")


def test_a_line_end_cut_in_two_is_one_line_end() -> None:
    first, second = ENCODED.split(b", ", 1)
    reading = Reading(ChatCompletions(Manner(host="h")))
    assert list(reading.feed(b"data: " + first + b",\r")) == []
    assert list(reading.feed(b"\ndata: " + second + b"\r\n\r\n")) == [PartialText("a")]

"""What streams give: texts, items and growing values, and the events around them."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from enum import Enum
from typing import Annotated, Any, Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

import aiservices
from aiservices import (
    AsyncStream,
    CallCompleted,
    CallFailed,
    ChatModel,
    ChatRequest,
    MemoryId,
    MessageWindowChatMemory,
    OutputParsingError,
    OutputTruncatedError,
    PartialText,
    ServerError,
    Stream,
    TokenUsage,
    ToolCall,
    ToolFinished,
    ToolStarted,
    tool,
)
from aiservices.messages import AiMessage, ChatResponse, FinishReason
from aiservices.testing import Pieces, ScriptedChatModel
from aiservices.tools import ReturnBehavior
from tests.asking import answer

from .models import Watched
from .styles import read, streaming


class Person(BaseModel):
    name: str
    age: int


class Color(Enum):
    RED = "red"
    BLUE = "blue"


ADA = '{"name": "Ada", "age": 36}'
TOM = '{"name": "Tom", "age": 45}'
KINDS = pytest.mark.parametrize("kind", [Iterator, AsyncIterator])
HANDLES = pytest.mark.parametrize("kind", [Stream, AsyncStream])


def asked(kind: Any, *replies: Any, **options: Any) -> Any:
    """What the method `ask` of a service returns, whose model answers this."""
    given = replies[0] if replies and isinstance(replies[0], ChatModel) else ScriptedChatModel(*replies)
    return aiservices.create(streaming(kind), chat_model=given, **options).ask("hi")


@tool
def now() -> str:
    """The time."""
    return "12:00"


def calling(text: str | None = None) -> ChatResponse:
    return ChatResponse(
        AiMessage(text, (ToolCall("c1", "now", ""),)), TokenUsage(1, 1), FinishReason.TOOL_CALLS
    )


class TestTexts:
    @KINDS
    def test_come_piece_by_piece(self, kind: Any) -> None:
        assert read(asked(kind[str], Pieces("he", "llo"))) == ["he", "llo"]

    @KINDS
    def test_of_a_model_that_does_not_stream_come_in_one_piece(self, kind: Any) -> None:
        class Plain(ChatModel):
            def chat(self, request: ChatRequest) -> ChatResponse:
                return answer("hello")

        assert read(asked(kind[str], Plain())) == ["hello"]

    @KINDS
    def test_are_made_when_they_are_read(self, kind: Any) -> None:
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
    def test_are_read_once(self, kind: Any) -> None:
        """STR-14"""
        model = Watched("a")
        stream = asked(kind[str], model)
        assert model.requests == []
        if kind is Iterator:
            assert (read(stream), read(stream)) == (["a"], [])

    @KINDS
    def test_around_a_tool_round_are_of_both_answers(self, kind: Any) -> None:
        assert read(asked(kind[str], calling("let me "), "12:00", tools=[now])) == [
            "let",
            " me",
            " ",
            "12:00",
        ]

    @KINDS
    def test_leave_thoughts_out_of_every_answer(self, kind: Any) -> None:
        replies = calling("<think>a tool!</think>"), Pieces("<thi", "nk>so</think>", "\n\n12", ":00")
        assert "".join(read(asked(kind[str], *replies, tools=[now]))) == "12:00"

    @KINDS
    def test_of_an_immediate_tool_are_its_value(self, kind: Any) -> None:
        @tool(returns=ReturnBehavior.IMMEDIATE)
        def at_once() -> str:
            """Answer."""
            return "12:00"

        assert read(asked(kind[str], ToolCall("c1", "at_once", ""), tools=[at_once])) == ["12:00"]

    @KINDS
    def test_that_end_badly_raise_after_what_was_said(self, kind: Any) -> None:
        seen: list[str] = []

        def reading() -> None:
            stream = asked(kind[str], answer("half a", FinishReason.LENGTH))
            if kind is Iterator:
                seen.extend(stream)
            else:

                async def all_of_it() -> None:
                    async for piece in stream:
                        seen.append(piece)

                asyncio.run(all_of_it())

        with pytest.raises(OutputTruncatedError) as caught:
            reading()
        assert seen == ["half", " a"]
        assert caught.value.usage == TokenUsage(1, 2)

    @KINDS
    def test_with_a_comment_on_them_are_texts_too(self, kind: Any) -> None:
        assert read(asked(kind[Annotated[str, "a comment"]], Pieces("a", "b"))) == ["a", "b"]

    @given(st.data())
    def test_are_together_what_a_plain_call_returns(self, data: st.DataObject) -> None:
        thought = data.draw(
            st.sampled_from(["", "<think>x</think>", "<thinking>\ny</thinking>\n", "<th", "<"])
        )
        whole = thought + data.draw(st.text("ab <>/\n", min_size=1)) + "end"
        cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)))))
        edges = [0, *cuts, len(whole)]
        pieces = [whole[a:b] for a, b in zip(edges, edges[1:], strict=False)]
        plain = asked(str, whole)
        assert "".join(asked(Iterator[str], Pieces(*pieces))) == plain
        assert list(asked(Stream[str], Pieces(*pieces)).partials())[-1] == plain


def test_a_failing_tool_between_two_answers_reaches_the_reader() -> None:
    """STR-06"""

    @tool
    def broken() -> str:
        """Break."""
        raise KeyError("x")

    response = ChatResponse(AiMessage("let me ", (ToolCall("c1", "broken", "{}"),)))
    memory, heard, seen = MessageWindowChatMemory(10), list[Any](), list[str]()
    stream = asked(
        Iterator[str],
        response,
        tools=[broken],
        on_tool_error="raise",
        chat_memory=memory,
        listeners=[heard.append],
    )
    with pytest.raises(aiservices.ToolFailedError):
        seen.extend(stream)
    assert "".join(seen) == "let me "
    kinds = [type(event) for event in heard]
    assert (kinds.count(CallFailed), kinds.count(CallCompleted)) == (1, 0)
    assert [type(message).__name__ for message in memory.messages()] == [
        "UserMessage",
        "AiMessage",
        "ToolResultMessage",
    ]


class TestItems:
    @KINDS
    def test_are_handed_over_when_they_are_complete(self, kind: Any) -> None:
        """STR-11"""
        pieces = f"[{ADA}", ',{"name":"Tom"', ',"age":45}', "]"
        model, made = Watched(*pieces), []

        async def reading() -> None:
            async for item in asked(kind[Person], model):
                made.append((item.name, len(model.log)))

        if kind is Iterator:
            made = [(item.name, len(model.log)) for item in asked(kind[Person], model)]
        else:
            asyncio.run(reading())
        assert made == [("Ada", 1), ("Tom", 3)]

    def test_reach_the_reader_while_the_model_waits(self) -> None:
        read_first = threading.Event()

        class Waiting(ChatModel):
            def stream(self, request: ChatRequest) -> Iterator[Any]:
                yield PartialText(f"[{ADA},")
                assert read_first.wait(5)
                yield PartialText(f"{TOM}]")
                yield aiservices.ResponseDone(answer(f"[{ADA},{TOM}]"))

        async def reading() -> list[str]:
            names = []
            async for item in asked(AsyncIterator[Person], Waiting()):
                names.append(item.name)
                read_first.set()
            return names

        assert asyncio.run(reading()) == ["Ada", "Tom"]

    @KINDS
    @pytest.mark.parametrize(
        ("item", "reply", "items"),
        [
            (Person, f"```json\n[{ADA}]\n```", [Person(name="Ada", age=36)]),
            (int, "[1, 2]", [1, 2]),
            (Color, '["red", "blue"]', [Color.RED, Color.BLUE]),
            (list[str], '[["a"], []]', [["a"], []]),
            (Annotated[str, Field(max_length=3)], '["a", "b"]', ["a", "b"]),
            (Person, "[]", []),
        ],
        ids=str,
    )
    def test_are_of_any_type(self, kind: Any, item: Any, reply: str, items: list[Any]) -> None:
        assert read(asked(kind[item], reply)) == items

    @KINDS
    def test_that_are_wrong_name_their_place_and_are_not_asked_for_again(self, kind: Any) -> None:
        model, heard, names = Watched(f"[{ADA}", ',{"name": 1}', f",{TOM}]"), list[Any](), list[str]()
        memory = MessageWindowChatMemory(10)
        stream = asked(kind[Person], model, listeners=[heard.append], chat_memory=memory)

        async def areading() -> None:
            async for item in stream:
                names.append(item.name)

        def reading() -> None:
            for item in stream:
                names.append(item.name)

        with pytest.raises(OutputParsingError) as caught:
            asyncio.run(areading()) if kind is AsyncIterator else reading()
        assert names == ["Ada"]
        assert {problem.path for problem in caught.value.problems} == {"[1].name", "[1].age"}
        assert "Streaming.ask" in str(caught.value)
        assert caught.value.usage == TokenUsage()
        assert (len(model.requests), model.freed, len(model.log)) == (1, 1, 2)
        assert [event.error for event in heard if isinstance(event, CallFailed)] == [caught.value]
        assert list(memory.messages()) == []

    @KINDS
    def test_of_a_cut_answer_come_before_its_error(self, kind: Any) -> None:
        seen: list[Person] = []

        async def areading(stream: Any) -> None:
            async for item in stream:
                seen.append(item)

        stream = asked(kind[Person], f'[{ADA}, {TOM}, {{"name": "Eve')
        with pytest.raises(OutputParsingError, match="cut off"):
            asyncio.run(areading(stream)) if kind is AsyncIterator else seen.extend(stream)
        assert [item.name for item in seen] == ["Ada", "Tom"]

    @KINDS
    def test_that_are_none_at_all_are_an_error(self, kind: Any) -> None:
        model = ScriptedChatModel("I have no list")
        with pytest.raises(OutputParsingError):
            read(asked(kind[Person], model))
        assert len(model.requests) == 1

    def test_of_an_immediate_tool_are_its_value(self) -> None:
        @tool(returns=ReturnBehavior.IMMEDIATE)
        def numbers() -> list[int]:
            """Numbers."""
            return [1, 2]

        assert read(asked(Iterator[int], ToolCall("c1", "numbers", "{}"), tools=[numbers])) == [1, 2]

    def test_are_of_the_answer_and_not_of_words_before_a_tool_round(self) -> None:
        assert read(asked(Iterator[int], calling("I look [up"), "[1, 2]", tools=[now])) == [1, 2]

    def test_that_another_answer_follows_are_not_mixed_with_its_own(self) -> None:
        stream, seen = asked(Iterator[int], calling("[1, 2]"), "[3]", tools=[now]), []
        with pytest.raises(OutputParsingError, match="another answer came"):
            for item in stream:
                seen.append(item)
        assert seen == [1, 2]


def partials(stream: Any) -> list[Any]:
    return read(stream.partials())


class TestGrowingValues:
    @HANDLES
    def test_never_go_backwards_and_end_with_the_value(self, kind: Any) -> None:
        text = json.dumps([{"name": "Ada", "age": 36}, {"name": "Tom", "age": 45}])
        stream = asked(kind[list[Person]], Pieces(*text))
        seen = partials(stream)
        assert seen[-1] == [Person(name="Ada", age=36), Person(name="Tom", age=45)]
        sizes = [len(value) for value in seen]
        assert sizes == sorted(sizes)
        names = [value[0].name for value in seen if value and value[0].name]
        assert all(later.startswith(earlier) for earlier, later in zip(names, names[1:], strict=False))

    def test_do_not_change_when_later_ones_come(self) -> None:
        text = json.dumps({"name": "Ada", "age": 36, "tags": ["a", "b"]})

        class Tagged(Person):
            tags: list[str]

        seen, then = [], []
        for value in asked(Stream[Tagged], Pieces(*text)).partials():
            seen.append(value)
            then.append(value.model_dump_json() if value.__pydantic_fields_set__ else repr(value))
        assert [v.model_dump_json() if v.__pydantic_fields_set__ else repr(v) for v in seen] == then

    @HANDLES
    def test_of_a_text_grow(self, kind: Any) -> None:
        assert partials(asked(kind[str], Pieces("a", "b", "c"))) == ["a", "ab", "abc", "abc"]

    @HANDLES
    def test_begin_anew_after_a_tool_round(self, kind: Any) -> None:
        seen = partials(asked(kind[str], calling("let me"), Pieces("12", ":00"), tools=[now]))
        assert seen == ["let", "let me", "12", "12:00", "12:00"]

    @HANDLES
    def test_begin_anew_when_the_answer_is_asked_for_again(self, kind: Any) -> None:
        replies = Pieces('{"name": "Ada"', ', "age": "old"}'), Pieces('{"name": "Bob"', ', "age": 3}')
        seen = partials(asked(kind[Person], *replies))
        names = [value.name for value in seen if value.name]
        assert names == sorted(names)
        assert seen[-1] == Person(name="Bob", age=3)

    @HANDLES
    def test_of_an_immediate_tool_are_none(self, kind: Any) -> None:
        @tool(returns=ReturnBehavior.IMMEDIATE)
        def person() -> str:
            """A person."""
            return "Ada"

        stream = asked(kind[Person], ToolCall("c1", "person", "{}"), tools=[person])
        assert partials(stream) == []
        result = stream.result() if kind is Stream else asyncio.run(stream.result())
        assert (result.content, result.tool_executions[0].value) == (None, "Ada")


def kinds(stream: Any) -> list[str]:
    return [type(event).__name__ for event in read(stream.events())]


class TestEvents:
    @HANDLES
    def test_are_those_of_the_model_and_those_that_listeners_hear(self, kind: Any) -> None:
        """Rows 522 and 523."""
        heard: list[Any] = []
        stream = asked(kind[str], calling(), Pieces("12", ":00"), tools=[now], listeners=[heard.append])
        events = read(stream.events())
        assert [type(event).__name__ for event in events] == [
            "CallStarted",
            "RequestSent",
            "PartialToolCall",
            "ResponseReceived",
            "ToolStarted",
            "ToolFinished",
            "RequestSent",
            "PartialText",
            "PartialText",
            "ResponseReceived",
            "CallCompleted",
        ]
        assert [event for event in events if hasattr(event, "context")] == heard

    @HANDLES
    def test_of_an_answer_that_is_asked_for_again_say_that_it_is_void(self, kind: Any) -> None:
        assert kinds(asked(kind[int], "many", "7")) == [
            "CallStarted",
            "RequestSent",
            "PartialText",
            "ResponseReceived",
            "AskedAgain",
            "Restarted",
            "RequestSent",
            "PartialText",
            "ResponseReceived",
            "CallCompleted",
        ]

    @HANDLES
    def test_of_a_failed_call_end_with_the_failure(self, kind: Any) -> None:
        events: list[Any] = []

        async def areading(stream: Any) -> None:
            async for event in stream.events():
                events.append(event)

        def reading(stream: Any) -> None:
            for event in stream.events():
                events.append(event)

        stream = asked(kind[str], Watched("a", ServerError("down")))
        with pytest.raises(ServerError):
            reading(stream) if kind is Stream else asyncio.run(areading(stream))
        assert [type(event).__name__ for event in events][-2:] == ["PartialText", "CallFailed"]

    @pytest.mark.parametrize("calls", [1, 3])
    def test_of_tools_come_while_the_tools_run(self, calls: int) -> None:
        """Row 523: the reader hears of a tool's start before the tool has ended."""
        heard = threading.Event()

        @tool
        def waiting(number: int) -> str:
            """Wait."""
            if calls > 1:  # one alone runs in step with its reader
                assert heard.wait(5)
            return "done"

        asks = [ToolCall(f"c{number}", "waiting", f'{{"number": {number}}}') for number in range(calls)]
        order: list[str] = []
        for event in asked(Stream[str], asks, "x", tools=[waiting]).events():
            if isinstance(event, ToolStarted | ToolFinished):
                order.append(type(event).__name__)
            if order.count("ToolStarted") == calls:
                heard.set()
        assert order.count("ToolStarted") == order.count("ToolFinished") == calls
        assert order[:calls] == ["ToolStarted"] * calls

    def test_of_asynchronous_tools_come_while_the_tools_run(self) -> None:
        async def main() -> None:
            heard = asyncio.Event()

            @tool
            async def waiting(number: int) -> str:
                """Wait."""
                await asyncio.wait_for(heard.wait(), 5)
                return "done"

            asks = [ToolCall(f"c{number}", "waiting", f'{{"number": {number}}}') for number in range(3)]
            async for event in asked(AsyncStream[str], asks, "x", tools=[waiting]).events():
                if isinstance(event, ToolStarted) and event.call.id == "c2":
                    heard.set()

        asyncio.run(main())

    def test_of_an_undo_come_before_the_next_request(self) -> None:
        from .test_four_styles import FAILING, UNDOING, booking

        stream = asked(Stream[str], [booking(1), FAILING], "x", compensation="tool_error", **UNDOING)
        names = kinds(stream)
        undone = names.index("Compensated")
        assert names[undone + 1] == "RequestSent"


class Talker(Protocol):
    def tell(self, who: Annotated[str, MemoryId], text: str) -> Iterator[str]: ...

    def ask(self, who: Annotated[str, MemoryId], text: str) -> str: ...


class Slow(ChatModel):
    def stream(self, request: ChatRequest) -> Iterator[Any]:
        for piece in "abc":
            time.sleep(0.1)
            yield PartialText(piece)
        yield aiservices.ResponseDone(answer("abc"))


def test_streams_of_two_conversations_interleave() -> None:
    """ASY-04"""
    memories: dict[Any, MessageWindowChatMemory] = {}

    def memory(key: Any) -> MessageWindowChatMemory:
        return memories.setdefault(key, MessageWindowChatMemory(10, id=key))

    service = aiservices.create(Talker, chat_model=Slow(), chat_memory_provider=memory)
    order: list[str] = []

    def reading(who: str) -> None:
        for piece in service.tell(who, "x"):
            order.append(f"{who}{piece}")

    begin = time.monotonic()
    threads = [threading.Thread(target=reading, args=(who,)) for who in "xy"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.monotonic() - begin < 0.3 * 1.5
    assert {each[1] for each in order[:2]} == {"a"}
    assert {key: len(each.messages()) for key, each in memories.items()} == {"x": 2, "y": 2}


def test_a_stream_that_is_being_read_keeps_no_plain_call_waiting() -> None:
    memories: dict[Any, MessageWindowChatMemory] = {}
    model = ScriptedChatModel("the stream", "the call", "again")
    service = aiservices.create(
        Talker,
        chat_model=model,
        chat_memory_provider=lambda key: memories.setdefault(key, MessageWindowChatMemory(10, id=key)),
    )
    stream = service.tell("ana", "first")
    assert next(stream) == "the"
    assert service.ask("ana", "second") == "the call"
    assert "".join(stream) == " stream"
    said = [getattr(message, "text", None) for message in memories["ana"].messages()]
    assert said == ["second", "the call", "first", "the stream"]
    assert service.ask("ana", "third") == "again"

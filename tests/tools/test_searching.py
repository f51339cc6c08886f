"""Tool search: the model sees a search in place of the tools, and then what it has found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

import aiservices
from aiservices import ConfigurationError
from aiservices.messages import AiMessage, ChatMessage, ToolCall, ToolResultMessage, UserMessage
from aiservices.models.embedding import EmbeddingModel, EmbeddingResponse
from aiservices.pipeline import STAGES, inserted
from aiservices.stages import use_tools
from aiservices.testing import ScriptedChatModel
from aiservices.tools import (
    EmbeddingToolSearch,
    KeywordToolSearch,
    Tool,
    ToolSearch,
    tool,
)
from aiservices.tools.searching import FOUND, search_tool
from tests.tools.given import Asker, called


def named(name: str, description: str = "", **attributes: Any) -> Tool[..., Any]:
    return tool(name=name, description=description, attributes=attributes)(lambda: name)


WEATHER = named("get_weather", "The forecast for a city.")
TIME = named("get_time", "The current time in a city.")
INVOICE = named("invoice", "Write a bill.")
TOOLS = [WEATHER, TIME, INVOICE]


def names(tools: Sequence[Tool[..., Any]]) -> list[str]:
    return [item.name for item in tools]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("forecast", ["get_weather"]),  # row 556
        ("weather", ["get_weather"]),  # row 557
        ("bill invoice", ["invoice"]),  # row 558
        ("time weather forecast", ["get_weather", "get_time"]),  # row 559: two words of the name, one more
        ("CITY city City", ["get_weather", "get_time"]),  # row 560
        ("current time", ["get_time"]),  # row 562
        ("time in London", ["get_time"]),
        ("unknown", []),
        ("", []),
    ],
)
def test_keywords_find_by_name_first_and_then_by_description(query: str, found: list[str]) -> None:
    assert names(KeywordToolSearch().search(query, TOOLS)) == found


def test_a_search_gives_no_more_than_it_is_asked_for() -> None:
    """Row 563."""
    assert names(KeywordToolSearch(max_results=1).search("city", TOOLS)) == ["get_weather"]
    with pytest.raises(ValueError, match="max_results is 0: give 1 or more"):
        KeywordToolSearch(max_results=0)


def test_a_tool_without_description_is_found_by_its_name() -> None:
    """Row 561."""
    assert names(KeywordToolSearch().search("bare", [named("bare_tool")])) == ["bare_tool"]


class Letters(EmbeddingModel):
    """Vectors that count letters; `asked` are the texts it was given."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> EmbeddingResponse:
        self.asked += texts
        return EmbeddingResponse(
            [[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
        )


def test_embeddings_find_by_meaning_and_each_tool_is_embedded_once() -> None:
    model = Letters()
    search = EmbeddingToolSearch(model, max_results=2)
    assert names(search.search("get time. the current time in a city", TOOLS))[0] == "get_time"
    assert len(model.asked) == 4
    assert len(search.search("write bill", TOOLS)) == 2
    assert model.asked[4:] == ["write bill"]
    assert search.search("", [named("x")])[0].name == "x"


def test_the_same_search_serves_different_tools() -> None:
    search = EmbeddingToolSearch(Letters())
    for tools in (TOOLS, [INVOICE], [], TOOLS):
        assert len(search.search("bill", tools)) == len(tools)


def told(result: ChatMessage) -> tuple[str, Any]:
    assert isinstance(result, ToolResultMessage)
    return result.text, result.attributes.get(FOUND)


def test_the_model_searches_then_sees_what_it_found_and_calls_it(invoke: Any) -> None:
    """Row 565: later finds are added to earlier ones."""
    model = ScriptedChatModel(
        ToolCall("1", "search_tools", '{"query": "bill"}'),
        ToolCall("2", "search_tools", '{"query": "weather"}'),
        (ToolCall("3", "invoice", "{}"), ToolCall("4", "get_weather", "{}")),
        "done",
    )
    service = aiservices.create(Asker, chat_model=model, tools=TOOLS, tool_search=KeywordToolSearch())
    assert invoke(service, "ask", "go") == "done"
    assert [[spec.name for spec in request.tools] for request in model.requests] == [
        ["search_tools"],
        ["search_tools", "invoice"],
        ["search_tools", "get_weather", "invoice"],
        ["search_tools", "get_weather", "invoice"],
    ]
    messages = model.requests[-1].messages
    assert told(messages[2]) == ("These tools are available now:\ninvoice: Write a bill.", ["invoice"])
    assert [told(message)[0] for message in messages[-2:]] == ["invoice", "get_weather"]


def test_a_search_that_finds_nothing_says_so(invoke: Any) -> None:
    model = ScriptedChatModel(ToolCall("1", "search_tools", '{"query": "x"}'), "done")
    service = aiservices.create(Asker, chat_model=model, tools=TOOLS, tool_search=KeywordToolSearch())
    invoke(service, "ask", "go")
    assert told(model.requests[1].messages[-1]) == ("No tool fits.", [])


@pytest.mark.parametrize("arguments", ["{}", '{"query": 3}', '{"terms": ["a"]}'])
def test_a_search_without_a_query_is_an_argument_error(invoke: Any, arguments: str) -> None:
    """Row 564."""
    model = ScriptedChatModel(ToolCall("1", "search_tools", arguments), "done")
    service = aiservices.create(Asker, chat_model=model, tools=TOOLS, tool_search=KeywordToolSearch())
    invoke(service, "ask", "go")
    result = model.requests[1].messages[-1]
    assert isinstance(result, ToolResultMessage)
    assert result.is_error
    assert "query" in result.text


def test_what_is_always_visible_is_offered_at_once_and_not_searched_for(invoke: Any) -> None:
    """Row 567; also for dynamic tools, whose attributes stand in their spec."""
    ping = named("ping", "The forecast of pings.", always_visible=True)
    model = ScriptedChatModel(ToolCall("1", "search_tools", '{"query": "forecast"}'), "done")
    service = aiservices.create(
        Asker,
        chat_model=model,
        tools=[ping, Tool(replace(ping.spec, name="pong"), lambda: 1), *TOOLS],
        tool_search=KeywordToolSearch(),
    )
    invoke(service, "ask", "go")
    assert [spec.name for spec in model.requests[0].tools] == ["search_tools", "ping", "pong"]
    assert told(model.requests[1].messages[-1])[1] == ["get_weather"]


def test_what_was_found_earlier_in_a_conversation_is_still_offered_and_what_is_gone_is_not(
    invoke: Any,
) -> None:
    """TOOL-38 and row 566: the attributes of messages keep it; names that are gone are passed over."""
    earlier = (
        UserMessage("earlier"),
        AiMessage(tool_calls=(ToolCall("0", "search_tools", '{"query": "bill"}'),)),
        ToolResultMessage("0", "search_tools", "found", attributes={FOUND: ["invoice", "vanished"]}),
        AiMessage("ok"),
    )

    async def recall(call: Any, proceed: Any) -> Any:
        return await proceed(replace(call, history=earlier))

    model = ScriptedChatModel((ToolCall("1", "invoice", "{}"), ToolCall("2", "vanished", "{}")), "done")
    stages = inserted(STAGES, recall, before=use_tools)
    service = aiservices.create(
        Asker, chat_model=model, tools=TOOLS, tool_search=KeywordToolSearch(), stages=stages
    )
    invoke(service, "ask", "go")
    assert [spec.name for spec in model.requests[0].tools] == ["search_tools", "invoice"]
    found, gone = model.requests[1].messages[-2:]
    assert told(found)[0] == "invoice"
    assert isinstance(gone, ToolResultMessage)
    assert gone.is_error
    assert "there is no tool 'vanished'; there are: search_tools, invoice" in gone.text


def test_a_search_of_ones_own_is_cut_to_what_it_promises() -> None:
    class Everything(ToolSearch):
        name = "find"

        def search(self, query: str, tools: Sequence[Tool[..., Any]]) -> list[Tool[..., Any]]:
            return list(tools)

    made = search_tool(Everything(max_results=2), TOOLS)
    assert made.name == "find"
    assert called(made, '{"query": "x"}').value == ["get_weather", "get_time"]


def test_a_tool_that_is_called_like_the_search_is_refused(invoke: Any) -> None:
    service = aiservices.create(
        Asker, chat_model=ScriptedChatModel(), tools=[named("search_tools")], tool_search=KeywordToolSearch()
    )
    with pytest.raises(ConfigurationError, match="a tool is called 'search_tools', as the search"):
        invoke(service, "ask", "go")

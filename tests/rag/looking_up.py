"""What the tests of retrieval share: retrievers that note what they are asked, and lists of segments."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from aiservices.driving import ASYNCHRONOUS, BLOCKING
from aiservices.messages import AiMessage, ToolCall, ToolResultMessage, UserMessage
from aiservices.rag import Query, QueryContext, RetrievalAugmentor, ScoredSegment, TextSegment
from aiservices.rag.augmentor import Retrieval

KINDS = ("blocking", "asynchronous")


class Source:
    """A retriever that gives these contents for any query, and notes the queries."""

    def __init__(self, *contents: Any, name: str = "Source") -> None:
        self.name = name
        self.contents = contents
        self.queries: list[Query] = []

    @property
    def texts(self) -> list[str]:
        return [query.text for query in self.queries]

    def retrieve(self, query: Query) -> Sequence[Any]:
        self.queries.append(query)
        return self.contents


class AsyncSource(Source):
    """The same with `async def`."""

    async def retrieve(self, query: Query) -> Sequence[Any]:  # type: ignore[override]
        await asyncio.sleep(0)
        return super().retrieve(query)


def drive(kind: str, run: Callable[..., Any], *arguments: Any) -> Any:
    """What `run(driver, *arguments)` gives in one of the two drives."""
    if kind == "blocking":
        return BLOCKING.run(run(BLOCKING, *arguments))
    return asyncio.run(ASYNCHRONOUS.run(run(ASYNCHRONOUS, *arguments)))


QUERY = Query("q", QueryContext())
SOURCES: list[type[Source]] = [Source, AsyncSource]


def look_up(kind: str, query: Query = QUERY, **slots: Any) -> Retrieval:
    """What an augmentor with these slots retrieves."""
    result = drive(kind, RetrievalAugmentor(**slots).retrieval, query)
    assert isinstance(result, Retrieval)
    return result


def found(*texts: Any) -> list[ScoredSegment]:
    return [ScoredSegment(TextSegment(str(text))) for text in texts]


def texts_of(contents: Iterable[ScoredSegment]) -> list[str]:
    return [each.text for each in contents]


TOOL_TALK = (
    UserMessage([]),
    AiMessage(None, (ToolCall("c1", "look", '{"secret": 1}'),)),
    ToolResultMessage("c1", "look", '{"result": 2}'),
    AiMessage("x"),
)
"""A picture without a text in place of which there is nothing, a tool round, and words."""


def after(*messages: Any, text: str = "q") -> Query:
    """A query in a conversation."""
    return Query(text, QueryContext(messages=tuple(messages), user_message=UserMessage(text)))

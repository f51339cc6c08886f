"""Transform, route, retrieve, aggregate: rows A1 to A5 of the facts."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from aiservices import ConfigurationError
from aiservices.driving import ASYNCHRONOUS, BLOCKING, Driver
from aiservices.rag import (
    EmbeddingStoreRetriever,
    Match,
    Query,
    RetrievalAugmentor,
    ScoredSegment,
    TextSegment,
)

from .looking_up import KINDS, QUERY, SOURCES, AsyncSource, Source, found, look_up, texts_of


class Aggregated:
    """An aggregator that notes what it is given and gives all of it."""

    def __init__(self) -> None:
        self.results: list[tuple[str, list[list[str]]]] = []

    def aggregate(self, results: Any) -> list[ScoredSegment]:
        self.results = [(query.text, [texts_of(each) for each in lists]) for query, lists in results]
        return [each for _, lists in results for contents in lists for each in contents]


class NoGathering:
    """A driver whose side-by-side running would be seen."""

    def __init__(self) -> None:
        self.most = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(BLOCKING, name)

    async def gather(self, jobs: Sequence[Any], *, limit: int | None = None) -> Any:
        self.most = max(self.most, len(jobs))
        return await BLOCKING.gather(jobs, limit=limit)


def test_one_query_for_one_retriever_needs_no_thread() -> None:
    """Row A1"""
    threads: list[Any] = []

    def retrieve(query: Query) -> list[str]:
        threads.append(threading.current_thread())
        return ["a"]

    driver: Any = NoGathering()
    BLOCKING.run(RetrievalAugmentor(retrievers=[retrieve]).retrieval(driver, QUERY))
    assert (threads, driver.most) == ([threading.current_thread()], 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", SOURCES)
def test_retrievers_are_asked_side_by_side_and_ordered_as_given(kind: str, source: Any) -> None:
    """Row A2: each waits until all of them have been asked, and the last one given ends first"""
    asked = threading.Barrier(3, timeout=60)
    turns = [threading.Event() for _ in range(3)]

    def waiting(index: int) -> Callable[[Query], Any]:
        def retrieve(query: Query) -> list[str]:
            asked.wait()
            if index < 2:
                assert turns[index + 1].wait(60)
            turns[index].set()
            return [f"r{index}"]

        async def aretrieve(query: Query) -> list[str]:
            return await asyncio.to_thread(retrieve, query)

        return retrieve if source is Source else aretrieve

    aggregated = Aggregated()
    look_up(kind, retrievers=[waiting(0), waiting(1), waiting(2)], content_aggregator=aggregated)
    assert aggregated.results == [("q", [["r0"], ["r1"], ["r2"]])]


@pytest.mark.parametrize("kind", KINDS)
def test_every_query_goes_to_every_retriever(kind: str) -> None:
    """Row A3"""
    first, second, aggregated = Source("a"), AsyncSource("b"), Aggregated()
    result = look_up(
        kind,
        retrievers=[first, second],
        query_transformer=lambda query: ["one", Query("two")],
        content_aggregator=aggregated,
    )
    assert aggregated.results == [("one", [["a"], ["b"]]), ("two", [["a"], ["b"]])]
    assert sorted(first.texts) == sorted(second.texts) == ["one", "two"]
    assert all(query.context is QUERY.context for query in (*first.queries, *result.queries))
    assert (texts_of(result.contents), result.asked) == (["a", "b", "a", "b"], 4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_query_that_comes_twice_is_looked_up_once(kind: str) -> None:
    """The upstream collapses equal queries too, and loses their order."""
    source = Source("a")
    result = look_up(kind, retrievers=[source], query_transformer=lambda query: ["b", "a", " ", "b", query])
    assert [query.text for query in result.queries] == ["b", "a", "q"]
    assert sorted(source.texts) == ["a", "b", "q"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_router_that_chooses_nothing_leaves_nothing_to_look_up(kind: str) -> None:
    """Row A4"""
    source = Source("a")
    result = look_up(kind, retrievers=[source], query_router=lambda query: [])
    assert (result.contents, result.asked, source.queries) == ((), 0, [])


def test_neither_retriever_nor_router_is_refused() -> None:
    """Row A5"""
    with pytest.raises(ConfigurationError, match="nothing to ask: give retrievers or a query_router"):
        RetrievalAugmentor()


@pytest.mark.parametrize("kind", KINDS)
def test_a_router_chooses_for_each_query(kind: str) -> None:
    docs, web = Source("d"), AsyncSource("w")

    class Router:
        async def route(self, query: Query) -> Any:
            return {"one": [docs], "two": web, "three": [web, docs, web]}[query.text]

    aggregated = Aggregated()
    look_up(
        kind,
        query_router=Router(),
        query_transformer=lambda query: ["one", "two", "three"],
        content_aggregator=aggregated,
    )
    assert aggregated.results == [("one", [["d"]]), ("two", [["w"]]), ("three", [["w"], ["d"]])]


def test_every_slot_takes_functions_and_objects_of_both_kinds() -> None:
    class Parts:
        def transform(self, query: Query) -> Query:
            return query.saying("t")

        def route(self, query: Query) -> Any:
            return self

        async def aretrieve(self, query: Query) -> list[TextSegment]:
            return [TextSegment(query.text)]

        async def aggregate(self, results: Any) -> list[str]:
            return [*results[0][1][0][0].text, "!"]

    async def transform(query: Query) -> str:
        return "t"

    async def route(query: Query) -> Any:
        return [Parts()]

    for kind in KINDS:
        both = Parts()
        one = look_up(kind, query_transformer=both, query_router=both, content_aggregator=both)
        other = look_up(
            kind,
            query_transformer=transform,
            query_router=route,
            content_aggregator=lambda r: found("t", "!"),
        )
        assert texts_of(one.contents) == texts_of(other.contents) == ["t", "!"]


def test_of_twins_the_one_that_fits_is_asked() -> None:
    class Twins:
        def retrieve(self, query: Query) -> list[str]:
            return ["blocking"]

        async def aretrieve(self, query: Query) -> list[str]:
            return ["asynchronous"]

    for kind in KINDS:
        assert texts_of(look_up(kind, retrievers=[Twins()]).contents) == [kind]


def test_an_object_may_name_its_only_asynchronous_method_either_way() -> None:
    class Both:
        async def retrieve(self, query: Query) -> list[str]:
            return ["a"]

        aretrieve = retrieve

    for kind in KINDS:
        assert texts_of(look_up(kind, retrievers=[Both()]).contents) == ["a"]


@pytest.mark.parametrize("kind", KINDS)
def test_where_nothing_was_found_there_is_nothing_to_aggregate(kind: str) -> None:
    def aggregate(results: Any) -> Any:
        raise AssertionError("nobody asks")

    result = look_up(kind, retrievers=[Source(), Source()], content_aggregator=aggregate)
    assert (result.contents, result.asked) == ((), 2)


def test_the_order_is_that_of_query_and_retriever_whoever_is_done_first() -> None:
    """The sources of the second query are done before those of the first begin to answer."""
    done = threading.Event()

    def slow(query: Query) -> list[str]:
        if query.text == "first":
            assert done.wait(60)
        else:
            done.set()
        return [f"{query.text} answer"]

    result = look_up("blocking", retrievers=[slow], query_transformer=lambda query: ["first", "second"])
    assert texts_of(result.contents) == ["first answer", "second answer"]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (None, "the retriever Source gave a NoneType: it gives texts"),
        ([1], "the retriever Source gave a int among its contents"),
        ({"a": 1}, "the retriever Source gave a dict: it gives texts"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_content_is_said_with_the_name_of_the_retriever(
    kind: str, given: Any, complaint: str
) -> None:
    source = Source()
    source.contents = given
    with pytest.raises(TypeError, match=complaint):
        look_up(kind, retrievers=[source])


def test_a_single_text_or_segment_is_one_content() -> None:
    for content in ("one text", TextSegment("one text"), ScoredSegment(TextSegment("one text"))):
        source = Source()
        source.contents = content  # type: ignore[assignment]
        assert texts_of(look_up("blocking", retrievers=[source]).contents) == ["one text"]


@pytest.mark.parametrize(
    ("slots", "complaint"),
    [
        ({"query_transformer": lambda query: 3}, "query_transformer <lambda> gave a int"),
        ({"query_transformer": lambda query: {"a": 1}}, "query_transformer <lambda> gave a dict"),
        ({"query_transformer": lambda query: [3]}, "gave a int among its queries"),
        ({"query_router": lambda query: 3}, "query_router <lambda> gave a int"),
        ({"query_router": lambda query: [3]}, "the retriever 3 is neither a function nor an object"),
        ({"content_aggregator": lambda results: 3}, "content_aggregator <lambda> gave a int"),
    ],
)
def test_what_a_slot_may_not_give_is_said_with_its_name(slots: Any, complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        look_up("blocking", retrievers=[Source("a")], **slots)


def test_everything_that_does_not_fit_is_said_at_once() -> None:
    wrong: Any = {
        "retrievers": [Source, 3],
        "query_transformer": "t",
        "content_injector": Source,
        "on_empty": 3,
        "on_retriever_error": "ignore",
    }
    with pytest.raises(ConfigurationError) as caught:
        RetrievalAugmentor(**wrong)
    assert caught.value.problems == (
        "the retriever Source is a class: give an object, Source(...)",
        "the retriever 3 is neither a function nor an object with retrieve(...)",
        "the query_transformer 't' is neither a function nor an object with transform(...)",
        "the content_injector Source is a class: give an object, Source(...)",
        "on_empty is a int: give the text to answer with, or None",
        "on_retriever_error is 'ignore': give 'raise' or 'skip'",
    )
    with pytest.raises(ConfigurationError, match="retrievers is a Source: give a list or a tuple"):
        RetrievalAugmentor(retrievers=Source("a"))  # type: ignore[arg-type]


def test_an_augmentor_is_a_retriever_itself() -> None:
    inner = RetrievalAugmentor(retrievers=[Source("a", "b")], name="inner")
    assert texts_of(inner.retrieve("q")) == texts_of(asyncio.run(inner.aretrieve("q"))) == ["a", "b"]
    outer = RetrievalAugmentor(retrievers=[inner, Source("b")])
    assert texts_of(outer.retrieve(Query("q"))) == ["b", "a"]


def test_a_shipped_retriever_runs_in_the_drive_that_it_is_asked_in() -> None:
    from aiservices.models.embedding import EmbeddingModel, EmbeddingResponse

    class Model(EmbeddingModel):
        def embed(self, texts: Sequence[str]) -> EmbeddingResponse:
            return EmbeddingResponse([[0.5]])

        async def aembed(self, texts: Sequence[str]) -> EmbeddingResponse:
            return EmbeddingResponse([[1.0]])

    class Store:
        def search(self, vector: Any, **options: Any) -> list[Match]:
            return [Match("i", 1.0, TextSegment(f"blocking {vector}"))]

        async def asearch(self, vector: Any, **options: Any) -> list[Match]:
            return [Match("i", 1.0, TextSegment(f"asynchronous {vector}"))]

    store: Any = Store()
    retriever = EmbeddingStoreRetriever(embedding_store=store, embedding_model=Model())
    drives: list[Driver] = [BLOCKING, ASYNCHRONOUS]
    assert len(drives) == len(KINDS)
    seen = [texts_of(look_up(kind, retrievers=[retriever]).contents) for kind in KINDS]
    assert seen == [["blocking [0.5]"], ["asynchronous [1.0]"]]

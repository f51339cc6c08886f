"""Retrievers over stores and indexes: rows C1 to C4 of the facts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from aiservices import ConfigurationError, InvocationParameters
from aiservices.models.embedding import EmbeddingModel, EmbeddingResponse
from aiservices.rag import (
    EmbeddingStore,
    EmbeddingStoreRetriever,
    F,
    HybridRetriever,
    InMemoryEmbeddingStore,
    KeywordRetriever,
    Match,
    Query,
    QueryContext,
    TextSegment,
)
from aiservices.rag.retrievers import DrivenRetriever

from .looking_up import KINDS, AsyncSource, Source, drive, found, texts_of


class Letters(EmbeddingModel):
    """Vectors that count letters."""

    def embed(self, texts: Sequence[str]) -> EmbeddingResponse:
        return EmbeddingResponse([[float(text.count(letter)) for letter in "abcx"] for text in texts])


class Asked(EmbeddingStore):
    """A store that is empty and notes what it is asked."""

    def __init__(self) -> None:
        self.searches: list[Any] = []

    def add(self, *given: Any, **options: Any) -> list[str]:
        raise NotImplementedError

    def search(self, vector: Sequence[float], **options: Any) -> list[Match]:
        self.searches.append((list(vector), options))
        return []

    def remove(self, *given: Any, **options: Any) -> int:
        raise NotImplementedError


class Words:
    """What a keyword index does, for whole words."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts
        self.searches: list[dict[str, Any]] = []

    def search(self, text: str, **options: Any) -> list[Match]:
        self.searches.append(options)
        hits = [each for each in self.texts if set(text.split()) & set(each.split())]
        return [Match(each, 1.5, TextSegment(each)) for each in hits][: options["max_results"]]


def over(store: Any, **options: Any) -> EmbeddingStoreRetriever:
    return EmbeddingStoreRetriever(embedding_store=store, embedding_model=Letters(), **options)


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_is_asked_for_three_with_any_score_and_no_filter(kind: str) -> None:
    """Row C1"""
    store = Asked()
    drive(kind, over(store).drive, Query("ab"))
    options = {"query": "ab", "max_results": 3, "min_score": 0.0, "filter": None}
    assert store.searches == [([1.0, 1.0, 0.0, 0.0], options)]


@pytest.mark.parametrize("kind", KINDS)
def test_settings_may_depend_on_the_query(kind: str) -> None:
    """Row C2, where one option takes both"""
    store = Asked()

    async def tenant(query: Query) -> Any:
        return F("tenant") == query.context.parameters["tenant"]

    retriever = over(store, max_results=lambda query: len(query.text), min_score=lambda q: 0.5, filter=tenant)
    context = QueryContext(parameters=InvocationParameters({"tenant": "t1"}))
    drive(kind, retriever.drive, Query("abcd", context))
    options = {"query": "abcd", "max_results": 4, "min_score": 0.5, "filter": F("tenant") == "t1"}
    assert [given for _, given in store.searches] == [options]


def test_a_real_store_gives_scores_and_ids_best_first() -> None:
    store, segments = InMemoryEmbeddingStore(), [TextSegment("b"), TextSegment("a", {"page": 1})]
    store.add(Letters().embed(["b", "a"]).vectors, segments, ids=["id-b", "id-a"])
    (best,) = over(store, max_results=1).retrieve("a")
    assert (best.segment, best.score, best.id) == (segments[1], pytest.approx(1.0), "id-a")
    both = asyncio.run(over(store).aretrieve(Query("a")))
    assert texts_of(both) == ["a", "b"]
    assert texts_of(over(store, filter=F("page") != 1).retrieve("a")) == ["b"]


@pytest.mark.parametrize("kind", KINDS)
def test_keywords_are_looked_up_in_an_index(kind: str) -> None:
    index: Any = Words("an E42 error", "another", "E42 again")
    given = drive(kind, KeywordRetriever(keyword_index=index, max_results=1).drive, Query("what is E42"))
    assert [(each.text, each.score, each.id) for each in given] == [("an E42 error", 1.5, "an E42 error")]
    drive(kind, KeywordRetriever(keyword_index=index, filter=lambda q: F("x") == q.text).drive, Query("y"))
    assert index.searches == [{"max_results": 1, "filter": None}, {"max_results": 3, "filter": F("x") == "y"}]


@pytest.mark.parametrize("kind", KINDS)
def test_a_hybrid_asks_all_its_parts_and_fuses_what_they_find(kind: str) -> None:
    first, second = Source(*found("a", "b")), AsyncSource(*found("b", "c"))
    assert texts_of(drive(kind, HybridRetriever(first, second).drive, Query("q"))) == ["b", "a", "c"]
    assert texts_of(drive(kind, HybridRetriever(first, second, max_results=1).drive, Query("q"))) == ["b"]
    assert first.texts == second.texts == ["q", "q"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_failing_one_of_several_that_are_one_is_named(kind: str) -> None:
    def wiki(query: Query) -> list[str]:
        raise ConnectionError("it is down")

    with pytest.raises(ConnectionError) as caught:
        drive(kind, HybridRetriever(Source("a"), wiki).drive, Query("q"))
    assert caught.value.__notes__ == ["This comes from the retriever wiki."]


def test_what_is_missing_or_cannot_work_is_refused() -> None:
    """Row C3"""
    model = Letters()
    with pytest.raises(TypeError, match="embedding_store"):
        EmbeddingStoreRetriever(embedding_model=model)  # type: ignore[call-arg]
    wrong: list[tuple[Any, str]] = [
        (lambda: over("sqlite://"), "embedding_store is 'sqlite://': give an EmbeddingStore"),
        (lambda: over(Asked), "embedding_store is .*Asked.*: give an EmbeddingStore"),
        (
            lambda: EmbeddingStoreRetriever(embedding_store=Asked(), embedding_model=3),  # type: ignore[arg-type]
            "the embedding model is a int: give an EmbeddingModel",
        ),
        (lambda: KeywordRetriever(keyword_index=3), "keyword_index is 3"),  # type: ignore[arg-type]
        (HybridRetriever, "HybridRetriever has no retrievers"),
        (lambda: HybridRetriever(3), "retriever 3 is neither a function"),  # type: ignore[arg-type]
        (lambda: HybridRetriever(InMemoryEmbeddingStore()), "look it up with an EmbeddingStoreRetriever"),  # type: ignore[arg-type]
        (lambda: HybridRetriever([]), r"join several with HybridRetriever\(\*retrievers\)"),  # type: ignore[arg-type]
    ]
    for make, problem in wrong:
        with pytest.raises(ConfigurationError, match=problem):
            make()
    for score in (-0.1, 1.1, "high", float("nan")):
        with pytest.raises(ValueError, match=r"min_score is .*: scores go from 0 to 1"):
            over(Asked(), min_score=score)
    with pytest.raises(TypeError, match="the filter is a F: build one"):
        over(Asked(), filter=F("tenant"))
    for count in (0, -1, True, 2.5):
        with pytest.raises(ValueError, match="max_results is"):
            over(Asked(), max_results=count)


def test_a_query_outside_of_any_call_has_an_empty_context() -> None:
    assert Query("x").context == QueryContext() == Query("x", None).context
    assert Query("x") == Query("x", None) == Query("x").saying("x")
    with pytest.raises(TypeError, match="the text of a query is None: give a str"):
        Query(None)  # type: ignore[arg-type]


def test_a_retriever_says_what_it_is_called() -> None:
    """Row C4"""
    assert repr(over(Asked(), name="manual")) == "<retriever manual>"
    assert repr(over(Asked())) == "<retriever EmbeddingStoreRetriever>"


def test_a_retriever_of_ones_own_may_be_written_once_for_both_drives() -> None:
    class Echo(DrivenRetriever):
        async def drive(self, driver: Any, query: Query) -> Any:
            return found(await driver.call(str.upper, query.text))

    assert texts_of(Echo().retrieve("a")) == texts_of(asyncio.run(Echo().aretrieve("a"))) == ["A"]

"""What mypy and pyright infer for users of retrieval; read by them, never run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, assert_type

import aiservices
from aiservices import Result, Retrieved, UserMessage
from aiservices.models import ScoringModel
from aiservices.rag import (
    CompressingQueryTransformer,
    ContentInjector,
    Document,
    EmbeddingStoreRetriever,
    ExpandingQueryTransformer,
    F,
    Filter,
    HybridRetriever,
    InMemoryEmbeddingStore,
    ModelQueryRouter,
    Query,
    ReciprocalRankFusion,
    ReRanker,
    RetrievalAugmentor,
    RetrievalFailure,
    Retriever,
    RetrieverLike,
    ScoredSegment,
    TextSegment,
    WebPage,
    WebSearchRetriever,
    retrieval_tool,
)
from aiservices.tools import Tool


class Texts:
    def retrieve(self, query: Query) -> list[str]:
        return [query.text]


class Segments:
    async def retrieve(self, query: Query) -> Sequence[TextSegment]:
        return [TextSegment(query.text)]


def scored(query: Query) -> list[ScoredSegment]:
    return []


async def later(query: Query) -> tuple[str, ...]:
    return (query.text,)


class Numbers:
    def retrieve(self, query: Query) -> list[int]:
        return [1]


class Lengths(ScoringModel):
    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return [float(len(text)) for text in texts]


def search(query: str, max_results: int) -> list[WebPage | dict[str, str]]:
    return [WebPage("https://example.org", query)]


retriever: Retriever = Texts()
others: list[RetrieverLike] = [Texts(), Segments(), scored, later, HybridRetriever(Texts(), later)]
wrong: RetrieverLike = Numbers()  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]

augmentor = RetrievalAugmentor(
    retrievers=[*others, WebSearchRetriever(search)],
    query_transformer=CompressingQueryTransformer("local"),
    query_router=ModelQueryRouter("local", {retriever: "texts", scored: "more"}, fallback="all"),
    content_aggregator=ReRanker(Lengths(), max_results=3, min_score=0.5),
    content_injector=ContentInjector("{{ contents }} {{ user_message }}", metadata=["source"]),
    on_empty="I do not know.",
    on_retriever_error="skip",
)
RetrievalAugmentor(retrievers=[retriever], on_retriever_error="ignore")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
RetrievalAugmentor(retrievers=[augmentor], query_transformer=ExpandingQueryTransformer("local", n=2))

assert_type(augmentor.retrieve("q"), list[ScoredSegment])
assert_type(ReciprocalRankFusion(k=60).aggregate([(Query("q"), [[]])]), list[ScoredSegment])
assert_type(ContentInjector().inject([], UserMessage("q")), UserMessage)
assert_type(retrieval_tool(scored, name="search"), Tool[..., Any])


class Asker(Protocol):
    def ask(self, text: str) -> Result[str]: ...


def heard(event: aiservices.Event) -> None:
    if isinstance(event, Retrieved):
        assert_type(event.contents, tuple[ScoredSegment, ...])


asker = aiservices.create(Asker, chat_model="local", content_retriever=later, listeners=[heard])
aiservices.create(Asker, chat_model="local", retrieval_augmentor=augmentor, store_retrieved_content=True)
aiservices.create(Asker, chat_model="local", content_retriever=Numbers())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
assert_type(asker.ask("q").sources, tuple[ScoredSegment, ...])
assert_type(asker.ask("q").retrieval_errors, tuple[RetrievalFailure, ...])
assert_type(asker.ask("q").sources[0].score, float | None)

title: str | None = None
assert_type(Document("t", {"title": title, "pages": [1, 2], "draft": False}).id, str)
assert_type(TextSegment("t", {"title": title, "tags": ["a"]}, 0, 1).start, int | None)
TextSegment("t", {"title": object()})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]


def of_the_tenant(query: Query) -> Filter:
    tenant: str = query.context.parameters["tenant"]
    return F("tenant") == tenant


EmbeddingStoreRetriever(
    embedding_store=InMemoryEmbeddingStore(), embedding_model="local", filter=of_the_tenant
)

"""Retrievers over an embedding store and a keyword index, and several of them as one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from ..driving import ASYNCHRONOUS, BLOCKING, Driver
from ..errors import ConfigurationError
from ..models.naming import AnyEmbeddingModel, embedding_model_of
from ..segments import ScoredSegment
from .fanning_out import found_by
from .filters import Filter, checked_filter
from .query import Query, query_of
from .rank_fusion import RRF_K, ReciprocalRankFusion
from .roles import RetrieverLike
from .slots import DrivenPart, slot

if TYPE_CHECKING:
    from .embedding_store import EmbeddingStore, Match
    from .keyword_index import KeywordIndex

FilterOption: TypeAlias = Filter | Callable[[Query], Any] | None


class DrivenRetriever(DrivenPart):
    """A retriever that is written once for both drives: a subclass writes `drive`.

    `name` is how it is called in errors and logs; by default it is the name of the class.
    """

    name: str | None = None

    @abstractmethod
    async def drive(self, driver: Driver, query: Query) -> list[ScoredSegment]:
        """What fits the query, best first."""

    def retrieve(self, query: Query | str) -> list[ScoredSegment]:
        """What fits the query, best first."""
        return BLOCKING.run(self.drive(BLOCKING, query_of(query)))

    async def aretrieve(self, query: Query | str) -> list[ScoredSegment]:
        """What fits the query, best first."""
        return await ASYNCHRONOUS.run(self.drive(ASYNCHRONOUS, query_of(query)))

    def __repr__(self) -> str:
        return f"<retriever {self.name or type(self).__name__}>"


class EmbeddingStoreRetriever(DrivenRetriever):
    """Finds segments that mean what the query means: its vector against those in the store.

    At most `max_results` (3) that score at least `min_score` (0 to 1; 0) and pass the `filter`. Each of the
    three may also be a function of the query, sync or async: a filter by `query.context.parameters`, say.
    `embedding_model` is the one that filled the store: an `EmbeddingModel`, a name such as `"local"`, or a
    function that makes vectors of texts.
    """

    def __init__(
        self,
        *,
        embedding_store: EmbeddingStore,
        embedding_model: AnyEmbeddingModel,
        max_results: int | Callable[[Query], Any] = 3,
        min_score: float | Callable[[Query], Any] = 0.0,
        filter: FilterOption = None,
        name: str | None = None,
    ) -> None:
        _check_searchable("embedding_store", embedding_store, "an EmbeddingStore")
        _check_count("max_results", max_results)
        _check_score(min_score)
        _check_filter(filter)
        self.embedding_store = embedding_store
        self.embedding_model = embedding_model_of(embedding_model)
        self.max_results = max_results
        self.min_score = min_score
        self.filter = filter
        self.name = name

    async def drive(self, driver: Driver, query: Query) -> list[ScoredSegment]:
        model, store = self.embedding_model, self.embedding_store
        settings = {
            "max_results": await _for_query(driver, self.max_results, query),
            "min_score": await _for_query(driver, self.min_score, query),
            "filter": await _for_query(driver, self.filter, query),
        }
        embedded = await driver.twin(model.embed, model.aembed, [query.text])
        search = partial(store.search, query=query.text, **settings)
        asearch = partial(store.asearch, query=query.text, **settings)
        return _scored(await driver.twin(search, asearch, embedded.vectors[0]))


class KeywordRetriever(DrivenRetriever):
    """Finds segments that have the words of the query, by BM25: good at names, codes and rare words.

    At most `max_results` (3) that pass the `filter`; either may also be a function of the query.
    """

    def __init__(
        self,
        *,
        keyword_index: KeywordIndex,
        max_results: int | Callable[[Query], Any] = 3,
        filter: FilterOption = None,
        name: str | None = None,
    ) -> None:
        _check_searchable("keyword_index", keyword_index, "a KeywordIndex")
        _check_count("max_results", max_results)
        _check_filter(filter)
        self.keyword_index = keyword_index
        self.max_results = max_results
        self.filter = filter
        self.name = name

    async def drive(self, driver: Driver, query: Query) -> list[ScoredSegment]:
        search = partial(
            self.keyword_index.search,
            max_results=await _for_query(driver, self.max_results, query),
            filter=await _for_query(driver, self.filter, query),
        )
        return _scored(await driver.call(search, query.text))


class HybridRetriever(DrivenRetriever):
    """Several retrievers as one: they are asked side by side, and what they find is fused by rank.

    At most `max_results` (3) of it; let each of the `retrievers` find more than that. Its usual parts are an
    `EmbeddingStoreRetriever` and a `KeywordRetriever`. Raises `ConfigurationError` for what is no retriever.
    """

    def __init__(
        self, *retrievers: RetrieverLike, max_results: int = 3, k: int = RRF_K, name: str | None = None
    ) -> None:
        if not retrievers:
            raise ConfigurationError("HybridRetriever has no retrievers: give two or more")
        try:
            self._slots = [slot(each, "retrieve", "retriever") for each in retrievers]
        except TypeError as error:
            raise ConfigurationError(str(error)) from None
        _check_count("max_results", max_results)
        self.max_results = max_results
        self.name = name
        self._fusion = ReciprocalRankFusion(k)

    async def drive(self, driver: Driver, query: Query) -> list[ScoredSegment]:
        lists = await driver.gather([found_by(driver, each, query) for each in self._slots])
        return self._fusion.fuse(lists)[: self.max_results]


async def _for_query(driver: Driver, setting: Any, query: Query) -> Any:
    """The setting itself, or what a function makes of the query."""
    return await driver.call(setting, query) if callable(setting) else setting


def _scored(matches: Sequence[Match]) -> list[ScoredSegment]:
    return [ScoredSegment(match.segment, match.score, match.id) for match in matches]


def _check_searchable(option: str, given: Any, wanted: str) -> None:
    if isinstance(given, type) or not callable(getattr(given, "search", None)):
        raise ConfigurationError(f"{option} is {given!r}: give {wanted}")


def _check_score(given: Any) -> None:
    if not callable(given) and not (isinstance(given, int | float) and 0 <= given <= 1):
        raise ValueError(f"min_score is {given!r}: scores go from 0 to 1")


def _check_filter(given: Any) -> None:
    if not callable(given):
        checked_filter(given)


def _check_count(option: str, given: Any) -> None:
    if not callable(given) and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
        raise ValueError(f"{option} is {given!r}: give 1 or more")

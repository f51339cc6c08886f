"""Retrieval for a call, in five slots: transform, route, retrieve, aggregate, inject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

from ..driving import Driver
from ..errors import ConfigurationError
from ..messages import UserMessage
from ..segments import RetrievalFailure, ScoredSegment
from .contents import queries_in, segments_in
from .fanning_out import look_up, slots_in
from .injecting import ContentInjector
from .query import Query
from .rank_fusion import ReciprocalRankFusion
from .retrievers import DrivenRetriever
from .roles import AggregatorLike, InjectorLike, RetrieverLike, RouterLike, TransformerLike
from .slots import Slot, slot

ErrorPolicy: TypeAlias = Literal["raise", "skip"]
DEFAULT_AGGREGATOR: Final = ReciprocalRankFusion()
DEFAULT_INJECTOR: Final = ContentInjector()


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What was looked up for a call, and what came of it.

    `asked` counts the retrievals that were made; it is 0 when the router chose no retriever.
    """

    queries: tuple[Query, ...]
    contents: tuple[ScoredSegment, ...]
    failures: tuple[RetrievalFailure, ...] = ()
    asked: int = 0


class RetrievalAugmentor(DrivenRetriever):
    """Looks up what a user's message is about, and puts what was found into it.

    Each slot takes a function or an object with the named method, sync or async:

    - `query_transformer`, `transform(query)`: what to look up: queries or texts, one or several. By default
      the user's text. A query that comes twice is looked up once.
    - `query_router`, `route(query)`: the retrievers to ask. By default all of `retrievers`.
    - `retrievers`, `retrieve(query)`: texts, `TextSegment`s or `ScoredSegment`s, best first. Those of all
      queries are asked side by side; what they find is ordered by query, then by retriever.
    - `content_aggregator`, `aggregate([(query, [list, ...]), ...])`: one list, best first. By default
      `ReciprocalRankFusion()`.
    - `content_injector`, `inject(contents, message)`: the message for the model. By default
      `ContentInjector()`. It is asked again when a guardrail has rewritten the user's words.

    `on_empty` is the answer, without the model, when retrievers were asked and nothing was found or is left.
    `on_retriever_error`: a failing retriever ends the call with what it raised (`"raise"`), or is logged,
    noted in `Result.retrieval_errors` and left out (`"skip"`); when all fail, that is a `RetrievalError`.

    It is a retriever too, so that it can be a tool or a part of another one. Raises `ConfigurationError` with
    everything that does not fit.
    """

    def __init__(
        self,
        *,
        retrievers: Sequence[RetrieverLike] = (),
        query_transformer: TransformerLike | None = None,
        query_router: RouterLike | None = None,
        content_aggregator: AggregatorLike | None = None,
        content_injector: InjectorLike | None = None,
        on_empty: str | None = None,
        on_retriever_error: ErrorPolicy = "raise",
        name: str | None = None,
    ) -> None:
        problems: list[str] = []
        self._retrievers = _slots(retrievers, problems)
        self._transform = _slot(query_transformer, "transform", "query_transformer", problems)
        self._route = _slot(query_router, "route", "query_router", problems)
        aggregator = DEFAULT_AGGREGATOR if content_aggregator is None else content_aggregator
        self._aggregate: Any = _slot(aggregator, "aggregate", "content_aggregator", problems)
        injector = DEFAULT_INJECTOR if content_injector is None else content_injector
        self._inject: Any = _slot(injector, "inject", "content_injector", problems)
        if query_router is None and not retrievers:
            problems.append("a RetrievalAugmentor has nothing to ask: give retrievers or a query_router")
        problems += _policy_problems(on_empty, on_retriever_error)
        if problems:
            raise ConfigurationError(problems)
        self.on_empty = on_empty
        self.name = name
        self._skip_failing = on_retriever_error == "skip"

    async def retrieval(self, driver: Driver, query: Query) -> Retrieval:
        """Transform, route, retrieve and aggregate."""
        queries = await self._transformed(driver, query)
        jobs = [self._routed(driver, each) for each in queries]
        routed = list(zip(queries, await driver.gather(jobs) if jobs else (), strict=True))
        found = await look_up(driver, routed, skip_failing=self._skip_failing)
        if not any(each for _, lists in found.results for each in lists):
            return Retrieval(tuple(queries), (), found.failures, found.asked)
        given = await self._aggregate.run(driver, found.results)
        contents = segments_in(given, f"the content_aggregator {self._aggregate.name}")
        return Retrieval(tuple(queries), tuple(contents), found.failures, found.asked)

    async def drive(self, driver: Driver, query: Query) -> list[ScoredSegment]:
        return list((await self.retrieval(driver, query)).contents)

    async def injected(
        self, driver: Driver, contents: Sequence[ScoredSegment], message: UserMessage
    ) -> UserMessage:
        """The message with the contents; the same one when there are none."""
        if not contents:
            return message
        given = await self._inject.run(driver, list(contents), message)
        if not isinstance(given, UserMessage):
            raise TypeError(
                f"the content_injector {self._inject.name} gave a {type(given).__name__}: "
                "it gives a UserMessage"
            )
        return given

    async def _transformed(self, driver: Driver, query: Query) -> list[Query]:
        if self._transform is None:
            return [query]
        given = await self._transform.run(driver, query)
        return queries_in(given, query, f"the query_transformer {self._transform.name}")

    async def _routed(self, driver: Driver, query: Query) -> list[Slot]:
        if self._route is None:
            return self._retrievers
        given = await self._route.run(driver, query)
        return slots_in(given, f"the query_router {self._route.name}")


def augmentor_of(retriever: RetrieverLike) -> RetrievalAugmentor:
    """The augmentor that a retriever alone is short for."""
    return RetrievalAugmentor(retrievers=(retriever,))


def _policy_problems(on_empty: Any, on_retriever_error: Any) -> list[str]:
    problems = []
    if not isinstance(on_empty, str | None):
        problems.append(f"on_empty is a {type(on_empty).__name__}: give the text to answer with, or None")
    if on_retriever_error not in get_args(ErrorPolicy):
        problems.append(f"on_retriever_error is {on_retriever_error!r}: give 'raise' or 'skip'")
    return problems


def _slots(given: object, problems: list[str]) -> list[Slot]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        problems.append(f"retrievers is a {type(given).__name__}: give a list or a tuple")
        return []
    slots = (_slot(each, "retrieve", "retriever", problems) for each in given)
    return [each for each in slots if each is not None]


def _slot(given: Any, method: str, what: str, problems: list[str]) -> Slot | None:
    if given is None and what != "retriever":
        return None
    try:
        return slot(given, method, what)
    except TypeError as error:
        problems.append(str(error))
        return None

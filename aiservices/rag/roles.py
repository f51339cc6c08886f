"""The roles in retrieval: what users may put into each slot of an augmentor, as types."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias

from ..messages import UserMessage
from ..segments import ScoredSegment, TextSegment
from .query import Query

Found: TypeAlias = Iterable[str | TextSegment | ScoredSegment]
"""What a retriever gives, best first."""

Queries: TypeAlias = Query | str | Iterable[Query | str]
"""What a query is looked up as; texts belong to the same call."""

Results: TypeAlias = Sequence[tuple[Query, Sequence[Sequence[ScoredSegment]]]]
"""What was found: for each query, in order, one list for each retriever, in order."""


class Retriever(Protocol):
    """Looks a query up. `retrieve` may also be `async def`."""

    def retrieve(self, query: Query, /) -> Found | Awaitable[Found]:
        """What fits the query, best first: texts, segments or scored segments."""
        ...


class QueryTransformer(Protocol):
    """Says what to look up in place of a query. `transform` may also be `async def`."""

    def transform(self, query: Query, /) -> Queries | Awaitable[Queries]:
        """One query or text, or several."""
        ...


class QueryRouter(Protocol):
    """Says where to look a query up. `route` may also be `async def`."""

    def route(self, query: Query, /) -> Any:
        """The retrievers to ask, in order; none leaves the query alone."""
        ...


class ContentAggregator(Protocol):
    """Makes one list of all that was found. `aggregate` may also be `async def`."""

    def aggregate(self, results: Results, /) -> Found | Awaitable[Found]:
        """The contents for the model, best first."""
        ...


class Injector(Protocol):
    """Puts contents into the user's message. `inject` may also be `async def`."""

    def inject(
        self, contents: Sequence[ScoredSegment], message: UserMessage, /
    ) -> UserMessage | Awaitable[UserMessage]:
        """The message for the model."""
        ...


RetrieverLike: TypeAlias = Retriever | Callable[[Query], Found | Awaitable[Found]]
"""An object with `retrieve(query)`, or a function of the query; sync or async."""

TransformerLike: TypeAlias = QueryTransformer | Callable[[Query], Queries | Awaitable[Queries]]
"""An object with `transform(query)`, or a function of the query; sync or async."""

RouterLike: TypeAlias = QueryRouter | Callable[[Query], Any]
"""An object with `route(query)`, or a function of the query; sync or async."""

AggregatorLike: TypeAlias = ContentAggregator | Callable[[Results], Found | Awaitable[Found]]
"""An object with `aggregate(results)`, or a function of the results; sync or async."""

InjectorLike: TypeAlias = (
    Injector | Callable[[Sequence[ScoredSegment], UserMessage], UserMessage | Awaitable[UserMessage]]
)
"""An object with `inject(contents, message)`, or a function of the two; sync or async."""

"""The embedding store in Qdrant."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from time import time_ns
from typing import Any, Final, TypeVar

from grpc import RpcError  # type: ignore[import-untyped]
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException

from ....driving import Driver, PerProcess, Places
from ....errors import ConfigurationError, StoreError
from ...embedding_store import Match
from ...filters import Node
from ..driven import DrivenEmbeddingStore
from ..requests import Addition, Question, check_dimension, need_numpy
from ..scoring import scores_of
from .conditions import condition_for
from .points import point_id, points_of, segment_of

T = TypeVar("T")
IN_MEMORY: Final = ":memory:"
AT_ONCE: Final = 256
"""So many points are sent in one request: its size has a limit."""
WIDER: Final = 4
"""By so much more is asked for, each time that the filter has left too few."""


class QdrantEmbeddingStore(DrivenEmbeddingStore):
    """Vectors in a collection of Qdrant; needs the extra `qdrant`.

    `client` is a `qdrant_client.QdrantClient`, which stays open when the store is closed, or the URL of
    a server, for which `api_key` may be given; or the path of a folder or `":memory:"` for the client's own
    local mode, which is for trying out and for tests: it reads every point at each search, and one process at
    a time can use a folder. Made when it is missing, the `collection` has vectors of `dimension`, compared
    by cosine, and an index of what filters look at.

    Points have UUIDs made of the ids. Filters are translated as far as Qdrant compares in the same way, the
    rest is looked at here, and more is asked for while that leaves too few. Scores are exact; which points
    are found is approximate on a server. Of those that are found with equal scores the first is the one that
    was added or changed first, by the clocks of those who did. Requests have up to 256 points each, so that
    a server that fails in between has kept some of an `add`: do it again.

    The tests of this store run in local mode. No server was at hand: what one does differently is not known
    here but from its documentation. Raises `StoreError` when Qdrant fails, `ConfigurationError` for
    a collection with other vectors, `MissingExtraError` without the package.
    """

    def __init__(
        self,
        client: QdrantClient | str | os.PathLike[str],
        *,
        dimension: int,
        collection: str = "aiservices",
        api_key: str | None = None,
    ) -> None:
        if dimension < 1:
            raise ConfigurationError(f"dimension is {dimension}: give that of the model's vectors")
        self._dimension = dimension
        self._collection = collection
        if client == IN_MEMORY:  # it has nothing to come back to when it is opened again
            client = QdrantClient(IN_MEMORY)
        given = client if isinstance(client, QdrantClient) else None
        place = "" if isinstance(client, QdrantClient) else os.fspath(client)

        def opened() -> QdrantClient:
            return given or _opened(place, api_key)

        def closed(one: QdrantClient) -> None:
            if one is not given:
                one.close()

        self._clients = PerProcess(opened, closed)
        self._local = _is_local(given) if given else "://" not in place
        self._one_at_a_time = Places(1)
        self._prepared: QdrantClient | None = None

    async def _keep(self, driver: Driver, addition: Addition) -> None:
        check_dimension(addition.vectors.shape[1], self._dimension, addition.ids)
        await driver.call(self._ask, partial(self._upsert, addition))

    async def _find(self, driver: Driver, question: Question) -> list[Match]:
        check_dimension(len(question.vector), self._dimension)
        return await driver.call(self._ask, partial(self._nearest, question))

    async def _drop(self, driver: Driver, ids: Sequence[str] | None, filter: Node | None) -> int:
        return await driver.call(self._ask, partial(self._delete, ids, filter))

    def _ask(self, work: Callable[[QdrantClient], T]) -> T:
        """Do some work with the client, after the collection is there."""
        client = self._clients.get()
        # The local mode is not made for several threads.
        with self._one_at_a_time.held() if self._local else nullcontext():
            try:
                if self._prepared is not client:
                    self._prepare(client)
                    self._prepared = client
                return work(client)
            except (ApiException, RpcError, OSError) as error:
                raise StoreError(
                    f"{self} failed: {type(error).__name__}: {error}", namespace=self._collection
                ) from error

    def _prepare(self, client: QdrantClient) -> None:
        if not client.collection_exists(self._collection):
            vectors = models.VectorParams(size=self._dimension, distance=models.Distance.COSINE)
            client.create_collection(self._collection, vectors_config=vectors)
            if not self._local:  # where an index would do nothing
                for name, kind in (("facets", "keyword"), ("odd", "bool")):
                    client.create_payload_index(self._collection, name, models.PayloadSchemaType(kind))
        found = client.get_collection(self._collection).config.params.vectors
        if not isinstance(found, models.VectorParams) or found.size != self._dimension:
            raise ConfigurationError(
                f"the collection {self._collection!r} has other vectors than one of {self._dimension} "
                "dimensions: give another collection, or the dimension of the model that filled it"
            )

    def _upsert(self, addition: Addition, client: QdrantClient) -> None:
        points = list(points_of(addition, first=time_ns()))
        for start in range(0, len(points), AT_ONCE):
            client.upsert(self._collection, points[start : start + AT_ONCE])

    def _nearest(self, question: Question, client: QdrantClient) -> list[Match]:
        limit, whole, found = question.max_results, False, list[_Found]()
        while not whole:
            points = self._query(question, limit, client)
            found = self._judged(points, question)
            whole = len(points) < limit or len(found) >= question.max_results
            limit *= WIDER
        found.sort(key=lambda each: (-each.score, each.added))
        return [
            Match(each.payload["id"], each.score, segment_of(each.payload))
            for each in found[: question.max_results]
            if each.score >= question.min_score
        ]

    def _query(self, question: Question, limit: int, client: QdrantClient) -> list[models.ScoredPoint]:
        """So many of the nearest points; where there seem to be fewer, all are looked at to be certain."""
        points: list[models.ScoredPoint] = []
        for exact in (False,) if self._local else (False, True):
            points = client.query_points(
                self._collection,
                query=question.vector.tolist(),
                query_filter=condition_for(question.filter),
                search_params=models.SearchParams(exact=exact),
                limit=limit,
                with_vectors=True,
            ).points
            if len(points) == limit:
                break
        return points

    def _judged(self, points: Sequence[models.ScoredPoint], question: Question) -> list[_Found]:
        node = question.filter
        kept = [
            (point.payload or {}, point.vector)
            for point in points
            if node is None or node.matches(segment_of(point.payload or {}).metadata)
        ]
        if not kept:
            return []
        vectors = need_numpy("QdrantEmbeddingStore").array([vector for _, vector in kept], dtype="float32")
        scores = scores_of(vectors, question.vector).tolist()
        return [
            _Found(score, payload["added"], payload) for (payload, _), score in zip(kept, scores, strict=True)
        ]

    def _delete(self, ids: Sequence[str] | None, filter: Node | None, client: QdrantClient) -> int:
        wanted = None if ids is None else [point_id(each) for each in ids]
        there = self._there(wanted, client) if filter is None else self._matching(wanted, filter, client)
        for start in range(0, len(there), AT_ONCE):
            client.delete(self._collection, there[start : start + AT_ONCE])
        return len(there)

    def _there(self, wanted: Sequence[str] | None, client: QdrantClient) -> list[Any]:
        found: list[Any] = []
        for start in range(0, len(wanted or ()), AT_ONCE):
            some = (wanted or ())[start : start + AT_ONCE]
            found += [point.id for point in client.retrieve(self._collection, some, with_payload=False)]
        return found

    def _matching(self, wanted: Sequence[str] | None, node: Node, client: QdrantClient) -> list[Any]:
        found: list[Any] = []
        among, at, more = None if wanted is None else set(wanted), None, True
        while more:
            points, at = client.scroll(self._collection, condition_for(node), limit=AT_ONCE, offset=at)
            found += [
                point.id
                for point in points
                if (among is None or point.id in among)
                and node.matches(segment_of(point.payload or {}).metadata)
            ]
            more = at is not None
        return found

    def close(self) -> None:
        self._clients.close()

    def __repr__(self) -> str:
        return f"QdrantEmbeddingStore(collection={self._collection!r})"


@dataclass(frozen=True, slots=True)
class _Found:
    score: float
    added: int
    payload: dict[str, Any]


def _opened(place: str, api_key: str | None) -> QdrantClient:
    if "://" in place:
        return QdrantClient(url=place, api_key=api_key)
    return QdrantClient(path=place)


def _is_local(client: QdrantClient) -> bool:
    options = client.init_options
    return options.get("location") == IN_MEMORY or options.get("path") is not None

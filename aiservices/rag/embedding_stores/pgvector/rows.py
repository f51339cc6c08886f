"""What `PgVectorEmbeddingStore` reads and writes, over a connection in a transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import ColumnElement, Connection, Float, Table, cast, delete, func, literal, select
from sqlalchemy.dialects.postgresql import insert

from ...filters import Node
from ...segment_json import body_to_json, metadata_from_json, metadata_to_json
from ..codes import facets_of
from ..requests import Addition, Question, need_numpy
from ..scoring import scores_of
from .conditions import condition_for
from .table import nearness_of

if TYPE_CHECKING:
    from ..requests import Vectors

AT_ONCE: Final = 500
WIDER: Final = 4
"""By so much more is asked for, each time that the filter has left too few."""

FEW: Final = 1000
"""So many candidates are compared one by one: that is quick enough, and certain."""

# How many of its entries the index looks at: some times as many as are wanted, within what it can.
BROADLY, LEAST_LOOKED_AT, MOST_LOOKED_AT = 4, 100, 1000


@dataclass(frozen=True, slots=True)
class Row:
    """What was found of a segment."""

    number: int
    id: str
    score: float
    metadata: str
    body: str


def write(connection: Connection, table: Table, addition: Addition) -> None:
    """Keep segments; who has an id that is there already keeps his place in the order."""
    rows = list(_rows(addition))
    into = insert(table)
    new = {name: into.excluded[name] for name in rows[0] if name != "id"}
    upsert = into.on_conflict_do_update(index_elements=[table.c.id], set_=new)
    for start in range(0, len(rows), AT_ONCE):
        connection.execute(upsert, rows[start : start + AT_ONCE])


def _rows(addition: Addition) -> Iterator[dict[str, Any]]:
    for id, vector, segment in zip(addition.ids, addition.vectors, addition.segments, strict=True):
        facets = facets_of(segment.metadata)
        yield {
            "id": id,
            "embedding": vector if vector.any() else None,
            "metadata": metadata_to_json(segment.metadata),
            "body": body_to_json(segment),
            "values": dict(facets.values),
            "elements": dict(facets.elements),
            "odd": facets.odd,
        }


def erase(connection: Connection, table: Table, ids: Sequence[str] | None, node: Node | None) -> int:
    """Delete what has one of the ids and matches the filter, and say how many there were."""
    if node is not None:
        ids = list(_matching(connection, table, ids, node))
    count = 0
    for start in range(0, len(ids or ()), AT_ONCE):
        some = (ids or ())[start : start + AT_ONCE]
        count += connection.execute(delete(table).where(table.c.id.in_(some))).rowcount
    return count


def _matching(connection: Connection, table: Table, ids: Sequence[str] | None, node: Node) -> Iterator[str]:
    statement = select(table.c.id, table.c.metadata).order_by(table.c.id).with_for_update()
    condition = condition_for(node, table)
    if condition is not None:
        statement = statement.where(condition)
    wanted = None if ids is None else set(ids)
    for id, metadata in connection.execute(statement):
        if (wanted is None or id in wanted) and node.matches(metadata_from_json(metadata)):
            yield id


class Search:
    """One search, in a transaction: by the index, and without it where candidates or findings are few."""

    def __init__(self, connection: Connection, table: Table, question: Question) -> None:
        self._connection = connection
        self._table = table
        self._question = question
        self._condition = condition_for(question.filter, table)

    def nearest(self) -> list[Row]:
        """The nearest segments, best first."""
        limit, found, whole = self._question.max_results, [], False
        while not whole:
            rows, whole = self._read(limit)
            found = self._judged(rows)
            whole = whole or len(found) >= self._question.max_results
            limit *= WIDER
        if self._question.min_score <= 0.5 and self._question.vector.any():
            found += self._judged(self._zeros())
        found.sort(key=lambda row: (-row.score, row.number))
        return [row for row in found[: self._question.max_results] if row.score >= self._question.min_score]

    def _read(self, limit: int) -> tuple[list[Any], bool]:
        """So many of the nearest rows, and whether there are no more."""
        if not self._question.vector.any():  # all are equally near
            rows = self._rows([self._table.c.number], limit)
            return rows, len(rows) < limit
        there = self._table.c.embedding.is_not(None)
        if self._are_many():
            looked_at = min(max(BROADLY * limit, LEAST_LOOKED_AT), MOST_LOOKED_AT)
            settings = {"hnsw.iterative_scan": "relaxed_order", "hnsw.ef_search": str(looked_at)}
            settings_of_transaction = (func.set_config(*each, True) for each in settings.items())
            self._connection.execute(select(*settings_of_transaction))
            rows = self._rows([self._distance()], limit, there)
            if len(rows) == limit:  # else it has given up, after some thousand rows that do not match
                return rows, False
        # A sum is in no index, so that all are compared.
        rows = self._rows([self._distance() + 0, self._table.c.number], limit, there)
        return rows, len(rows) < limit

    def _are_many(self) -> bool:
        candidates = select(literal(1)).select_from(self._table).limit(FEW + 1)
        if self._condition is not None:
            candidates = candidates.where(self._condition)
        return (self._connection.scalar(select(func.count()).select_from(candidates.subquery())) or 0) > FEW

    def _zeros(self) -> list[Any]:
        """The rows that are halfway from everything; all of them where the filter is to judge them."""
        limit = self._question.max_results if self._question.filter is None else None
        return self._rows([self._table.c.number], limit, self._table.c.embedding.is_(None))

    def _rows(
        self, orders: Sequence[ColumnElement[Any]], limit: int | None, *conditions: ColumnElement[bool]
    ) -> list[Any]:
        c = self._table.c
        where = conditions if self._condition is None else (*conditions, self._condition)
        statement = select(c.number, c.id, c.embedding, c.metadata, c.body).where(*where).order_by(*orders)
        return list(self._connection.execute(statement.limit(limit)))

    def _distance(self) -> ColumnElement[Any]:
        indexed = nearness_of(self._table, len(self._question.vector))
        vector = cast(self._question.vector, self._table.c.embedding.type)
        return indexed.op("<=>", return_type=Float())(cast(vector, indexed.type))

    def _judged(self, rows: Sequence[Any]) -> list[Row]:
        node = self._question.filter
        kept = [row for row in rows if node is None or node.matches(metadata_from_json(row.metadata))]
        if not kept:
            return []
        vectors: Vectors = need_numpy("PgVectorEmbeddingStore").zeros(
            (len(kept), len(self._question.vector)), dtype="float32"
        )
        for number, row in enumerate(kept):
            if row.embedding is not None:
                vectors[number] = row.embedding
        scores = scores_of(vectors, self._question.vector).tolist()
        return [
            Row(row.number, row.id, score, row.metadata, row.body)
            for row, score in zip(kept, scores, strict=True)
        ]

"""What `SqlEmbeddingStore` reads and writes, over a connection in a transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import BigInteger, Connection, bindparam, delete, insert, select, update

from ...segment_json import body_to_json, metadata_to_json
from ..requests import Addition, check_dimension
from .tables import Tables

AT_ONCE: Final = 500
"""So many ids are named in one statement."""


@dataclass(frozen=True, slots=True)
class Seen:
    """How far somebody knows what is stored: the version, and that of the last removal."""

    version: int = 0
    removal: int = 0


@dataclass(frozen=True, slots=True)
class Changes:
    """What was written between two states; `ids` are all there are, where some may be gone."""

    before: Seen
    now: Seen
    rows: Sequence[tuple[str, bytes, str]] = ()
    ids: Sequence[str] | None = None


def read_changes(connection: Connection, tables: Tables, seen: Seen) -> Changes:
    """What is new. The numbers are read first: what comes after them is read again the next time."""
    numbers = _numbers(connection, tables)
    now = Seen(numbers["version"], numbers["removal"])
    if now == seen:
        return Changes(seen, now)
    known = seen if now.version >= seen.version else Seen()  # or the tables are others than before
    c = tables.segments.c
    newer = select(c.id, c.vector, c.metadata).where(c.version > known.version).order_by(c.number)
    rows = [(row[0], row[1], row[2]) for row in connection.execute(newer)]
    removed = now.removal > known.removal or known != seen
    return Changes(seen, now, rows, list(connection.scalars(select(c.id))) if removed else None)


def read_segments(connection: Connection, tables: Tables, ids: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """The body, metadata and version of each of the ids that is there."""
    c = tables.segments.c
    statement = select(c.id, c.body, c.metadata, c.version)
    found: dict[str, tuple[Any, ...]] = {}
    for some in _parts(ids):
        found |= {row[0]: tuple(row[1:]) for row in connection.execute(statement.where(c.id.in_(some)))}
    return found


def write(connection: Connection, tables: Tables, addition: Addition) -> None:
    """Keep segments; who has an id that is there already keeps his place in the order."""
    version, numbers = _next_version(connection, tables)
    dimension = int(addition.vectors.shape[1])
    if numbers["dimension"] != dimension:
        if numbers["dimension"] and _any(connection, tables):
            check_dimension(dimension, numbers["dimension"], addition.ids)
        _set(connection, tables, dimension=dimension)
    there = {id for some in _parts(addition.ids) for id in _of(connection, tables, some)}
    rows = [
        {
            "at": id,
            "vector": vector.astype("<f4").tobytes(),
            "metadata": metadata_to_json(segment.metadata),
            "body": body_to_json(segment),
            "version": version,
        }
        for id, vector, segment in zip(addition.ids, addition.vectors, addition.segments, strict=True)
    ]
    c = tables.segments.c
    if old := [row for row in rows if row["at"] in there]:
        values: dict[str, Any] = {name: bindparam(name) for name in ("vector", "metadata", "body", "version")}
        statement = update(tables.segments).where(c.id == bindparam("at", type_=c.id.type)).values(values)
        connection.execute(statement, old)
    if new := [{"id": row.pop("at"), **row} for row in rows if row["at"] not in there]:
        connection.execute(insert(tables.segments), new)


def erase(connection: Connection, tables: Tables, ids: Sequence[str], expected: int | None) -> int | None:
    """Delete ids and say how many there were; `None` if somebody has written since the expected version."""
    version, _ = _next_version(connection, tables)
    if expected is not None and version != expected + 1:
        connection.rollback()
        return None
    c = tables.segments.c
    count = 0
    for some in _parts(ids):
        count += connection.execute(delete(tables.segments).where(c.id.in_(some))).rowcount
    if not count:
        connection.rollback()  # of the version, which nobody needs
    else:
        _set(connection, tables, removal=version)
    return count


def _next_version(connection: Connection, tables: Tables) -> tuple[int, dict[str, int]]:
    """The version of this write, and all numbers. Who writes holds the counter: writes wait in line."""
    c = tables.numbers.c
    connection.execute(update(tables.numbers).where(c.name == "version").values(number=c.number + 1))
    numbers = _numbers(connection, tables)
    return numbers["version"], numbers


def _numbers(connection: Connection, tables: Tables) -> dict[str, int]:
    c = tables.numbers.c
    return {row[0]: row[1] for row in connection.execute(select(c.name, c.number))}


def _set(connection: Connection, tables: Tables, **numbers: int) -> None:
    c = tables.numbers.c
    for name, number in numbers.items():
        new = bindparam("new", number, type_=BigInteger())
        connection.execute(update(tables.numbers).where(c.name == name).values(number=new))


def _any(connection: Connection, tables: Tables) -> bool:
    return connection.scalar(select(tables.segments.c.number).limit(1)) is not None


def _of(connection: Connection, tables: Tables, ids: Sequence[str]) -> Iterator[str]:
    c = tables.segments.c
    yield from connection.scalars(select(c.id).where(c.id.in_(ids)))


def _parts(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), AT_ONCE):
        yield ids[start : start + AT_ONCE]

"""Finding segments by their words: BM25, by the full-text search of SQLite that comes with Python."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from operator import index
from pathlib import Path
from typing import Any, Final, TypeVar
from weakref import finalize

from ..closing import Closable
from ..driving import PerProcess, Places, run_in_worker, wait_for
from ..errors import ConfigurationError, StoreError
from ..segments import TextSegment
from .embedding_store import Match
from .embedding_stores.requests import checked_ids, checked_removal, last_of_each
from .filters import Filter, Node, checked_filter
from .segment_json import body_to_json, metadata_from_json, metadata_to_json, segment_from_json
from .words import query_for, words_of

T = TypeVar("T")
BUSY_SECONDS: Final = 5.0
AT_ONCE: Final = 500
TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS aiservices_texts (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
    "metadata TEXT NOT NULL, body TEXT NOT NULL)",
    "CREATE VIRTUAL TABLE IF NOT EXISTS aiservices_words "
    "USING fts5(words, tokenize='porter unicode61 remove_diacritics 2')",
)
_FIND: Final = (
    "SELECT id, body, metadata, -bm25(aiservices_words) FROM aiservices_words "
    "JOIN aiservices_texts ON number = aiservices_words.rowid "
    "WHERE aiservices_words MATCH ? ORDER BY bm25(aiservices_words), number"
)


class KeywordIndex(Closable):
    """Segments by their words, in memory or in a file. It needs no extra.

    A segment is found when it has one of the words of a question, and ranked by BM25: rare words count more
    than frequent ones, and much in a short text more than in a long one. Case, accents and English endings
    make no difference. Quotes, operators and whatever else a question holds are only text.

    `path` is that of an SQLite file, which may be one that other stores use; without it the index lives and
    dies with the object. Safe to share between threads and event loops, a file also between processes.
    `add` and `remove` are one transaction each. Raises `ConfigurationError` where this Python's SQLite has
    no FTS5, `StoreError` when the file fails.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = None if path is None else Path(path).absolute()
        self._one_at_a_time = Places(1)
        self._files = PerProcess(partial(_opened, self._path or ":memory:"), sqlite3.Connection.close)
        self._in_memory = None
        if self._path is None:  # a process made by fork keeps the copy that it has
            self._in_memory = _opened(":memory:")
            finalize(self, self._in_memory.close)

    def add(self, segments: Sequence[TextSegment], *, ids: Sequence[str] | None = None) -> list[str]:
        """Keep each segment under its id, and return the ids: new ones unless they are given.

        What has one of the ids already is replaced. Raises like `EmbeddingStore.add`.
        """
        named = checked_ids(segments, segments, ids)
        rows = [
            (named[n], metadata_to_json(segments[n].metadata), body_to_json(segments[n]), segments[n].text)
            for n in last_of_each(named)
        ]
        self._do(partial(_put, rows))
        return named

    def search(self, text: str, *, max_results: int = 3, filter: Filter | None = None) -> list[Match]:
        """The segments that fit best, best first; of equal ones the one that was added first.

        The score is that of BM25, greater than 0 and without an upper end: scores of one search compare,
        those of two do not. A text without any words finds nothing, and of more than 500 different words
        the first ones are looked for. Raises `ValueError` for `max_results` below 1.
        """
        if not isinstance(text, str):
            raise TypeError(f"a keyword index looks for the words of a text, not of a {type(text).__name__}")
        limit, node = index(max_results), checked_filter(filter)
        if limit < 1:
            raise ValueError(f"max_results is {max_results}: ask for at least 1")
        query = query_for(text)
        return self._do(partial(_find, query, limit, node)) if query else []

    def remove(self, ids: Sequence[str] | None = None, *, filter: Filter | None = None) -> int:
        """Remove what has one of the ids and, with a filter, also matches it; return how many there were.

        Raises `ValueError` with neither ids nor filter; no ids remove nothing.
        """
        chosen, node = checked_removal(ids, filter)
        return 0 if chosen is not None and not chosen else self._do(partial(_erase, chosen, node))

    async def aadd(self, segments: Sequence[TextSegment], *, ids: Sequence[str] | None = None) -> list[str]:
        """See `add`."""
        return await wait_for(run_in_worker(partial(self.add, segments, ids=ids)))

    async def asearch(self, text: str, *, max_results: int = 3, filter: Filter | None = None) -> list[Match]:
        """See `search`."""
        work = partial(self.search, text, max_results=max_results, filter=filter)
        return await wait_for(run_in_worker(work))

    async def aremove(self, ids: Sequence[str] | None = None, *, filter: Filter | None = None) -> int:
        """See `remove`."""
        return await wait_for(run_in_worker(partial(self.remove, ids, filter=filter)))

    def close(self) -> None:
        """Close the file; the next call opens it again. An index in memory stays."""
        with self._one_at_a_time.held():
            self._files.close()

    def __len__(self) -> int:
        return self._do(lambda one: int(one.execute("SELECT count(*) FROM aiservices_texts").fetchone()[0]))

    def __repr__(self) -> str:
        return f"KeywordIndex({'' if self._path is None else repr(str(self._path))})"

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._one_at_a_time.held():
            try:
                return work(self._in_memory or self._files.get())
            except sqlite3.Error as error:
                raise StoreError(f"{self} failed: {error}", namespace="keywords") from error


def prepare(connection: sqlite3.Connection) -> None:
    """Make the tables where there are none. Raises `ConfigurationError` where SQLite cannot have them."""
    try:
        with _transaction(connection):
            for statement in TABLES:
                connection.execute(statement)
    except sqlite3.OperationalError as error:
        if "fts5" not in str(error):
            raise
        raise ConfigurationError(
            "KeywordIndex needs an SQLite with FTS5, and the one of this Python was built without it: "
            "use another build of Python"
        ) from error


def _opened(path: str | Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")  # in WAL mode a crash of the process loses nothing
        prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _put(rows: Sequence[tuple[str, str, str, str]], connection: sqlite3.Connection) -> None:
    upsert = (
        "INSERT INTO aiservices_texts (id, metadata, body) VALUES (?, ?, ?) ON CONFLICT (id) "
        "DO UPDATE SET metadata = excluded.metadata, body = excluded.body RETURNING number"
    )
    write = "INSERT OR REPLACE INTO aiservices_words (rowid, words) VALUES (?, ?)"
    with _transaction(connection):
        for id, metadata, body, text in rows:
            ((number,),) = connection.execute(upsert, (id, metadata, body)).fetchall()
            connection.execute(write, (number, words_of(text)))


def _find(query: str, limit: int, node: Node | None, connection: sqlite3.Connection) -> list[Match]:
    found: list[Match] = []
    rows = connection.execute(_FIND, (query,))
    try:
        for id, body, metadata, score in rows:
            if node is None or node.matches(metadata_from_json(metadata)):
                found.append(Match(id, score, segment_from_json(body, metadata)))
                if len(found) == limit:
                    break
    finally:
        rows.close()
    return found


def _erase(ids: Sequence[str] | None, node: Node | None, connection: sqlite3.Connection) -> int:
    with _transaction(connection):
        numbers = list(_chosen(ids, node, connection))
        for table, name in (("aiservices_words", "rowid"), ("aiservices_texts", "number")):
            connection.executemany(f"DELETE FROM {table} WHERE {name} = ?", [(each,) for each in numbers])
    return len(numbers)


def _chosen(ids: Sequence[str] | None, node: Node | None, connection: sqlite3.Connection) -> Iterator[int]:
    for number, metadata in _rows(ids, connection):
        if node is None or node.matches(metadata_from_json(metadata)):
            yield number


def _rows(ids: Sequence[str] | None, connection: sqlite3.Connection) -> Iterator[Any]:
    everything = "SELECT number, metadata FROM aiservices_texts"
    if ids is None:
        yield from connection.execute(everything).fetchall()
        return
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        places = ", ".join("?" * len(some))
        yield from connection.execute(f"{everything} WHERE id IN ({places})", some).fetchall()

"""What only an embedding store in a database can meet: other processes, damaged rows, its own past."""

from __future__ import annotations

import os
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aiservices.driving import run_in_background
from aiservices.errors import ConfigurationError, StoreError
from aiservices.rag import F, InMemoryEmbeddingStore, SqlEmbeddingStore, TextSegment
from aiservices.rag.embedding_stores.requests import checked_question
from aiservices.rag.embedding_stores.sql.cache import Cache
from aiservices.rag.embedding_stores.sql.rows import Changes, Seen
from tests.programs import complaints
from tests.rag.user_processes import BATCH

HERE = Path(__file__).parent
EAST, UP = [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(file: Path) -> Iterator[SqlEmbeddingStore]:
    with SqlEmbeddingStore(file) as store:
        yield store


def started(task: str, url: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-X", "dev", "-W", "error", str(HERE / "user_processes.py"), task, str(url)]
    environment = os.environ | {"PYTHONPATH": str(HERE.parents[1])}
    return subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def finished(process: subprocess.Popen[str]) -> None:
    output, said = process.communicate(timeout=120)
    assert (process.returncode, output, complaints(said)) == (0, "", "")


def by_hand(file: Path, statement: str) -> list[tuple[Any, ...]]:
    """What somebody else does to the database."""
    connection = sqlite3.connect(file, isolation_level=None)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def ids(store: SqlEmbeddingStore, vector: list[float] = EAST, **options: Any) -> list[str]:
    return [match.id for match in store.search(vector, max_results=100, **options)]


def test_what_another_process_writes_and_removes_is_noticed(store: SqlEmbeddingStore, file: Path) -> None:
    store.add([EAST, EAST], [TextSegment("mine"), TextSegment("gone")], ids=["mine", "gone"])
    assert ids(store) == ["mine", "gone"]
    finished(started("add_one", file))
    assert ids(store, UP) == ["theirs", "mine"]
    assert ids(store, UP, filter=F("whose") == "theirs") == ["theirs"]


def test_what_somebody_else_removed_takes_no_place_among_the_nearest(
    store: SqlEmbeddingStore, file: Path
) -> None:
    store.add([EAST, [1.0, 0.1, 0.0]], [TextSegment("nearest"), TextSegment("next")], ids=["a", "b"])
    assert [match.id for match in store.search(EAST, max_results=1)] == ["a"]
    with SqlEmbeddingStore(file) as other:
        other.remove(["a"])
    assert [match.id for match in store.search(EAST, max_results=1)] == ["b"]


def test_changes_that_somebody_was_quicker_to_follow_are_not_followed_twice() -> None:
    def changed(before: int, now: int, n: int) -> Changes:
        row = ("same", struct.pack("<2f", 1, 0), f'{{"n":{n}}}')
        return Changes(Seen(before), Seen(now), [row])

    cache, question = Cache(), checked_question([1.0, 0.0], 1, 0.0, F("n") == 2)
    older, newer = changed(0, 1, 1), changed(0, 2, 2)
    assert cache.search(newer, question) == [("same", 1.0)]
    assert cache.search(older, question) is None
    assert cache.matching(older, None, F("n") == 2) is None  # type: ignore[arg-type]
    assert cache.search(Changes(Seen(2), Seen(2)), question) == [("same", 1.0)]


def test_what_another_store_of_this_process_writes_is_noticed(store: SqlEmbeddingStore, file: Path) -> None:
    with SqlEmbeddingStore(file) as other:
        for number in range(5):
            store.add([EAST], [TextSegment("x", {"n": number})], ids=["same"])
            assert ids(other, filter=F("n") == number) == ["same"]
        other.remove(["same"])
        assert ids(store) == []
        other.add([[1.0, 2.0]], [TextSegment("another dimension")], ids=["two"])
        assert ids(store, [1.0, 2.0]) == ["two"]
        with pytest.raises(ValueError, match="'three' has 3 dimensions, those of the store 2"):
            store.add([EAST], [TextSegment("x")], ids=["three"])


def test_a_batch_of_a_process_that_is_killed_is_there_whole_or_not_at_all(file: Path) -> None:
    process = started("add_for_ever", file)
    assert process.stdout is not None
    for _ in range(3):
        assert process.stdout.readline()
    process.kill()
    output, said = process.communicate()
    assert complaints(said) == ""
    said = 3 + output.count("\n")
    with SqlEmbeddingStore(file) as store:
        batches = [len(store.search(EAST, max_results=1000, filter=F("batch") == n)) for n in range(said + 2)]
        assert batches in ([BATCH] * said + [0, 0], [BATCH] * (said + 1) + [0])
        assert store.remove(filter=F("batch") == 0) == BATCH


@pytest.mark.parametrize("server", ["sqlite", "postgresql"])
def test_threads_loops_and_forks_share_a_store_and_leave_nothing_open(
    server: str, file: Path, request: pytest.FixtureRequest
) -> None:
    url = file if server == "sqlite" else request.getfixturevalue(f"{server}_url")
    finished(started("use_in_every_way", url))


def test_what_is_kept_is_found_when_it_is_opened_again_as_it_was(file: Path) -> None:
    vectors = [[1.0, 0.01 * number, 0.0] for number in range(50)]
    segments = [TextSegment(str(number), {"n": number}) for number in range(50)]
    memory = InMemoryEmbeddingStore()
    for kept in (memory, SqlEmbeddingStore(file)):
        kept.add(vectors, segments, ids=[each.text for each in segments])
        kept.add([vectors[7]], [segments[3]], ids=["3"])
        kept.remove(["10"])
        kept.close()
    with SqlEmbeddingStore(file) as store:
        for filter in (None, F("n") < 9):
            assert store.search(EAST, max_results=99, filter=filter) == memory.search(
                EAST, max_results=99, filter=filter
            )


def test_two_tables_are_two_stores(store: SqlEmbeddingStore, file: Path) -> None:
    store.add([EAST], [TextSegment("a")], ids=["a"])
    with SqlEmbeddingStore(file, table="others") as other:
        assert ids(other) == []
        other.add([[1.0]], [TextSegment("b")], ids=["b"])
        assert ids(store) == ["a"]
    for name in ("", "a b", "a;--", "x" * 41, 'a"'):
        with pytest.raises(ConfigurationError, match="cannot be called"):
            SqlEmbeddingStore(file, table=name)


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ("vector = x'00'", "the vector of 'bad' has 1 bytes"),
        ("vector = x'0000c07f0000c07f0000c07f'", "the vector of 'bad' holds what is no number"),
        ("metadata = '{torn'", "the metadata of 'bad' is damaged"),
        ("metadata = '[]'", "the metadata of 'bad' is damaged"),
        ("""metadata = '{"k": {"date": "?"}}'""", "the metadata of 'bad' is damaged"),
        ("body = '{}'", "the segment 'bad' is damaged"),
    ],
)
def test_a_damaged_row_is_named(store: SqlEmbeddingStore, file: Path, damage: str, complaint: str) -> None:
    store.add([EAST, UP], [TextSegment("good"), TextSegment("bad")], ids=["good", "bad"])
    by_hand(file, f"UPDATE aiservices_segments SET {damage} WHERE id = 'bad'")
    with SqlEmbeddingStore(file) as fresh:
        with pytest.raises(StoreError, match=complaint):
            fresh.search(EAST)
        fresh.remove(["bad"])
        assert ids(fresh) == ["good"]


def test_tables_of_a_newer_version_are_left_alone(store: SqlEmbeddingStore, file: Path) -> None:
    store.add([EAST], [TextSegment("a")])
    by_hand(file, "UPDATE aiservices_segments_numbers SET number = 2 WHERE name = 'schema'")
    with SqlEmbeddingStore(file) as older, pytest.raises(StoreError, match="made by a newer aiservices"):
        older.search(EAST)


def test_a_failing_database_is_a_store_error_without_password_or_text(
    store: SqlEmbeddingStore, file: Path
) -> None:
    store.add([EAST], [TextSegment("a")])
    by_hand(file, "DROP TABLE aiservices_segments")
    with pytest.raises(StoreError, match="no such table") as caught:
        store.add([EAST], [TextSegment("s3cret")])
    assert "s3cret" not in f"{caught.value} {caught.value.__cause__}"
    assert caught.value.namespace == "aiservices_segments"
    down = SqlEmbeddingStore("postgresql://alice:s3cret@127.0.0.1:1/chats")
    with pytest.raises(StoreError, match="failed") as caught:
        down.search(EAST)
    assert "s3cret" not in f"{caught.value} {caught.value.__cause__} {down!r}"
    with pytest.raises(StoreError, match="failed"):
        run_in_background(down.asearch(EAST))
    with pytest.raises(ConfigurationError, match="use InMemoryEmbeddingStore"):
        SqlEmbeddingStore(":memory:")

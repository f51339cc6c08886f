"""What only a store in a database can meet: damaged rows, locks, other versions of itself, passwords."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from aiservices.driving import BLOCKING, run_in_background, run_in_worker
from aiservices.errors import ConfigurationError, StoreError
from aiservices.stores import SqlStore
from aiservices.stores.sql import store as sql_store
from aiservices.stores.sql.tables import ENTRIES


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(file: Path) -> Iterator[SqlStore]:
    with SqlStore(file) as store:
        yield store


def by_hand(file: Path, statement: str) -> list[tuple[object, ...]]:
    """What somebody else does to the database."""
    connection = sqlite3.connect(file, isolation_level=None)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize(
    "damage",
    ["value = '{torn'", "value = x'ff'", "value = CAST(x'ff22' AS TEXT)", "version = 'x'", "version = -1"],
)
def test_a_damaged_row_is_named_and_the_others_are_read(store: SqlStore, file: Path, damage: str) -> None:
    store.put("chat", "bad", 1)
    store.put("chat", "good", 2)
    by_hand(file, f"UPDATE aiservices_entries SET {damage} WHERE key = 'bad'")
    everything = "SELECT hex(key), hex(value), version FROM aiservices_entries ORDER BY key"
    before = by_hand(file, everything)
    for read in (store.get, lambda *place: run_in_background(store.aget(*place))):
        with pytest.raises(StoreError, match="'bad' in 'chat'") as caught:
            read("chat", "bad")
        assert (caught.value.namespace, caught.value.key) == ("chat", "bad")
    entry = store.get("chat", "good")
    assert entry is not None
    assert entry.value == 2
    assert store.keys("chat") == ["bad", "good"]
    assert by_hand(file, everything) == before
    store.put("chat", "bad", "mended")
    assert store.get("chat", "bad") is not None


def test_tables_of_a_newer_version_are_left_alone(store: SqlStore, file: Path) -> None:
    store.put("chat", "a", 1)
    by_hand(file, "UPDATE aiservices_store SET number = 2 WHERE name = 'schema'")
    with SqlStore(file) as older:
        for use in (partial(older.get, "chat", "a"), partial(older.put, "chat", "a", 2)):
            with pytest.raises(StoreError, match="made by a newer aiservices"):
                use()
    entry = store.get("chat", "a")
    assert entry is not None
    assert entry.value == 1


def test_an_error_of_the_database_does_not_show_the_value(store: SqlStore, file: Path) -> None:
    store.put("chat", "a", 1)
    by_hand(file, "DROP TABLE aiservices_entries")
    with pytest.raises(StoreError, match="no such table") as caught:
        store.put("chat", "a", "s3cret")
    assert "s3cret" not in f"{caught.value} {caught.value.__cause__}"


def test_postgresql_is_told_to_sort_by_code_points_whatever_its_locale() -> None:
    made = str(CreateTable(ENTRIES).compile(dialect=postgresql.dialect()))
    assert made.count('COLLATE "C"') == 2


def test_many_makers_of_the_tables_agree(file: Path) -> None:
    """LG-80"""
    stores = [SqlStore(file) for _ in range(12)]
    writes = [run_in_worker(partial(each.put, "test", str(n), n)) for n, each in enumerate(stores)]
    assert sorted(each.result() for each in writes) == list(range(1, 13))
    for each in stores:
        each.close()


def test_many_makers_of_the_tables_agree_in_postgresql(postgresql_url: str) -> None:
    import psycopg

    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE fresh")
    stores = [SqlStore(postgresql_url.replace("/postgres?", "/fresh?")) for _ in range(6)]
    for write in [run_in_worker(partial(each.put, "test", str(n), n)) for n, each in enumerate(stores)]:
        assert write.result() > 0
    for each in stores:
        each.close()


def test_sqlite_runs_in_wal_mode_and_a_reader_does_not_wait_for_a_writer(store: SqlStore, file: Path) -> None:
    store.put("test", "a", 1)
    assert by_hand(file, "PRAGMA journal_mode") == [("wal",)]
    writer = sqlite3.connect(file, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    entry = store.get("test", "a")
    writer.close()
    assert entry is not None


def test_a_lock_that_somebody_holds_for_long_is_waited_for(store: SqlStore, file: Path) -> None:
    store.put("test", "a", 1)
    writer = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    writer.execute("BEGIN IMMEDIATE")
    waiting = run_in_worker(partial(store.put, "test", "a", 2))
    BLOCKING.run(BLOCKING.sleep(0.5))
    assert not waiting.done()
    writer.execute("COMMIT")
    writer.close()
    assert waiting.result() == 2


def test_a_lock_that_never_ends_is_a_store_error(
    store: SqlStore, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aiservices.stores.sql.transactions.TRIES", 2)
    monkeypatch.setattr("aiservices.stores.sql.databases.BUSY_SECONDS", 0.05)
    store.put("test", "a", 1)
    writer = sqlite3.connect(file, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="failed for 'a' in 'test'"):
        store.put("test", "a", 2)
    writer.close()
    entry = store.get("test", "a")
    assert entry is not None
    assert entry.value == 1


def test_expired_rows_are_deleted_when_others_write_leases(
    store: SqlStore, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql_store, "SWEEP_SECONDS", 0.0)
    for number in range(150):
        store.put("leases", str(number), "x", expires_in=0.001)
    store.put("leases", "long", "x", expires_in=60)
    BLOCKING.run(BLOCKING.sleep(0.05))
    for number in range(2):
        store.put("leases", f"new {number}", "x", expires_in=60)
    assert by_hand(file, "SELECT count(*) FROM aiservices_entries") == [(3,)]
    assert store.keys("leases") == ["long", "new 0", "new 1"]


def test_a_file_that_is_no_database_and_a_folder_that_is_missing_are_store_errors(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database " * 1000)
    for name, complaint in (("text", "not a database"), ("missing/file", "unable to open")):
        with SqlStore(tmp_path / name) as store, pytest.raises(StoreError, match=complaint) as caught:
            store.put("chat", "a", 1)
        assert (caught.value.namespace, caught.value.key) == ("chat", "a")
    assert (tmp_path / "text").read_text().startswith("no database")


@pytest.mark.parametrize(("scheme", "options"), [("postgresql", "?application_name=s3cret"), ("mysql", "")])
def test_a_server_that_is_down_is_a_store_error_without_the_password(scheme: str, options: str) -> None:
    store = SqlStore(f"{scheme}://alice:s3cret@127.0.0.1:1/chats{options}")
    assert repr(store) == f"SqlStore({scheme}://127.0.0.1:1/chats)"

    async def ask() -> None:
        await store.aget("chat", "a")

    for use in (partial(store.get, "chat", "a"), lambda: run_in_background(ask())):
        with pytest.raises(StoreError, match="failed for 'a' in 'chat'") as caught:
            use()
        assert "s3cret" not in f"{caught.value} {caught.value.__cause__}"
    run_in_background(store.aclose())


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("sqlite://", "use InMemoryStore"),
        (":memory:", "use InMemoryStore"),
        ("sqlite:///file:shared?mode=memory&uri=true", "use InMemoryStore"),
        ("oracle://alice:s3cret@host/db", "knows sqlite, postgresql and mysql, not 'oracle'"),
        (
            "postgresql+asyncpg://alice:s3cret@host/db",
            "write postgresql:// instead of postgresql\\+asyncpg://",
        ),
        ("postgresql://alice:s3cret@host:port/db", "cannot read its URL"),
    ],
)
def test_a_url_of_another_kind_is_refused_at_once_and_without_the_password(url: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint) as caught:
        SqlStore(url)
    assert "s3cret" not in str(caught.value)


def test_names_of_the_same_database_are_understood() -> None:
    assert repr(SqlStore("postgres://u:p@host/db")) == repr(SqlStore("postgresql+psycopg://u@host/db"))
    assert repr(SqlStore("mariadb://host/db")) == repr(SqlStore("mysql+pymysql://host/db"))


def test_a_path_stays_the_same_file_wherever_the_process_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with SqlStore("sqlite:///store.db") as store, SqlStore("store.db") as same:
        monkeypatch.chdir(tmp_path / "elsewhere")
        version = store.put("test", "a", 1)
        entry = same.get("test", "a")
    assert entry is not None
    assert entry.version == version
    assert (tmp_path / "store.db").exists()


@pytest.mark.anyio
@pytest.mark.parametrize("server", ["sqlite", "postgresql"])
async def test_a_cancelled_call_leaves_a_store_that_works(
    server: str, file: Path, request: pytest.FixtureRequest
) -> None:
    url = str(file) if server == "sqlite" else request.getfixturevalue("postgresql_url")
    async with SqlStore(url) as store:
        await store.aput("cancel", "a", 0)
        for number in range(20):
            task = asyncio.create_task(store.aput("cancel", "a", ["x" * 10_000] * number))
            await asyncio.sleep(number / 4000)
            task.cancel()
            await asyncio.wait([task])
        version = await store.aput("cancel", "a", "after")
        entry = await store.aget("cancel", "a")
    assert entry is not None
    assert (entry.value, entry.version) == ("after", version)

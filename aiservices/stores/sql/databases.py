"""Where a database is, how it is connected to, and which of its errors pass by themselves."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from weakref import WeakSet

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from ...errors import ConfigurationError, MissingExtraError

BUSY_SECONDS: Final = 5.0
"""How long SQLite waits for another writer before one try of ours counts as failed."""

# Backend -> drivers for blocking and asynchronous code, and the extra that they come with.
_DRIVERS: Final = {
    "sqlite": ("pysqlite", None, "sql"),
    "postgresql": ("psycopg", "psycopg", "postgres"),
    "mysql": ("pymysql", "asyncmy", "mysql"),
}
_SERVER: Final[dict[str, Any]] = {
    "hide_parameters": True,
    "isolation_level": "READ COMMITTED",
    "pool_pre_ping": True,
}
_ALSO_CALLED: Final = {"postgres": "postgresql", "mariadb": "mysql"}

_SQLITE_BUSY: Final = frozenset({5, 6, 15})  # busy, locked, protocol
_POSTGRESQL_RACES: Final = frozenset({"40001", "40P01"})  # serialisation failure, deadlock
_MYSQL_RACES: Final = frozenset({1020, 1205, 1213})  # record has changed, lock wait timeout, deadlock


@dataclass(frozen=True, slots=True)
class Database:
    """A database by its URL. What it shows of that has neither user nor password nor options."""

    url: URL
    backend: str

    @classmethod
    def at(cls, url: str | os.PathLike[str], *, owner: str) -> Database:
        """Read a URL or the path of an SQLite file. Raises `ConfigurationError` or `MissingExtraError`.

        `owner` is the name of the store, for what it complains of.
        """
        parsed = _parsed(os.fspath(url), owner)
        name, _, driver = parsed.drivername.partition("+")
        backend = _ALSO_CALLED.get(name, name)
        if backend not in _DRIVERS:
            raise ConfigurationError(f"{owner} knows sqlite, postgresql and mysql, not {name!r}")
        *drivers, extra = _DRIVERS[backend]
        if driver and driver not in drivers:
            raise ConfigurationError(
                f"{owner} chooses the driver itself: write {name}:// instead of {name}+{driver}://"
            )
        if backend != "sqlite" and not all(map(find_spec, map(str, drivers))):
            raise MissingExtraError(f"{owner} on {backend}", extra=extra)
        return cls(_on_disk(parsed, owner) if backend == "sqlite" else parsed, backend)

    def engine(self) -> Engine:
        """A new engine for blocking code."""
        tuned = {"hide_parameters": True, "connect_args": {"timeout": BUSY_SECONDS}}
        engine = create_engine(self._url(0), **(tuned if self.backend == "sqlite" else _SERVER))
        event.listen(engine, "connect", _tune_sqlite if self.backend == "sqlite" else _mark_as_pooled)
        _made.add(engine)
        return engine

    def async_engine(self) -> AsyncEngine:
        """A new engine for an event loop, of a server: SQLite has no input and output to wait for."""
        return create_async_engine(self._url(1), **_SERVER)

    def _url(self, drive: int) -> URL:
        return self.url.set(drivername=f"{self.backend}+{_DRIVERS[self.backend][drive]}")

    def __repr__(self) -> str:
        at = self.url
        host = f"{at.host or ''}{f':{at.port}' if at.port else ''}"
        return f"{self.backend}://{host}/{at.database or ''}"


def _parsed(url: str, owner: str) -> URL:
    if "://" not in url:
        return URL.create("sqlite", database=url)
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        raise ConfigurationError(
            f"{owner} cannot read its URL, which is not shown as it may hold a password"
        ) from None


def _on_disk(url: URL, owner: str) -> URL:
    """The same file, wherever the process goes later."""
    file = url.database
    if not file or file == ":memory:" or "mode" in url.query or file.startswith("file:"):
        in_memory = owner.replace("Sql", "InMemory")
        raise ConfigurationError(f"{owner} keeps SQLite in a plain file; for one in memory use {in_memory}()")
    return url.set(database=str(Path(file).absolute()))


def _tune_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where we say so, not where the driver guesses
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous=NORMAL")  # in WAL mode a crash of the process loses nothing
    cursor.close()


def _mark_as_pooled(connection: Any, _: object) -> None:
    """Have psycopg not warn when a forked child drops its parent's connection, which it must not close."""
    with suppress(AttributeError):
        connection._pool = None


_made: WeakSet[Engine] = WeakSet()
_inherited: list[Engine] = []
"""The parent's engines, in a forked child: SQLite must not even be closed there."""

os.register_at_fork(after_in_child=lambda: _inherited.extend(_made))


def passes_by_itself(error: Exception) -> bool:
    """Whether the transaction was undone because of what others did at the same time."""
    if not isinstance(error, DBAPIError):
        return False
    cause: Any = error.orig
    if (code := getattr(cause, "sqlite_errorcode", None)) is not None:
        return code & 0xFF in _SQLITE_BUSY
    if (state := getattr(cause, "sqlstate", None)) is not None:
        return state in _POSTGRESQL_RACES
    arguments: tuple[Any, ...] = getattr(cause, "args", ())
    return bool(arguments) and arguments[0] in _MYSQL_RACES

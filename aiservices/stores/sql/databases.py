"""Where a database is, how it is connected to, and which of its errors pass by themselves."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from ...errors import ConfigurationError, MissingExtraError

BUSY_SECONDS: Final = 5.0
"""How long SQLite waits for another writer before one try of ours counts as failed."""

# Backend -> drivers for blocking and asynchronous code, modules that they need, and the extra with those.
_DRIVERS: Final = {
    "sqlite": ("pysqlite", "aiosqlite", ("aiosqlite",), "sql"),
    "postgresql": ("psycopg", "psycopg", ("psycopg",), "postgres"),
    "mysql": ("pymysql", "asyncmy", ("pymysql", "asyncmy"), "mysql"),
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
    def at(cls, url: str | os.PathLike[str]) -> Database:
        """Read a URL or the path of an SQLite file. Raises `ConfigurationError` or `MissingExtraError`."""
        parsed = _parsed(os.fspath(url))
        name, _, driver = parsed.drivername.partition("+")
        backend = _ALSO_CALLED.get(name, name)
        if backend not in _DRIVERS:
            raise ConfigurationError(f"SqlStore knows sqlite, postgresql and mysql, not {name!r}")
        blocking, asynchronous, modules, extra = _DRIVERS[backend]
        if driver and driver not in (blocking, asynchronous):
            raise ConfigurationError(
                f"SqlStore chooses the driver itself: write {name}:// instead of {name}+{driver}://"
            )
        if not all(map(find_spec, modules)):
            raise MissingExtraError(f"SqlStore on {backend}", extra=extra)
        return cls(_on_disk(parsed) if backend == "sqlite" else parsed, backend)

    def engine(self) -> Engine:
        """A new engine for blocking code."""
        return self._tuned(create_engine(self._url(0), **self._options()))

    def async_engine(self) -> AsyncEngine:
        """A new engine for an event loop."""
        engine = create_async_engine(self._url(1), **self._options())
        self._tuned(engine.sync_engine)
        return engine

    def _url(self, drive: int) -> URL:
        return self.url.set(drivername=f"{self.backend}+{_DRIVERS[self.backend][drive]}")

    def _options(self) -> dict[str, Any]:
        if self.backend == "sqlite":
            return {"hide_parameters": True, "connect_args": {"timeout": BUSY_SECONDS}}
        return {"hide_parameters": True, "isolation_level": "READ COMMITTED", "pool_pre_ping": True}

    def _tuned(self, engine: Engine) -> Engine:
        if self.backend == "sqlite":
            event.listen(engine, "connect", _tune_sqlite)
        return engine

    def __repr__(self) -> str:
        at = self.url
        host = f"{at.host or ''}{f':{at.port}' if at.port else ''}"
        return f"{self.backend}://{host}/{at.database or ''}"


def _parsed(url: str) -> URL:
    if "://" not in url:
        return URL.create("sqlite", database=url)
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        raise ConfigurationError(
            "SqlStore cannot read its URL, which is not shown as it may hold a password"
        ) from None


def _on_disk(url: URL) -> URL:
    """The same file, wherever the process goes later."""
    file = url.database
    if not file or file == ":memory:" or "mode" in url.query or file.startswith("file:"):
        raise ConfigurationError(
            "SqlStore keeps SQLite in a plain file; for one in memory use InMemoryStore()"
        )
    return url.set(database=str(Path(file).absolute()))


def _tune_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where we say so, not where the driver guesses
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous=NORMAL")  # in WAL mode a crash of the process loses nothing
    cursor.close()


def passes_by_itself(error: Exception) -> bool:
    """Whether the transaction was undone because of what others did at the same time."""
    if not isinstance(error, DBAPIError):
        return False
    cause = error.orig
    if (code := getattr(cause, "sqlite_errorcode", None)) is not None:
        return code & 0xFF in _SQLITE_BUSY
    if (state := getattr(cause, "sqlstate", None)) is not None:
        return state in _POSTGRESQL_RACES
    arguments = getattr(cause, "args", ())
    return bool(arguments) and arguments[0] in _MYSQL_RACES

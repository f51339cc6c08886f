"""What `SqlStore` says to a database, built once and said over a connection in a transaction."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Text,
    bindparam,
    delete,
    func,
    select,
    text,
    update,
)
from sqlalchemy.dialects import mysql, postgresql, sqlite

from .tables import ENTRIES, LIVING, NOW, NUMBERS, VERSIONS

Outcome: TypeAlias = tuple[bool, int]
"""Whether it was done, and the new version or the one found."""

SWEPT_AT_ONCE: Final = 100

_C = ENTRIES.c
_NAMESPACE, _KEY = bindparam("at_namespace", type_=_C.namespace.type), bindparam("at_key", type_=_C.key.type)
_EXPECTED = bindparam("expected", type_=BigInteger())
_AT: Final = (_C.namespace == _NAMESPACE, _C.key == _KEY)

_READ: Final = select(_C.value, _C.version).where(*_AT, LIVING)
_FOUND: Final = select(_C.version).where(*_AT, LIVING)
_FOUND_AND_LOCKED: Final = _FOUND.with_for_update()
_KEYS: Final = select(_C.key).where(_C.namespace == _NAMESPACE, LIVING)
_KEYS_FROM: Final = _KEYS.where(_C.key >= _KEY)
_KEYS_BETWEEN: Final = _KEYS_FROM.where(_C.key < bindparam("below", type_=_C.key.type))
_REMOVE: Final = delete(ENTRIES).where(*_AT)
_EXPIRED: Final = (
    select(_C.namespace.label("at_namespace"), _C.key.label("at_key"), _C.version.label("expected"))
    .where(_C.expires_at <= NOW)
    .limit(SWEPT_AT_ONCE)
    .with_for_update(skip_locked=True)
)
_REMOVE_EXPIRED: Final = _REMOVE.where(_C.version == _EXPECTED)
_COUNT: Final = update(NUMBERS).where(NUMBERS.c.name == "version").values(number=NUMBERS.c.number + 1)
_COUNTED: Final = select(NUMBERS.c.number).where(NUMBERS.c.name == "version")


def _new(version: ColumnElement[int]) -> dict[str, Any]:
    """The columns that a write sets. Without a lease the sum is NULL, which is never."""
    lease = bindparam("lease", type_=BigInteger())
    return {"value": bindparam("text", type_=Text()), "version": version, "expires_at": NOW + lease}


def read(connection: Connection, namespace: str, key: str) -> tuple[object, object] | None:
    """The text and version of an entry."""
    row = connection.execute(_READ, {"at_namespace": namespace, "at_key": key}).one_or_none()
    return row and (row[0], row[1])


def list_keys(connection: Connection, namespace: str, prefix: str) -> list[str]:
    """The keys with a prefix, found as a range: patterns would have letters of their own and ignore case."""
    asked = {"at_namespace": namespace, "at_key": prefix, "below": _after(prefix)}
    statement = _KEYS_BETWEEN if asked["below"] else _KEYS_FROM
    return list(connection.scalars(statement, asked))


def _after(prefix: str) -> str:
    """The first string, by code points, after all that begin with the prefix; empty where there is none."""
    kept = prefix.rstrip("\U0010ffff")
    if not kept:
        return ""
    last = "\ue000" if kept[-1] == "\ud7ff" else chr(ord(kept[-1]) + 1)  # there are no lone surrogates
    return kept[:-1] + last


def sweep(connection: Connection) -> None:
    """Delete some of what has expired, without waiting for those who use it."""
    expired = [dict(row) for row in connection.execute(_EXPIRED).mappings()]
    if expired:
        connection.execute(_REMOVE_EXPIRED, expired)


class Returning:
    """For databases in which one statement compares, writes and tells what it wrote."""

    def __init__(self, insert: Any, *, counted: bool) -> None:
        self._counted = counted
        version = bindparam("version_", type_=BigInteger()) if counted else VERSIONS.next_value()
        new = _new(version)
        into = insert(ENTRIES).values(namespace=_NAMESPACE, key=_KEY, **new)
        self._put = self._upsert(into, new)
        self._create = self._upsert(into, new, where=_C.expires_at <= NOW)
        current = update(ENTRIES).where(*_AT, LIVING, _C.version == _EXPECTED)
        self._replace = current.values(new).returning(_C.version)
        self._remove = _REMOVE.returning(func.coalesce(_C.expires_at > NOW, True))
        self._remove_version = _REMOVE.where(LIVING, _C.version == _EXPECTED).returning(_C.version)

    @staticmethod
    def _upsert(into: Any, new: dict[str, Any], **where: Any) -> Any:
        place = [_C.namespace, _C.key]
        return into.on_conflict_do_update(index_elements=place, set_=new, **where).returning(_C.version)

    def write(
        self,
        connection: Connection,
        place: dict[str, str],
        text: str,
        expected: int | None,
        lease: int | None,
    ) -> Outcome:
        """Write an entry if it is at the expected version."""
        given: dict[str, Any] = {**place, "text": text, "lease": lease}
        if self._counted:
            given["version_"] = connection.scalar(_COUNT.returning(NUMBERS.c.number))
        statement: Any = self._put
        if expected is not None:
            statement = self._replace if expected else self._create
            given["expected"] = expected
        while (version := connection.scalar(statement, given)) is None:
            found = _found(connection, place)
            if found != expected:
                connection.rollback()  # of the number, which nobody got
                return False, found
        return True, version  # the loop is for an entry that was deleted while we looked

    def remove(self, connection: Connection, place: dict[str, str], expected: int | None) -> Outcome:
        """Delete an entry if it is at the expected version."""
        if expected is None:
            return bool(connection.scalar(self._remove, place)), 0
        if expected and connection.scalar(self._remove_version, {**place, "expected": expected}):
            return True, expected
        return False, _found(connection, place)


class Locking:
    """For MySQL, which has no such statements: who writes locks the counter's row first."""

    def __init__(self) -> None:
        new = _new(bindparam("version_", type_=BigInteger()))
        into = mysql.insert(ENTRIES).values(namespace=_NAMESPACE, key=_KEY, **new)
        self._put = into.on_duplicate_key_update(new)

    def write(
        self,
        connection: Connection,
        place: dict[str, str],
        text: str,
        expected: int | None,
        lease: int | None,
    ) -> Outcome:
        """Write an entry if it is at the expected version."""
        connection.execute(_COUNT)
        found = _found(connection, place, _FOUND_AND_LOCKED)
        if expected is not None and found != expected:
            connection.rollback()  # of the number, which nobody got
            return False, found
        version = connection.scalar(_COUNTED) or 0
        connection.execute(self._put, {**place, "text": text, "lease": lease, "version_": version})
        return True, version

    def remove(self, connection: Connection, place: dict[str, str], expected: int | None) -> Outcome:
        """Delete an entry if it is at the expected version."""
        connection.execute(_COUNT)
        found = _found(connection, place, _FOUND_AND_LOCKED)
        if not found or (expected is not None and found != expected):
            return False, found
        connection.execute(_REMOVE, place)
        return True, found


def _found(connection: Connection, place: dict[str, str], statement: Any = _FOUND) -> int:
    return connection.scalar(statement, place) or 0


BEGIN_TO_WRITE: Final = {"sqlite": text("BEGIN IMMEDIATE")}
"""A transaction of SQLite that writes must say so at its begin: one that reads first may have to give up."""

DIALECTS: Final[dict[str, Returning | Locking]] = {
    "sqlite": Returning(sqlite.insert, counted=True),
    "postgresql": Returning(postgresql.insert, counted=False),
    "mysql": Locking(),
}

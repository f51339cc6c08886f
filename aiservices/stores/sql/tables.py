"""The tables of `SqlStore`, and the few things that each database says in its own way."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import BigInteger, Column, ColumnElement, Dialect, Index, MetaData, Sequence, Table, Text, or_
from sqlalchemy.dialects.mysql import LONGTEXT, VARBINARY
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.types import TypeDecorator, TypeEngine

from ..entry import LONGEST_KEY, LONGEST_NAMESPACE

SCHEMA: Final = 1
BYTES_OF_A_LETTER: Final = 4


class Name(TypeDecorator[str]):
    """A string that is compared and sorted by its code points, blanks at its end included.

    SQLite does so by itself and PostgreSQL in the collation "C". MySQL's collations ignore case, accents or
    trailing blanks, so there the UTF-8 bytes are stored.
    """

    impl = Text
    cache_ok = True

    def __init__(self, length: int) -> None:
        super().__init__()
        self.length = length

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "mysql":
            return dialect.type_descriptor(VARBINARY(self.length * BYTES_OF_A_LETTER))
        collation = "C" if dialect.name == "postgresql" else None
        return dialect.type_descriptor(Text(collation=collation))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        return value.encode() if value is not None and dialect.name == "mysql" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        return value.decode() if isinstance(value, bytes) else value


METADATA: Final = MetaData()

ENTRIES: Final = Table(
    "aiservices_entries",
    METADATA,
    Column("namespace", Name(LONGEST_NAMESPACE), primary_key=True),
    Column("key", Name(LONGEST_KEY), primary_key=True),
    Column("value", Text().with_variant(LONGTEXT(), "mysql"), nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("expires_at", BigInteger),  # milliseconds since 1970
    mysql_engine="InnoDB",
    mysql_charset="utf8mb4",
)
Index(
    "aiservices_entries_expiring",
    ENTRIES.c.expires_at,
    sqlite_where=ENTRIES.c.expires_at.is_not(None),
    postgresql_where=ENTRIES.c.expires_at.is_not(None),
)

# Two rows: `schema` is the version of the tables, `version` the last version given to an entry.
NUMBERS: Final = Table(
    "aiservices_store",
    METADATA,
    Column("name", Name(32), primary_key=True),
    Column("number", BigInteger, nullable=False),
    mysql_engine="InnoDB",
)

# PostgreSQL gives versions from a sequence instead: its writers must not queue for one row.
VERSIONS: Final = Sequence("aiservices_versions", data_type=BigInteger)


class _Now(ColumnElement[int]):
    """Milliseconds since 1970 by the clock of the database: all its users agree on what has expired."""

    inherit_cache = True
    type = BigInteger()


@compiles(_Now, "sqlite")
def _now_sqlite(*_: Any, **__: Any) -> str:
    return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"


@compiles(_Now, "postgresql")
def _now_postgresql(*_: Any, **__: Any) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"


@compiles(_Now, "mysql")
def _now_mysql(*_: Any, **__: Any) -> str:
    return "(timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(3)) DIV 1000)"


NOW: Final = _Now()
LIVING: Final = or_(ENTRIES.c.expires_at.is_(None), ENTRIES.c.expires_at > NOW)

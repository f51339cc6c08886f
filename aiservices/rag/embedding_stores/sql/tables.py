"""The two tables of `SqlEmbeddingStore`, and making them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    insert,
    select,
)
from sqlalchemy.dialects.mysql import LONGTEXT

from ....errors import ConfigurationError
from ....stores.sql.schema import alone
from ....stores.sql.tables import Name
from ..requests import LONGEST_ID

SCHEMA: Final = 1
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True)
class Tables:
    """The segments, and a few numbers by name.

    The numbers: `version` counts the writes, `removal` is the version of the last one that removed something,
    `dimension` that of the vectors (0 as long as there were none), `schema` the version of the tables.
    """

    segments: Table
    numbers: Table


def tables_called(name: str) -> Tables:
    """The tables of a store. Raises `ConfigurationError` for what is no plain name."""
    check_table_name(name)
    metadata, long = MetaData(), Text().with_variant(LONGTEXT(), "mysql")
    segments = Table(
        name,
        metadata,
        Column("number", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True),
        Column("id", Name(LONGEST_ID), nullable=False, unique=True),
        Column("version", BigInteger, nullable=False),
        Column("vector", LargeBinary, nullable=False),  # at length 1, numbers of four bytes, lowest first
        Column("metadata", long, nullable=False),
        Column("body", long, nullable=False),
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
    )
    Index(f"{name}_by_version", segments.c.version)
    numbers = Table(
        f"{name}_numbers",
        metadata,
        Column("name", Name(32), primary_key=True),
        Column("number", BigInteger, nullable=False),
        mysql_engine="InnoDB",
    )
    return Tables(segments, numbers)


def check_table_name(name: str) -> None:
    """Raise `ConfigurationError` unless it is a plain name."""
    if not NAME.fullmatch(name):
        raise ConfigurationError(
            f"a table cannot be called {name!r}: use up to 40 letters, digits and underscores"
        )


def prepare(connection: Connection, tables: Tables) -> int:
    """Make the tables where there are none, and return the version of the schema."""
    with alone(connection):
        tables.segments.metadata.create_all(connection)
        c = tables.numbers.c
        schema: int | None = connection.scalar(select(c.number).where(c.name == "schema"))
        if schema is None:
            start = {"schema": SCHEMA, "version": 0, "removal": 0, "dimension": 0}
            rows = [{"name": name, "number": number} for name, number in start.items()]
            connection.execute(insert(tables.numbers), rows)
        return schema or SCHEMA

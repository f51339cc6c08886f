"""The table of `PgVectorEmbeddingStore` and its index, and making them."""

from __future__ import annotations

from typing import Any, Final

from pgvector.sqlalchemy import HALFVEC, VECTOR
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Identity,
    Index,
    MetaData,
    Table,
    Text,
    bindparam,
    cast,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from ....errors import ConfigurationError
from ....stores.sql.schema import alone
from ..sql.tables import check_table_name

MOST_DIMENSIONS: Final = 16_000
INDEXED: Final = 2000
"""So many numbers of four bytes can be indexed,"""
INDEXED_AS_HALVES: Final = 4000
"""and so many of two."""


def table_called(name: str, dimension: int) -> Table:
    """The table of a store. Raises `ConfigurationError` for what is no plain name."""
    check_table_name(name)
    table = Table(
        name,
        MetaData(),
        Column("number", BigInteger, Identity(), primary_key=True),
        Column("id", Text(collation="C"), nullable=False, unique=True),
        Column("embedding", VECTOR(dimension)),  # NULL for zeros, whose distance would be NaN
        Column("metadata", Text, nullable=False),
        Column("body", Text, nullable=False),
        Column("values", JSONB, nullable=False),  # the codes of the metadata, see `codes`
        Column("elements", JSONB, nullable=False),
        Column("odd", Boolean, nullable=False),
    )
    if dimension <= INDEXED_AS_HALVES:
        indexed, kind = nearness_of(table, dimension), "vector" if dimension <= INDEXED else "halfvec"
        # An expression is given its operator class by its label.
        Index(
            f"{name}_by_nearness",
            indexed.label("nearness"),
            postgresql_using="hnsw",
            postgresql_ops={"nearness": f"{kind}_cosine_ops"},
        )
    for column in ("values", "elements"):
        Index(
            f"{name}_by_{column}",
            table.c[column],
            postgresql_using="gin",
            postgresql_ops={column: "jsonb_path_ops"},
        )
    Index(f"{name}_odd", table.c.number, postgresql_where=table.c.odd)
    return table


def nearness_of(table: Table, dimension: int) -> ColumnElement[Any]:
    """What is indexed of a row."""
    if INDEXED < dimension <= INDEXED_AS_HALVES:
        return cast(table.c.embedding, HALFVEC(dimension))
    return table.c.embedding


def prepare(connection: Connection, table: Table, dimension: int) -> None:
    """Make the table and the index if there are none. Raises `ConfigurationError` for other vectors."""
    with alone(connection):
        connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
        table.metadata.create_all(connection)
        look = text(
            "SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass(:name) AND attname = 'embedding'"
        ).bindparams(bindparam("name", f'"{table.name}"'))
        found = connection.scalar(look)
    if found != dimension:
        raise ConfigurationError(
            f"the table {table.name!r} has vectors of {found} dimensions, the store those of {dimension}: "
            "give another table, or the dimension of the model that filled it"
        )

"""Making the tables, once, whoever comes first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import Connection, insert, select, text
from sqlalchemy.schema import CreateSequence

from .tables import METADATA, NUMBERS, SCHEMA, VERSIONS

_LOCK_SECONDS: Final = 60
_ADVISORY: Final = 0x61695365_72766963  # "aiServic", a number of our own among PostgreSQL's advisory locks


def prepare(connection: Connection) -> int:
    """Make the tables where there are none, and return the version of the schema."""
    with alone(connection):
        METADATA.create_all(connection)
        if connection.dialect.name == "postgresql":
            connection.execute(CreateSequence(VERSIONS, if_not_exists=True))
        schema = connection.scalar(select(NUMBERS.c.number).where(NUMBERS.c.name == "schema"))
        if schema is None:
            rows = [{"name": "version", "number": 0}, {"name": "schema", "number": SCHEMA}]
            connection.execute(insert(NUMBERS), rows)
        return schema or SCHEMA


@contextmanager
def alone(connection: Connection) -> Iterator[None]:
    """Keep other makers waiting: none of the databases makes tables safely side by side."""
    match connection.dialect.name:
        case "sqlite":
            connection.execute(text("PRAGMA journal_mode=WAL"))  # stays so; not possible in a transaction
            connection.execute(text("BEGIN IMMEDIATE"))
            yield
        case "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_ADVISORY})"))
            yield
        case _:
            connection.execute(text(f"SELECT get_lock('aiservices_store', {_LOCK_SECONDS})"))
            try:
                yield
                connection.execute(text("COMMIT"))  # the next maker must see the rows
            finally:
                connection.execute(text("SELECT release_lock('aiservices_store')"))

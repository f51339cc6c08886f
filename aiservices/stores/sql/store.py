"""The store in a database."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Final, TypeVar

from sqlalchemy import Connection

from ...driving import Driver
from ...errors import StoreError
from ..driven import DrivenStore
from .schema import prepare
from .statements import DIALECTS, Outcome, list_keys, read, sweep
from .tables import SCHEMA
from .transactions import Transactions

T = TypeVar("T")
SWEEP_SECONDS: Final = 60.0


class SqlStore(DrivenStore):
    """A store in SQLite, PostgreSQL or MySQL, for blocking and asynchronous code from one object.

    `url` is the path of an SQLite file, or `sqlite:///file`, `postgresql://user:password@host/database`,
    `mysql://...`; the drivers are chosen by the store and come with the extras `sql`, `postgres` and
    `mysql`. Two tables, `aiservices_entries` and `aiservices_store`, are made when they are missing.

    Safe to share between threads, event loops and, after a fork, processes. What expires does so by the clock
    of the database; it is deleted when others write leases. A lost race is tried again here, for some
    seconds, so that it reaches nobody. SQLite runs in WAL mode: a killed process loses nothing that `put`
    returned for, a power failure perhaps the last moments, and neither leaves a torn entry.

    Raises `ConfigurationError` for a URL of another kind, `MissingExtraError` without the driver.
    """

    def __init__(self, url: str | os.PathLike[str]) -> None:
        self._transactions = Transactions(url, owner="SqlStore")
        self._database = self._transactions.database
        self._dialect = DIALECTS[self._database.backend]
        self._prepared = False
        self._swept = -SWEEP_SECONDS

    async def _read(self, driver: Driver, namespace: str, key: str) -> tuple[object, object] | None:
        return await self._ask(driver, partial(read, namespace=namespace, key=key), namespace, key)

    async def _list(self, driver: Driver, namespace: str, prefix: str) -> list[str]:
        work = partial(list_keys, namespace=namespace, prefix=prefix)
        return await self._ask(driver, work, namespace)

    async def _write(
        self, driver: Driver, place: tuple[str, str], text: bytes, *, expected: int | None, lease: int | None
    ) -> Outcome:
        if lease is not None and monotonic() - self._swept > SWEEP_SECONDS:
            self._swept = monotonic()
            await self._ask(driver, self._transactions.writing(sweep), *place)

        def work(connection: Connection) -> Outcome:
            return self._dialect.write(connection, _named(place), text.decode(), expected, lease)

        return await self._ask(driver, self._transactions.writing(work), *place)

    async def _remove(self, driver: Driver, place: tuple[str, str], *, expected: int | None) -> Outcome:
        def work(connection: Connection) -> Outcome:
            return self._dialect.remove(connection, _named(place), expected)

        return await self._ask(driver, self._transactions.writing(work), *place)

    async def _ask(
        self, driver: Driver, work: Callable[[Connection], T], namespace: str, key: str | None = None
    ) -> T:
        """Do some work in a transaction of its own, after the tables are there."""
        failure = partial(self._failure, namespace=namespace, key=key)
        if not self._prepared:
            schema = await self._transactions.do(driver, prepare, failure)
            if schema > SCHEMA:
                raise StoreError(
                    f"the tables in {self._database} are of schema {schema}, made by a newer aiservices; "
                    f"this one knows schema {SCHEMA}: update it",
                    namespace=namespace,
                    key=key,
                )
            self._prepared = True
        return await self._transactions.do(driver, work, failure)

    def _failure(self, error: Exception, namespace: str, key: str | None) -> StoreError:
        what = f"namespace {namespace!r}" if key is None else f"{key!r} in {namespace!r}"
        cause = getattr(error, "orig", None) or error
        return StoreError(
            f"{self._database} failed for {what}: {type(cause).__name__}: {cause}",
            namespace=namespace,
            key=key,
        )

    def close(self) -> None:
        self._transactions.close()

    async def aclose(self) -> None:
        await self._transactions.aclose()

    def __repr__(self) -> str:
        return f"SqlStore({self._database})"


def _named(place: tuple[str, str]) -> dict[str, str]:
    return {"at_namespace": place[0], "at_key": place[1]}

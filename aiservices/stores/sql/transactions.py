"""Work in a database, each piece in a transaction, for blocking and asynchronous code from one object."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from random import random
from typing import Final, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from ...driving import Driver, PerLoop, PerProcess, Places, run_in_worker, undisguised, wait_for
from .databases import Database, passes_by_itself
from .statements import BEGIN_TO_WRITE

T = TypeVar("T")
TRIES: Final = 8
PAUSE_SECONDS: Final = 0.02
SQLITE_WORKERS: Final = 8


class Transactions:
    """The connections to a database, shared by threads, event loops and, after a fork, processes."""

    def __init__(self, url: str | os.PathLike[str], *, owner: str) -> None:
        self.database = Database.at(url, owner=owner)
        self._begin = BEGIN_TO_WRITE.get(self.database.backend)
        self._engine = PerProcess(self.database.engine, Engine.dispose)
        self._engines = PerLoop(self.database.async_engine, AsyncEngine.dispose)
        self._workers = Places(SQLITE_WORKERS)

    async def do(
        self, driver: Driver, work: Callable[[Connection], T], failure: Callable[[Exception], Exception]
    ) -> T:
        """Do some work in a transaction of its own, and again when others were in its way.

        What it fails with otherwise is raised as the `failure` that is made of it.
        """
        tries = 1
        while True:
            try:
                return await driver.twin(self._transact, self._atransact, work)
            except (SQLAlchemyError, OSError) as error:
                if tries == TRIES or not passes_by_itself(error):
                    raise failure(error) from error
            await driver.sleep(PAUSE_SECONDS * 2**tries * random())
            tries += 1

    def writing(self, work: Callable[[Connection], T]) -> Callable[[Connection], T]:
        """The work, after the transaction has said that it will write, where that must be said."""

        def begin_and_work(connection: Connection) -> T:
            if self._begin is not None:
                connection.execute(self._begin)
            return work(connection)

        return begin_and_work

    def _transact(self, work: Callable[[Connection], T]) -> T:
        with self._engine.get().begin() as connection:
            return work(connection)

    async def _atransact(self, work: Callable[[Connection], T]) -> T:
        """SQLite is asked in a worker thread; its asynchronous driver does so too, but for each step."""
        if self.database.backend == "sqlite":
            async with self._workers.aheld():
                return await wait_for(run_in_worker(partial(self._transact, work)))
        async with (await self._engines.get()).begin() as connection:
            # psycopg, cancelled at the wrong moment, fails otherwise and leaves a broken connection.
            return await undisguised(connection.run_sync(work), connection.invalidate)

    def close(self) -> None:
        """Close the blocking connections; another piece of work opens new ones."""
        self._engine.close()

    async def aclose(self) -> None:
        """Close the connections of the running event loop and the blocking ones."""
        self.close()
        await self._engines.aclose()

"""Work in a database that is cancelled while it waits."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.util import await_

from aiservices.driving import ASYNCHRONOUS
from aiservices.stores.sql.transactions import Transactions


def process(connection: Connection) -> int:
    """The process of the server that serves this connection."""
    return int(connection.scalar(text("SELECT pg_backend_pid()")) or 0)


def test_a_driver_that_fails_when_it_is_cancelled_is_cancelled_and_its_connection_not_used_again(
    postgresql_url: str,
) -> None:
    """As psycopg does between the commands of a pipeline."""
    transactions = Transactions(postgresql_url, owner="this test")
    served: list[int] = []

    async def main() -> None:
        waiting = asyncio.Event()

        async def stubborn() -> None:
            waiting.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise AssertionError("pipeline.level == 0") from None

        def work(connection: Connection) -> None:
            served.append(process(connection))
            await_(stubborn())

        task = asyncio.create_task(transactions.do(ASYNCHRONOUS, work, lambda error: error))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        served.append(await transactions.do(ASYNCHRONOUS, process, lambda error: error))
        await transactions.aclose()

    asyncio.run(main())
    cancelled, after = served
    assert cancelled != after


def test_an_error_of_work_that_nobody_has_cancelled_is_its_own(postgresql_url: str) -> None:
    transactions = Transactions(postgresql_url, owner="this test")

    def work(connection: Connection) -> None:
        raise AssertionError("mine")

    async def main() -> None:
        with pytest.raises(AssertionError, match="mine"):
            await transactions.do(ASYNCHRONOUS, work, lambda error: error)
        await transactions.aclose()

    asyncio.run(main())


def test_an_error_of_what_a_cancelled_task_does_to_clean_up_is_its_own(postgresql_url: str) -> None:
    transactions = Transactions(postgresql_url, owner="this test")
    heard: list[BaseException] = []

    def work(connection: Connection) -> None:
        raise AssertionError("mine")

    async def main() -> None:
        waiting = asyncio.Event()

        async def cleaning_up() -> None:
            waiting.set()
            try:
                await asyncio.Event().wait()
            finally:
                try:
                    await transactions.do(ASYNCHRONOUS, work, lambda error: error)
                except BaseException as error:
                    heard.append(error)

        task = asyncio.create_task(cleaning_up())
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await transactions.aclose()

    asyncio.run(main())
    assert [str(error) for error in heard] == ["mine"]

"""Every store that we ship keeps the whole contract, and so does a user's that has only one half of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aiservices.stores import Entry, InMemoryStore, RedisStore, SqlStore, Store
from aiservices.testing.stores import StoreConformance


class BlockingHalf(Store):
    """A user's store that knows nothing of asynchronous code."""

    def __init__(self) -> None:
        self.kept = InMemoryStore()

    def get(self, namespace: str, key: str) -> Entry | None:
        return self.kept.get(namespace, key)

    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        return self.kept.put(namespace, key, value, **options)

    def delete(self, namespace: str, key: str, *, expected_version: int | None = None) -> bool:
        return self.kept.delete(namespace, key, expected_version=expected_version)

    def keys(self, namespace: str, prefix: str = "") -> list[str]:
        return self.kept.keys(namespace, prefix)


class AsynchronousHalf(Store):
    """A user's store that knows nothing of blocking code."""

    def __init__(self) -> None:
        self.kept = InMemoryStore()

    async def aget(self, namespace: str, key: str) -> Entry | None:
        return self.kept.get(namespace, key)

    async def aput(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        return self.kept.put(namespace, key, value, **options)

    async def adelete(self, namespace: str, key: str, *, expected_version: int | None = None) -> bool:
        return self.kept.delete(namespace, key, expected_version=expected_version)

    async def akeys(self, namespace: str, prefix: str = "") -> list[str]:
        return self.kept.keys(namespace, prefix)


class TestInMemory(StoreConformance):
    @pytest.fixture
    def store(self) -> Store:
        return InMemoryStore()


class TestBlockingHalf(StoreConformance):
    @pytest.fixture
    def store(self) -> Store:
        return BlockingHalf()


class TestAsynchronousHalf(StoreConformance):
    @pytest.fixture
    def store(self) -> Store:
        return AsynchronousHalf()


class TestSqlite(StoreConformance):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        with SqlStore(tmp_path / "store.db") as store:
            yield store


class TestPostgresql(StoreConformance):
    @pytest.fixture
    def store(self, postgresql_url: str) -> Iterator[Store]:
        with SqlStore(postgresql_url) as store:
            yield store


class TestMysql(StoreConformance):
    @pytest.fixture
    def store(self, mysql_url: str) -> Iterator[Store]:
        with SqlStore(mysql_url) as store:
            yield store


class TestRedis(StoreConformance):
    @pytest.fixture
    def store(self, redis_url: str) -> Iterator[Store]:
        with RedisStore(redis_url) as store:
            yield store

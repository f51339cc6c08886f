"""Stores whose operations are written once and driven two ways."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ..driving import ASYNCHRONOUS, BLOCKING, Driver
from ..errors import ConflictError
from .encoding import decode, encode
from .entry import Entry, check_key, check_version, milliseconds
from .store import Store


class DrivenStore(Store, ABC):
    """A store of texts: a subclass reads and writes them, this class sees to checks, JSON and both drives."""

    @abstractmethod
    async def _read(self, driver: Driver, namespace: str, key: str) -> tuple[object, object] | None:
        """The text and version of an entry, unchecked."""

    @abstractmethod
    async def _write(
        self, driver: Driver, place: tuple[str, str], text: bytes, *, expected: int | None, lease: int | None
    ) -> tuple[bool, int]:
        """Whether it was written, and the new version or the one found. The lease is in milliseconds."""

    @abstractmethod
    async def _remove(
        self, driver: Driver, place: tuple[str, str], *, expected: int | None
    ) -> tuple[bool, int]:
        """Whether it was deleted, and the version found where it was not."""

    @abstractmethod
    async def _list(self, driver: Driver, namespace: str, prefix: str) -> list[str]:
        """The keys with a prefix."""

    async def _get(self, driver: Driver, namespace: str, key: str) -> Entry | None:
        check_key(namespace, key)
        found = await self._read(driver, namespace, key)
        return found and decode(namespace, key, *found)

    async def _put(
        self,
        driver: Driver,
        place: tuple[str, str],
        value: Any,
        *,
        expected: int | None,
        expires_in: float | None,
    ) -> int:
        check_key(*place)
        check_version(expected)
        lease, text = milliseconds(expires_in), encode(*place, value)
        written, version = await self._write(driver, place, text, expected=expected, lease=lease)
        if not written:
            raise ConflictError(*place, expected=expected or 0, found=version)
        return version

    async def _delete(self, driver: Driver, place: tuple[str, str], *, expected: int | None) -> bool:
        check_key(*place)
        check_version(expected)
        deleted, found = await self._remove(driver, place, expected=expected)
        if not deleted and expected is not None and found != expected:
            raise ConflictError(*place, expected=expected, found=found)
        return deleted

    async def _keys(self, driver: Driver, namespace: str, prefix: str) -> list[str]:
        check_key(namespace, prefix)
        return sorted(await self._list(driver, namespace, prefix))

    def get(self, namespace: str, key: str) -> Entry | None:
        return BLOCKING.run(self._get(BLOCKING, namespace, key))

    def put(
        self,
        namespace: str,
        key: str,
        value: Any,
        *,
        expected_version: int | None = None,
        expires_in: float | None = None,
    ) -> int:
        place, expected = (namespace, key), expected_version
        return BLOCKING.run(self._put(BLOCKING, place, value, expected=expected, expires_in=expires_in))

    def delete(self, namespace: str, key: str, *, expected_version: int | None = None) -> bool:
        return BLOCKING.run(self._delete(BLOCKING, (namespace, key), expected=expected_version))

    def keys(self, namespace: str, prefix: str = "") -> list[str]:
        return BLOCKING.run(self._keys(BLOCKING, namespace, prefix))

    async def aget(self, namespace: str, key: str) -> Entry | None:
        return await self._get(ASYNCHRONOUS, namespace, key)

    async def aput(
        self,
        namespace: str,
        key: str,
        value: Any,
        *,
        expected_version: int | None = None,
        expires_in: float | None = None,
    ) -> int:
        place, expected = (namespace, key), expected_version
        return await self._put(ASYNCHRONOUS, place, value, expected=expected, expires_in=expires_in)

    async def adelete(self, namespace: str, key: str, *, expected_version: int | None = None) -> bool:
        return await self._delete(ASYNCHRONOUS, (namespace, key), expected=expected_version)

    async def akeys(self, namespace: str, prefix: str = "") -> list[str]:
        return await self._keys(ASYNCHRONOUS, namespace, prefix)

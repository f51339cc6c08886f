"""The store that lives and dies with the process."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from time import monotonic
from typing import Any

from ..driving import Places
from ..errors import ConflictError
from .encoding import decode, encode
from .entry import Entry, check_key, check_version, milliseconds
from .store import Store


@dataclass(frozen=True, slots=True)
class _Kept:
    text: bytes
    version: int
    expires: float | None  # on the monotonic clock, which nobody can set


class InMemoryStore(Store):
    """A store in the memory of the process, for tests and for what need not survive.

    Safe to share between threads and event loops. It holds what is put in it until that is deleted or
    expires; expired entries are released at a later write, whatever that writes.
    """

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, _Kept]] = {}
        self._leases: list[tuple[float, int, str, str]] = []
        self._versions = count(1)
        self._one_at_a_time = Places(1)

    def get(self, namespace: str, key: str) -> Entry | None:
        check_key(namespace, key)
        kept = self._living(namespace, key)
        return decode(namespace, key, kept.text, kept.version) if kept else None

    def put(
        self,
        namespace: str,
        key: str,
        value: Any,
        *,
        expected_version: int | None = None,
        expires_in: float | None = None,
    ) -> int:
        check_key(namespace, key)
        check_version(expected_version)
        lease = milliseconds(expires_in)
        text = encode(namespace, key, value)
        with self._one_at_a_time.held():
            self._release_expired()
            self._expect(namespace, key, expected_version)
            version = next(self._versions)
            expires = None if lease is None else monotonic() + lease / 1000
            if expires is not None:
                heappush(self._leases, (expires, version, namespace, key))
            self._kept.setdefault(namespace, {})[key] = _Kept(text, version, expires)
        return version

    def delete(self, namespace: str, key: str, *, expected_version: int | None = None) -> bool:
        check_key(namespace, key)
        check_version(expected_version)
        with self._one_at_a_time.held():
            self._release_expired()
            there = self._expect(namespace, key, expected_version)
            if there:
                self._drop(namespace, key)
        return there

    def keys(self, namespace: str, prefix: str = "") -> list[str]:
        check_key(namespace, prefix)
        with self._one_at_a_time.held():
            found = [key for key in self._kept.get(namespace, ()) if key.startswith(prefix)]
        return sorted(key for key in found if self._living(namespace, key))

    async def aget(self, namespace: str, key: str) -> Entry | None:
        return self.get(namespace, key)

    async def aput(
        self,
        namespace: str,
        key: str,
        value: Any,
        *,
        expected_version: int | None = None,
        expires_in: float | None = None,
    ) -> int:
        return self.put(namespace, key, value, expected_version=expected_version, expires_in=expires_in)

    async def adelete(self, namespace: str, key: str, *, expected_version: int | None = None) -> bool:
        return self.delete(namespace, key, expected_version=expected_version)

    async def akeys(self, namespace: str, prefix: str = "") -> list[str]:
        return self.keys(namespace, prefix)

    def _living(self, namespace: str, key: str) -> _Kept | None:
        kept = self._kept.get(namespace, {}).get(key)
        return kept if kept and (kept.expires is None or kept.expires > monotonic()) else None

    def _expect(self, namespace: str, key: str, expected: int | None) -> bool:
        """Whether there is an entry. Raises `ConflictError` where it is not at the expected version."""
        kept = self._living(namespace, key)
        found = kept.version if kept else 0
        if expected is not None and found != expected:
            raise ConflictError(namespace, key, expected=expected, found=found)
        return bool(kept)

    def _release_expired(self) -> None:
        """Drop what has expired. A renewed lease is in the heap twice: its version tells which is meant."""
        now = monotonic()
        while self._leases and self._leases[0][0] <= now:
            _, version, namespace, key = heappop(self._leases)
            kept = self._kept.get(namespace, {}).get(key)
            if kept and kept.version == version:
                self._drop(namespace, key)

    def _drop(self, namespace: str, key: str) -> None:
        entries = self._kept[namespace]
        del entries[key]
        if not entries:
            del self._kept[namespace]

    def __repr__(self) -> str:
        with self._one_at_a_time.held():
            return f"InMemoryStore({sum(map(len, self._kept.values()))} entries)"


MemoryStore = InMemoryStore

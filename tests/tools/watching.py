"""Stores that tell what is written to the compensation log, and fail or take their time on demand."""

from __future__ import annotations

import time
from typing import Any

from aiservices import InMemoryStore, StoreError
from aiservices.stores import Store
from aiservices.tools.leases import LEASES
from aiservices.tools.log import CALLS


class WatchedStore(InMemoryStore):
    """Notes what is written and deleted, and fails on demand."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[str] = []
        self.fail: Any = lambda done: False

    def _note(self, did: str, namespace: str, key: str, value: Any = None) -> None:
        if namespace == CALLS:
            did += " " + key.partition("/")[2]
            if isinstance(value, dict) and value.get("order") is not None:
                did += " done"
        else:
            did += " lease"
        self.log.append(did)
        if self.fail(did):
            raise StoreError("the store is down", namespace=namespace, key=key)

    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        self._note("put", namespace, key, value)
        return super().put(namespace, key, value, **options)

    def delete(self, namespace: str, key: str, **options: Any) -> bool:
        self._note("delete", namespace, key)
        return super().delete(namespace, key, **options)

    @property
    def left(self) -> list[str]:
        return self.keys(CALLS) + self.keys(LEASES)


class SlowStore(WatchedStore):
    """Takes its time for one kind of write, in a thread that goes on when nobody waits for it."""

    aput = Store.aput

    def __init__(self, slow: str) -> None:
        super().__init__()
        self._slow = slow

    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        self._note("put", namespace, key, value)
        if self.log[-1] == self._slow:
            time.sleep(0.15)
        return InMemoryStore.put(self, namespace, key, value, **options)

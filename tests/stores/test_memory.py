"""The store in memory gives back what it took, memory included."""

from __future__ import annotations

import pytest

from aiservices.driving import BLOCKING
from aiservices.stores import Entry, InMemoryStore


def test_expired_entries_are_released_by_a_later_write() -> None:
    store = InMemoryStore()
    for number in range(50):
        store.put("leases", str(number), "x", expires_in=0.01)
    BLOCKING.run(BLOCKING.sleep(0.05))
    assert repr(store) == "InMemoryStore(50 entries)"
    store.put("other", "a", 1)
    assert repr(store) == "InMemoryStore(1 entries)"


def test_a_renewed_lease_survives_the_end_of_the_first() -> None:
    store = InMemoryStore()
    store.put("leases", "a", 1, expires_in=0.01)
    version = store.put("leases", "a", 2, expires_in=60)
    BLOCKING.run(BLOCKING.sleep(0.05))
    store.put("other", "a", 1)
    assert store.get("leases", "a") == Entry(2, version)


def test_two_stores_do_not_meet() -> None:
    InMemoryStore().put("test", "a", 1)
    assert InMemoryStore().get("test", "a") is None


@pytest.mark.anyio
async def test_the_asynchronous_half_needs_no_thread() -> None:
    store = InMemoryStore()
    assert await store.aput("test", "a", 1) == 1
    with pytest.raises(StopIteration) as done:
        store.aget("test", "a").send(None)
    assert done.value.value == Entry(1, 1)

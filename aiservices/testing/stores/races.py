"""Of many at once one wins, whichever way they came, and the two halves are one store."""

from __future__ import annotations

from functools import partial

from ...driving import ASYNCHRONOUS, run_in_worker
from ...errors import ConflictError
from ...stores import Entry, Store
from .asking import LEASE_SECONDS, WRITERS, increment_once, new_namespace, on_a_loop, outcome_of, value_of


class SurvivesRaces:
    """Of many at once one wins, whichever way they came, and the two halves are one store."""

    def test_of_many_writers_who_expect_one_version_exactly_one_succeeds(self, store: Store) -> None:
        namespace = new_namespace()
        for key, expected in (("a", 0), ("b", store.put(namespace, "b", "before"))):
            write = partial(store.put, namespace, key, expected_version=expected)
            tries = [run_in_worker(partial(outcome_of, partial(write, number))) for number in range(WRITERS)]
            outcomes = [each.result() for each in tries]
            written = {each: number for number, each in enumerate(outcomes) if isinstance(each, int)}
            ((version, winner),) = written.items()
            assert store.get(namespace, key) == Entry(winner, version)

    def test_no_update_is_lost_between_threads(self, store: Store) -> None:
        namespace = new_namespace()

        def increment() -> None:
            for _ in range(10):
                while isinstance(outcome_of(partial(increment_once, store, namespace)), ConflictError):
                    pass

        for future in [run_in_worker(increment) for _ in range(8)]:
            future.result()
        assert value_of(store, namespace) == 80

    def test_the_asynchronous_half_does_the_same(self, store: Store) -> None:
        async def use() -> None:
            namespace = new_namespace()
            version = await store.aput(namespace, "a", [1], expected_version=0)
            assert await store.aget(namespace, "a") == Entry([1], version)
            assert await store.akeys(namespace, "a") == ["a"]
            assert await write_first(store, namespace, 2) is None
            assert await store.aput(namespace, "lease", 1, expires_in=LEASE_SECONDS) > 0
            await ASYNCHRONOUS.sleep(LEASE_SECONDS + 0.1)
            assert await store.aget(namespace, "lease") is None
            assert await store.adelete(namespace, "a", expected_version=version) is True
            assert await store.adelete(namespace, "a") is False
            assert await store.aget(namespace, "a") is None

        on_a_loop(store, use())
        on_a_loop(store, use())

    def test_both_halves_see_one_store(self, store: Store) -> None:
        namespace = new_namespace()
        version = store.put(namespace, "a", 1)
        assert on_a_loop(store, store.aget(namespace, "a")) == Entry(1, version)
        version = on_a_loop(store, store.aput(namespace, "a", 2, expected_version=version))
        assert store.get(namespace, "a") == Entry(2, version)
        assert on_a_loop(store, store.akeys(namespace)) == store.keys(namespace) == ["a"]

    def test_of_many_tasks_that_expect_one_version_exactly_one_succeeds(self, store: Store) -> None:
        namespace = new_namespace()

        tasks = [write_first(store, namespace, number) for number in range(WRITERS)]
        outcomes = on_a_loop(store, ASYNCHRONOUS.gather(tasks))
        ((winner, version),) = [(number, each) for number, each in enumerate(outcomes) if each]
        assert store.get(namespace, "a") == Entry(winner, version)

    def test_a_closed_store_opens_again(self, store: Store) -> None:
        namespace = new_namespace()
        store.put(namespace, "a", 1)
        store.close()
        store.close()
        assert on_a_loop(store, store.aget(namespace, "a")) is not None


async def write_first(store: Store, namespace: str, value: int) -> int | None:
    """Write the entry `a` and return its version, or `None` where somebody else has written it."""
    try:
        return await store.aput(namespace, "a", value, expected_version=0)
    except ConflictError:
        return None

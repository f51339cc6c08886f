"""Threads and both halves of the store work on one and the same."""

from __future__ import annotations

from collections.abc import Coroutine
from functools import partial
from typing import Any, TypeVar

from ...driving import ASYNCHRONOUS, run_in_background, run_in_worker
from ...rag import EmbeddingStore, F, TextSegment
from .asking import EAST, NORTH, UP, put, scores

T = TypeVar("T")


class IsShared:
    """Threads and both halves of the store work on one and the same."""

    def test_the_asynchronous_half_does_the_same(self, store: EmbeddingStore) -> None:
        options: list[dict[str, Any]] = [{"max_results": 1}, {"min_score": 0.9}, {"filter": F("k") == 1}]

        async def use() -> None:
            segments = [TextSegment("a", {"k": 1}), TextSegment("b")]
            assert await store.aadd([EAST, NORTH], segments, ids=["a", "b"]) == ["a", "b"]
            for option in options:
                found = await store.asearch(EAST, **option)
                assert [(match.id, match.segment) for match in found] == [("a", segments[0])], option
            assert len(await store.asearch(EAST, query="words")) == 2
            assert await store.aremove(["b"]) == 1
            assert await store.aremove(filter=F("k") == 1) == 1
            assert await store.asearch(EAST) == []

        on_a_loop(store, use())
        on_a_loop(store, use())

    def test_both_halves_see_one_store(self, store: EmbeddingStore) -> None:
        put(store, a=EAST)
        assert [match.id for match in on_a_loop(store, store.asearch(EAST))] == ["a"]
        on_a_loop(store, store.aadd([UP], [TextSegment("b")], ids=["b"]))
        assert set(scores(store, EAST)) == {"a", "b"}
        on_a_loop(store, store.aremove(["a"]))
        assert set(scores(store, EAST)) == {"b"}

    def test_threads_add_search_and_remove_side_by_side(self, store: EmbeddingStore) -> None:
        def work(number: int) -> None:
            names = [f"{number} {each}" for each in range(10)]
            store.add([EAST] * 10, [TextSegment(each, {"n": number}) for each in names], ids=names)
            mine = store.search(EAST, max_results=100, filter=F("n") == number)
            assert sorted(match.id for match in mine) == names
            assert store.remove(names[:5]) == 5
            assert len(store.search(EAST, max_results=100, filter=F("n") == number)) == 5

        for future in [run_in_worker(partial(work, number)) for number in range(6)]:
            future.result()
        assert len(scores(store, EAST)) == 30

    def test_tasks_add_and_search_side_by_side(self, store: EmbeddingStore) -> None:
        async def work(number: int) -> int:
            await store.aadd([UP], [TextSegment(str(number))], ids=[str(number)])
            return len(await store.asearch(UP, max_results=100))

        found = on_a_loop(store, ASYNCHRONOUS.gather([work(number) for number in range(10)]))
        assert max(found) == 10

    def test_a_closed_store_opens_again(self, store: EmbeddingStore) -> None:
        put(store, a=EAST)
        store.close()
        store.close()
        put(store, b=EAST)
        assert "b" in scores(store, EAST)


def on_a_loop(store: EmbeddingStore, work: Coroutine[Any, Any, T]) -> T:
    """Run some work on an event loop, and have the store let go of what it holds open for that."""

    async def and_close() -> T:
        try:
            return await work
        finally:
            await store.aclose()

    return run_in_background(and_close())

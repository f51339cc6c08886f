"""What the processes do that the tests of embedding stores start: `python user_processes.py TASK URL`."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from itertools import count

from aiservices.rag import F, SqlEmbeddingStore, TextSegment

BATCH = 200


def add_for_ever(store: SqlEmbeddingStore) -> None:
    """Add batches that show whether they are whole, and say which were added."""
    for number in count():
        segments = [TextSegment(f"{number} {each}" * 50, {"batch": number}) for each in range(BATCH)]
        store.add([[1.0, each, number] for each in range(BATCH)], segments)
        print(number, flush=True)


def add_one(store: SqlEmbeddingStore) -> None:
    """Add one segment and remove another."""
    store.add([[0.0, 0.0, 1.0]], [TextSegment("theirs", {"whose": "theirs"})], ids=["theirs"])
    store.remove(["gone"])


def use_in_every_way(store: SqlEmbeddingStore) -> None:
    """Threads, several loops, a forked child; the interpreter was told to mind what is left open."""

    async def use_on_a_loop() -> None:
        adding = (store.aadd([[1.0, n]], [TextSegment(str(n), {"n": n})], ids=[str(n)]) for n in range(10))
        await asyncio.gather(*adding)
        assert len(await store.asearch([1.0, 0.0], max_results=99, filter=F("n") < 10)) == 10

    def use_in_threads() -> None:
        threads = [threading.Thread(target=store.search, args=([1.0, 0.0],)) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    use_in_threads()
    for _ in range(2):
        asyncio.run(use_on_a_loop())
    child = os.fork()
    use_in_threads()
    asyncio.run(use_on_a_loop())
    if not child:
        store.add([[1.0, 1.0]], [TextSegment("of the child", {"child": True})])
        return
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(store.search([1.0, 0.0], filter=F("child") == True)) == 1  # noqa: E712


if __name__ == "__main__":
    task, url = sys.argv[1:3]
    with SqlEmbeddingStore(url) as opened:
        globals()[task](opened)

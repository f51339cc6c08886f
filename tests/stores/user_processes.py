"""What the processes do that the tests start: `python user_processes.py TASK URL [NUMBER]`."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from itertools import count

from aiservices.errors import ConflictError
from aiservices.stores import Entry, RedisStore, SqlStore, Store


def opened(url: str) -> Store:
    return RedisStore(url) if url.startswith(("redis:", "unix:")) else SqlStore(url)


def increment(store: Store, times: int) -> None:
    """Add to the one number, trying again when somebody else did; say which numbers were reached."""
    for _ in range(times):
        while True:
            entry = store.get("test", "number") or Entry(0, 0)
            try:
                store.put("test", "number", entry.value + 1, expected_version=entry.version)
            except ConflictError:
                continue
            print(entry.value + 1)
            break


def write_for_ever(store: Store, start: int) -> None:
    """Write big values that show whether they are whole, and say which were written."""
    for number in count(start):
        store.put("test", "big", [number] * 20_000)
        print(number, flush=True)


def use_in_every_way(store: Store, _: int) -> None:
    """Threads, several loops, a forked child; the interpreter was told to mind what is left open."""

    async def use_on_a_loop() -> None:
        await asyncio.gather(*(store.aput("loop", str(number), number) for number in range(20)))
        assert len(await store.akeys("loop")) == 20

    def use_in_threads() -> None:
        writers = [threading.Thread(target=store.put, args=("thread", str(n), n)) for n in range(20)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert len(store.keys("thread")) == 20

    use_in_threads()
    for _ in range(3):
        asyncio.run(use_on_a_loop())
    child = os.fork()
    use_in_threads()
    asyncio.run(use_on_a_loop())
    if child == 0:
        store.put("fork", "child", 1)
        return
    assert os.waitpid(child, 0)[1] == 0
    assert store.keys("fork") == ["child"]


TASKS = {task.__name__: task for task in (increment, write_for_ever, use_in_every_way)}

if __name__ == "__main__":
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # how long a step took is not the matter
    name, url, *number = sys.argv[1:]
    TASKS[name](opened(url), int(*number or "0"))

"""What the processes do that the tests start: `python user_processes.py TASK URL NAME NUMBER`."""

from __future__ import annotations

import sys
from itertools import count

from aiservices import ChatRequest, MessageWindowChatMemory, RedisStore, SqlStore, Store
from tests.memory.conversing import a_tool, asks, chat


def opened(url: str) -> Store:
    return RedisStore(url) if url.startswith(("redis:", "unix:")) else SqlStore(url)


def say(store: Store, name: str, number: int, window: int = 40) -> None:
    """Make calls with a tool round in one conversation, and say how often the model was asked."""
    asked = 0

    def reply(request: ChatRequest) -> object:
        nonlocal asked
        asked += 1
        return asks(f"{name}-{asked}") if asked % 2 else f"done-{name}"

    service = chat(
        [reply] * (2 * number), lambda id: MessageWindowChatMemory(window, id, store), tools=[a_tool()]
    )
    for call in range(number):
        service.say("ann", f"{name}.{call}")
    print(asked)


def say_all(store: Store, name: str, number: int) -> None:
    """The same where nothing leaves the window."""
    say(store, name, number, window=10_000)


def say_for_ever(store: Store, name: str, start: int) -> None:
    """Make calls in one conversation and say which were answered."""
    service = chat([f"answer {name}"] * 100_000, lambda id: MessageWindowChatMemory(400, id, store))
    for number in count(start):
        service.say("ann", f"question {number}")
        print(number, flush=True)


TASKS = {task.__name__: task for task in (say, say_all, say_for_ever)}

if __name__ == "__main__":
    task, url, name, number = sys.argv[1:]
    TASKS[task](opened(url), name, int(number))

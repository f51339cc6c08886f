"""What the processes do that the tests start: `python user_processes.py TASK URL NUMBER`."""

from __future__ import annotations

import os
import sys
from itertools import count

from aiservices import ChatRequest, MessageWindowChatMemory, RedisStore, SqlStore
from tests.memory.conversing import a_tool, asks, chat


def opened(url: str) -> RedisStore | SqlStore:
    return RedisStore(url) if url.startswith(("redis:", "unix:")) else SqlStore(url)


def say(url: str, name: str, calls: int, window: int) -> None:
    """Make calls with a tool round in one conversation, and say how often the model was asked."""
    asked = 0

    def reply(request: ChatRequest) -> object:
        nonlocal asked
        asked += 1
        return asks(f"{name}-{asked}") if asked % 2 else f"done-{name}"

    with opened(url) as store:
        service = chat(
            [reply] * (2 * calls), lambda id: MessageWindowChatMemory(window, id, store), tools=[a_tool()]
        )
        for call in range(calls):
            service.say("ann", f"{name}.{call}")
    os.write(1, f"{asked}\n".encode())  # at once: the processes share the output, and print may write twice


def say_together(url: str, calls: int, window: int = 40, processes: int = 8) -> None:
    """The same in eight processes at the same time; forked, for importing takes longer than all the rest."""
    children = []
    for number in range(processes):
        child = os.fork()
        if child == 0:
            say(url, f"p{number}", calls, window)
            return
        children.append(child)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    if any(statuses):
        sys.exit("a process failed")


def say_all_together(url: str, calls: int) -> None:
    """The same where nothing leaves the window."""
    say_together(url, calls, window=10_000)


def say_for_ever(url: str, start: int) -> None:
    """Make calls in one conversation and say which were answered."""
    store = opened(url)
    service = chat(["answer"] * 100_000, lambda id: MessageWindowChatMemory(400, id, store))
    for number in count(start):
        service.say("ann", f"question {number}")
        print(number, flush=True)


TASKS = {task.__name__: task for task in (say_together, say_all_together, say_for_ever)}

if __name__ == "__main__":
    task, url, number = sys.argv[1:]
    TASKS[task](url, int(number))

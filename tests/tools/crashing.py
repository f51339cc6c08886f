"""The process that the crash tests kill: `python crashing.py`.

Reads tasks as lines of JSON and forks a child for each, which has imported everything already. The child
dies by SIGKILL when it reaches the step that the task names. What is answered is how it ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import aiservices
from aiservices import ToolCall, ToolContext, arecover, recover
from aiservices.stores import SqlStore
from aiservices.testing import ScriptedChatModel
from aiservices.tools import Tool
from aiservices.tools.leases import LEASES
from tests.asking import asking
from tests.mortals import serve

BOOKINGS: Final = ("flight", "hotel", "car")
_deadly = ""


def step(name: str) -> None:
    """Die here if this is the step to die at."""
    if name == _deadly:
        os.kill(os.getpid(), signal.SIGKILL)


class World:
    """Bookings in a file; the same key books once, and cancels once what it has booked."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "world.jsonl"

    def book(self, what: str, key: str) -> None:
        if key not in self.keys("book"):
            self._write("book", what, key)

    def cancel(self, what: str, key: str) -> None:
        if key in self.keys("book") and key not in self.keys("cancel"):
            self._write("cancel", what, key)

    def keys(self, did: str) -> list[str]:
        return [each["key"] for each in self.entries() if each["did"] == did]

    def entries(self) -> Iterator[dict[str, str]]:
        if self.path.exists():
            yield from map(json.loads, self.path.read_text().splitlines())

    def _write(self, did: str, what: str, key: str) -> None:
        line = json.dumps({"did": did, "what": what, "key": key}) + "\n"
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, line.encode())
        os.close(file)


class SteppingStore(SqlStore):
    """A store each of whose writes is preceded by a step."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"{folder}/log.db")
        self._what: dict[str, str] = {}

    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        step(self._step_of_put(namespace, key, value))
        return super().put(namespace, key, value, **options)

    async def aput(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        step(self._step_of_put(namespace, key, value))
        return await super().aput(namespace, key, value, **options)

    def delete(self, namespace: str, key: str, **options: Any) -> bool:
        step(self._step_of_delete(namespace, key))
        return super().delete(namespace, key, **options)

    async def adelete(self, namespace: str, key: str, **options: Any) -> bool:
        step(self._step_of_delete(namespace, key))
        return await super().adelete(namespace, key, **options)

    def _step_of_put(self, namespace: str, key: str, value: Any) -> str:
        if namespace == LEASES:
            return "lease"
        if key.endswith("committed"):
            return "commit"
        self._what[key] = json.loads(value["arguments"])["what"]
        return f"{'intend' if value['order'] is None else 'log'} {self._what[key]}"

    def _step_of_delete(self, namespace: str, key: str) -> str:
        if namespace == LEASES:
            return "leave"
        if key not in self._what and not key.endswith("committed"):
            entry = self.get(namespace, key)
            self._what[key] = json.loads(entry.value["arguments"])["what"] if entry else ""
        return f"forget {self._what.get(key, 'commit')}"


def booking(world: World, kind: str) -> Tool[..., Any]:
    """The tool, with an undo that looks at the key."""

    def book(what: str, context: ToolContext) -> str:
        step(f"book {what}")
        world.book(what, context.idempotency_key)
        step(f"booked {what}")
        return f"#{what}"

    def cancel(what: str, result: str | None, context: ToolContext) -> None:
        step(f"cancel {what}")
        assert result in (None, f"#{what}")
        world.cancel(what, context.idempotency_key)
        step(f"cancelled {what}")

    async def abook(what: str, context: ToolContext) -> str:
        return book(what, context)

    async def acancel(what: str, result: str | None, context: ToolContext) -> None:
        cancel(what, result, context)

    made: Tool[..., Any] = aiservices.tool(name="book")(book if kind == "blocking" else abook)
    made.compensation(cancel if kind == "blocking" else acancel)
    return made


def work(folder: Path, kind: str, *, fails: bool, parallel: bool) -> None:
    """Make three bookings in one round; then the model is asked again, and answers or fails."""

    def last(request: Any) -> str:
        step("model")
        if fails:
            raise OSError("the model is down")
        return "done"

    calls = [ToolCall(what, "book", json.dumps({"what": what})) for what in BOOKINGS]
    service = aiservices.create(
        asking(str),
        chat_model=ScriptedChatModel(calls, last),
        tools=[booking(World(folder), kind)],
        compensation_log=SteppingStore(folder),
        parallel_tools=parallel,
    )
    try:
        if kind == "blocking":
            service.ask("go")
        else:
            asyncio.run(service.aask("go"))
    except OSError:
        assert fails


def undo(folder: Path, kind: str) -> None:
    """Recover what another process left."""
    store, tools = SteppingStore(folder), [booking(World(folder), kind)]
    if kind == "blocking":
        recover(store, tools)
    else:
        asyncio.run(arecover(store, tools))


def perform(task: str, place: str, kind: str, deadly: str = "", *, parallel: bool = False) -> None:
    global _deadly  # noqa: PLW0603 - this process lives for one task
    _deadly = deadly
    if task == "undo":
        undo(Path(place), kind)
    else:
        work(Path(place), kind, fails=task == "fail", parallel=parallel)


if __name__ == "__main__":
    aiservices.create(asking(str), chat_model=ScriptedChatModel("warm")).ask("now, and not in each child")
    serve(perform)

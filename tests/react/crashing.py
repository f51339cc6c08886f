"""The process that the crash tests kill: `python -m tests.react.crashing`.

Reads tasks as lines of JSON and forks a child for each, which has imported everything already. The child
runs or resumes an agent, and dies by SIGKILL when it reaches the step that the task names. Without one it
notes every step in a file. What is answered is how it ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any, Final

from aiservices import AiMessage, ChatModel, ChatRequest, ChatResponse, SqlStore, ToolCall, ToolContext
from aiservices.react import AgentExecutor, Approve, react
from tests.mortals import serve

ROUNDS: Final = (("a", "b"), ("c",))


class Steps:
    """Counts the steps of each name; one of them is the last."""

    def __init__(self, folder: Path, deadly: str) -> None:
        self.folder = folder
        self.deadly = deadly
        self.counts: Counter[str] = Counter()

    def take(self, name: str) -> None:
        self.counts[name] += 1
        step = f"{name} {self.counts[name]}"
        if step == self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        append(self.folder / "steps", step)


def append(path: Path, line: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{line}\n".encode())
    os.close(file)


class SteppingStore(SqlStore):
    """A store each of whose writes is preceded by a step."""

    def __init__(self, folder: Path, steps: Steps) -> None:
        super().__init__(f"{folder}/threads.db")
        self.steps = steps

    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        self.steps.take(f"put {namespace.rpartition('.')[2]}")
        return super().put(namespace, key, value, **options)

    async def aput(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        self.steps.take(f"put {namespace.rpartition('.')[2]}")
        return await super().aput(namespace, key, value, **options)

    def delete(self, namespace: str, key: str, **options: Any) -> bool:
        self.steps.take(f"delete {namespace.rpartition('.')[2]}")
        return super().delete(namespace, key, **options)

    async def adelete(self, namespace: str, key: str, **options: Any) -> bool:
        self.steps.take(f"delete {namespace.rpartition('.')[2]}")
        return await super().adelete(namespace, key, **options)


class Planned(ChatModel):
    """Asks for the rounds one after the other, as far as the conversation has not come."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps

    def chat(self, request: ChatRequest) -> ChatResponse:
        self.steps.take("model")
        done = sum(isinstance(message, AiMessage) for message in request.messages)
        if done == len(ROUNDS):
            return ChatResponse(AiMessage("done"))
        calls = [ToolCall(what, "do", json.dumps({"what": what})) for what in ROUNDS[done]]
        return ChatResponse(AiMessage(tool_calls=calls))


def built(folder: Path, steps: Steps, kind: str, *, parallel: bool, guarded: bool) -> AgentExecutor:
    """The agent, whose tool notes in a file that it began and that it has done its work, with its key.

    When it is `guarded`, somebody decides on all calls but `b`.
    """

    def do(what: str, context: ToolContext) -> str:
        steps.take(f"begin {what}")
        append(folder / "world", f"{what} {context.idempotency_key}")
        steps.take(f"did {what}")
        return f"did {what}"

    async def ado(what: str, context: ToolContext) -> str:
        return do(what, context)

    ado.__name__ = "do"
    return react(
        chat_model=Planned(steps),
        tools=[do if kind == "blocking" else ado],
        checkpointer=SteppingStore(folder, steps),
        parallel_tools=parallel,
        approvals={"do": lambda call, state: guarded and "b" not in json.loads(call.arguments)["what"]},
    )


def perform(
    task: str, place: str, kind: str, deadly: str = "", *, parallel: bool = False, guarded: bool = False
) -> None:
    folder = Path(place)
    folder.mkdir(exist_ok=True)
    agent = built(folder, Steps(folder, deadly), kind, parallel=parallel, guarded=guarded)
    if task == "resume":
        state = agent.resume("t") if kind == "blocking" else asyncio.run(agent.aresume("t"))
    else:
        state = agent.invoke("go", "t") if kind == "blocking" else asyncio.run(agent.ainvoke("go", "t"))
    while state.pending:
        decided = {state.pending[0].id: Approve()}
        state = agent.resume("t", decided) if kind == "blocking" else asyncio.run(agent.aresume("t", decided))
    assert state.final_response == "done"


if __name__ == "__main__":
    serve(perform)

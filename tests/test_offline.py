"""PKG-06: nothing is fetched by an import, by creating a service, or by a first call."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import socket

def refuse(*args, **options):
    raise AssertionError("reached for the network")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse

from typing import Annotated, Protocol
from aiservices import MemoryId, TokenWindowChatMemory, create, stateless, tool
from aiservices.rag import Document, splitting
from aiservices.testing import ScriptedChatModel

@tool
def now() -> str:
    "The time."
    return "12:00"

class Asker(Protocol):
    def chat(self, user: Annotated[str, MemoryId], message: str) -> str: ...

    @stateless
    def plain(self, message: str) -> int: ...

model = ScriptedChatModel("hello", "7")
memories = lambda user: TokenWindowChatMemory(max_tokens=100, id=user)
asker = create(Asker, chat_model=model, tools=[now], chat_memory_provider=memories)
assert asker.chat("ada", "hi") == "hello"
assert asker.plain("How many?") == 7
assert splitting.by_token(20).split(Document("word " * 50))
print("done")
"""


def test_imports_services_memory_and_splitters_work_without_a_network() -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("done", 0), done.stderr

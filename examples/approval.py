"""Asking at the terminal before a tool is run.

python examples/approval.py                      a scripted model plays along
python examples/approval.py openai:gpt-5-mini    a real one
"""

import sys
from collections.abc import Callable
from typing import Protocol

import aiservices
from aiservices import Approval, ChatModel, ToolCall, ToolContext, tool
from aiservices.testing import ScriptedChatModel


@tool
def delete_file(name: str) -> str:
    """Delete a file."""
    return f"{name} is deleted"  # this example does not really delete anything


@tool
def list_files() -> list[str]:
    """List all files."""
    return ["report.txt", "draft.txt"]


class Assistant(Protocol):
    def help(self, wish: str) -> str: ...


def at_the_terminal(call: ToolCall, context: ToolContext) -> bool | str:
    """Show the call and wait for an answer; anything but yes is the reason it is refused."""
    answer = input(f"{call.name}({call.arguments}) - run it? [yes / why not] ").strip()
    return answer.lower() in ("y", "yes") or answer or "no reason given"


def script() -> ScriptedChatModel:
    return ScriptedChatModel(
        ToolCall("c1", "list_files", "{}"),
        ToolCall("c2", "delete_file", '{"name": "draft.txt"}'),
        lambda request: f"Done: {request.messages[-1].text}",
    )


def main(
    chat_model: str | ChatModel | None = None,
    ask: Callable[[ToolCall, ToolContext], bool | str] = at_the_terminal,
) -> str:
    assistant = aiservices.create(
        Assistant,
        chat_model=chat_model or script(),
        tools=[delete_file, list_files],
        interceptors=[Approval(ask, names=("delete_file",))],
    )
    answer = assistant.help("Please delete the draft.")
    print(answer)
    return answer


if __name__ == "__main__":
    main(*sys.argv[1:2])

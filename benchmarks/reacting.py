"""What an agent costs of its own: per node, with a model that answers at once and a tool that adds."""

from __future__ import annotations

from typing import Any, Final

from aiservices import AiMessage, ChatModel, ChatRequest, ChatResponse, InMemoryStore, Store, ToolCall
from aiservices.react import AgentExecutor, react

from .measuring import block

ROUNDS = 4
NODES = 2 * ROUNDS + 1
"""The agent and action nodes of one run; start and end are not counted."""


class Asking(ChatModel):
    """Asks for a sum in each of the rounds, then answers."""

    asks: Final = [
        ChatResponse(AiMessage(tool_calls=(ToolCall(f"c{number}", "add", '{"a": 1, "b": 2}'),)))
        for number in range(2 * ROUNDS)
    ]
    answer: Final = ChatResponse(AiMessage("The quick brown fox."))

    def chat(self, request: ChatRequest) -> ChatResponse:
        said = len(request.messages)
        return self.answer if said > 2 * ROUNDS else self.asks[said]

    async def achat(self, request: ChatRequest) -> ChatResponse:
        return self.chat(request)


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


async def aadd(a: int, b: int) -> int:
    """Add."""
    return a + b


aadd.__name__ = "add"


async def react_agents(server: object, args: object) -> dict[str, Any]:
    rows: dict[str, Any] = {}
    stores: dict[str, Store | None] = {"process": None, "memory_store": InMemoryStore()}
    for name, store in stores.items():
        blocking = react(chat_model=Asking(), tools=[add], checkpointer=store)
        asynchronous = react(chat_model=Asking(), tools=[aadd], checkpointer=store)
        rows[name] = {
            "node_us": await per_node(blocking, "invoke"),
            "async_node_us": await per_node(asynchronous, "ainvoke"),
        }
    return rows


async def per_node(agent: AgentExecutor, method: str) -> float:
    run = getattr(agent, method)
    return min([await block(lambda: run("hello"), 300) for _ in range(7)]) / NODES

"""An agent that is stopped for approval, whose process could end there, and that another one continues.

    python examples/react_agent.py

It runs offline: a scripted model stands in for `chat_model="openai:gpt-5-mini"`. The first executor looks up
the stock at once and waits before it orders; the second one, with another store object on the same file, has
never seen the conversation, and finishes it.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from aiservices import SqlStore, ToolCall
from aiservices.react import AgentExecutor, Approve, Skill, SkillInjector, react
from aiservices.testing import ScriptedChatModel


def stock(book: str) -> int:
    """How many copies of a book are there."""
    return 1


def order(book: str, copies: int) -> str:
    """Order copies of a book."""
    print(f"  ordering {copies} copies of {book}")
    return f"{copies} copies of {book} are on their way"


POLITE = Skill("confirming", "How to confirm an order", "Name the number of copies, and say thank you.")


def shopkeeper(model: ScriptedChatModel, store: SqlStore) -> AgentExecutor:
    return react(
        chat_model=model,
        system_message="You keep a bookshop in stock.",
        tools=[stock, order],
        approvals={"order": lambda call, state: "copies" in call.arguments},
        skill_injector=SkillInjector(resolver={"order": "confirming"}, skills=[POLITE]).single_turn(),
        checkpointer=store,
    )


def main() -> None:
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "agents.db")
        with SqlStore(path) as store:
            calls = [
                ToolCall("c1", "stock", '{"book": "Emma"}'),
                ToolCall("c2", "order", '{"book": "Emma", "copies": 5}'),
            ]
            first = shopkeeper(ScriptedChatModel(calls), store)
            for output in first.stream("We need more of Emma.", thread_id="monday"):
                print(f"{output.node}: {output.state.stop_reason or 'goes on'}")
            (waiting,) = output.state.pending
            print(f"waits: {waiting.name}({waiting.arguments})")

        with SqlStore(path) as store:
            model = ScriptedChatModel("Five copies of Emma are on their way, thank you!")
            second = shopkeeper(model, store)
            state = second.resume("monday", Approve())
            print(f"agent: {state.final_response}")
            print(f"the skill was in the request: {POLITE.body in str(model.request.messages[0])}")
            print(f"and is put away: {state.active_skills}")
            print(f"checkpoints: {[item.node for item in second.history('monday')]}")


if __name__ == "__main__":
    main()

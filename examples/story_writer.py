"""A story writer: one agent drafts, an editor and a critic improve until the critic is content.

A loop within a sequence. Offline it is played by a scripted model; another is named on the command line:

    python examples/story_writer.py --model local
    python examples/story_writer.py --model openai:gpt-5-mini
"""

import argparse
from typing import Protocol

import aiservices
from aiservices import ChatModel, user_message
from aiservices.agentic import AgentCompleted, AgentEvent, agent, loop, sequence
from aiservices.testing import ScriptedChatModel


class Author(Protocol):
    @agent(output_key="story", description="Drafts a story.")
    @user_message("Write a story of two sentences about {{ topic }}. Answer with the story only.")
    def draft(self, topic: str) -> str: ...


class Critic(Protocol):
    @agent(output_key="score", description="Scores how well a story fits a style.")
    @user_message("How {{ style }} is this story, as a number from 0 to 10?\n\n{{ story }}")
    def score(self, story: str, style: str) -> int: ...


class Editor(Protocol):
    @agent(output_key="story", description="Rewrites a story in a style.")
    @user_message("Rewrite this story so that it is more {{ style }}. Answer with it only.\n\n{{ story }}")
    def edit(self, story: str, style: str) -> str: ...


class StoryWriter(Protocol):
    def write(self, topic: str, style: str) -> str: ...


def script() -> ScriptedChatModel:
    return ScriptedChatModel(
        "A dragon lived on a hill. It counted sheep.",
        "A dragon lived on a hill. The sheep it counted wore hats.",
        '{"value": 5}',
        "A dragon lived on a hill and counted sheep in hats. One of them was a wolf who liked hats.",
        '{"value": 9}',
    )


def heard(event: AgentEvent) -> None:
    if isinstance(event, AgentCompleted) and event.agent in ("draft", "score", "edit"):
        print(f"{event.agent}: {event.output}")


def main(chat_model: str | ChatModel | None = None) -> str:
    model = chat_model or script()
    author, critic, editor = (aiservices.create(each, chat_model=model) for each in (Author, Critic, Editor))
    improve = loop(editor, critic, max_iterations=3, until=lambda scope: scope.read("score", 0) >= 8)
    writer = sequence(
        author, improve, output=lambda scope: scope.read("story"), listeners=[heard], service=StoryWriter
    )
    story = writer.write("a dragon", "funny")
    print(f"The story: {story}")
    return story


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model")
    main(parser.parse_args().model)

"""An evening planner: one agent looks for a meal and one for a film, at the same time.

Agents side by side, and a value that is made of what each of them gave. Offline they are played by scripted
models; another is named on the command line:

    python examples/evening_planner.py --model local
"""

import argparse
from dataclasses import dataclass
from typing import Protocol

import aiservices
from aiservices import ChatModel, ChatRequestParameters, user_message
from aiservices.agentic import AgenticScope, agent, parallel
from aiservices.testing import ScriptedChatModel

SAME_EACH_TIME = ChatRequestParameters(seed=1)


@dataclass
class Evening:
    meal: str
    film: str


class FoodExpert(Protocol):
    @agent(output_key="meal")
    @user_message("Name one meal for a {{ mood }} evening. Answer with its name only.")
    def find_meal(self, mood: str) -> str: ...


class FilmExpert(Protocol):
    @agent(output_key="film")
    @user_message("Name one film for a {{ mood }} evening. Answer with its title only.")
    def find_film(self, mood: str) -> str: ...


class EveningPlanner(Protocol):
    def plan(self, mood: str) -> Evening: ...


def together(scope: AgenticScope) -> Evening:
    return Evening(scope.read("meal"), scope.read("film"))


def main(chat_model: str | ChatModel | None = None) -> Evening:
    cook, critic = ScriptedChatModel("Risotto by candlelight"), ScriptedChatModel("Roman Holiday")
    food = aiservices.create(FoodExpert, chat_model=chat_model or cook, parameters=SAME_EACH_TIME)
    film = aiservices.create(FilmExpert, chat_model=chat_model or critic, parameters=SAME_EACH_TIME)
    planner = parallel(food, film, output=together, service=EveningPlanner)
    evening = planner.plan("romantic")
    print(f"Eat:   {evening.meal}")
    print(f"Watch: {evening.film}")
    return evening


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model")
    main(parser.parse_args().model)

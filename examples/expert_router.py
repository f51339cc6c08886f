"""An expert router: a question is classified, and the expert of its kind answers.

A conditional after a classifier. Offline it is played by a scripted model; another is named on the command
line:

    python examples/expert_router.py --model local
    python examples/expert_router.py --model openai:gpt-5-mini "May I sublet my flat?"
"""

import argparse
from enum import StrEnum
from typing import Protocol

from aiservices import AiServices, ChatModel, ChatRequestParameters, system_message, user_message
from aiservices.agentic import AgenticScope, Completed, agent, conditional, sequence
from aiservices.testing import ScriptedChatModel


class Field(StrEnum):
    MEDICINE = "medicine"
    LAW = "law"
    TECHNOLOGY = "technology"


class Classifier(Protocol):
    @agent(output_key="field")
    @user_message("Which field is this question about?\n\n{{ question }}")
    def classify(self, question: str) -> Field: ...


class Doctor(Protocol):
    @agent(name="doctor", output_key="answer")
    @system_message("You are a doctor. Answer in one sentence.")
    def answer(self, question: str) -> str: ...


class Lawyer(Protocol):
    @agent(name="lawyer", output_key="answer")
    @system_message("You are a lawyer. Answer in one sentence.")
    def answer(self, question: str) -> str: ...


class Engineer(Protocol):
    @agent(name="engineer", output_key="answer")
    @system_message("You are an engineer. Answer in one sentence.")
    def answer(self, question: str) -> str: ...


def script() -> ScriptedChatModel:
    return ScriptedChatModel('{"value": "medicine"}', "Cool it under running water for twenty minutes.")


def main(chat_model: str | ChatModel | None = None, question: str = "I burned my hand. What now?") -> str:
    model = chat_model or script()

    def about(field: Field) -> object:
        return lambda scope: scope.read("field") is field

    def given(scope: AgenticScope) -> str:
        return str(scope.read("answer"))

    services = AiServices(chat_model=model, parameters=ChatRequestParameters(seed=1))  # the same each time
    experts = conditional(
        (about(Field.MEDICINE), services.create(Doctor)),
        (about(Field.LAW), services.create(Lawyer)),
        otherwise=services.create(Engineer),
        name="experts",
    )
    router = sequence(services.create(Classifier), experts, output=given)
    outcome = router.run(question=question)
    assert isinstance(outcome, Completed), outcome
    expert = next(
        each.agent for each in outcome.scope.invocations if each.path.startswith("sequence/experts/")
    )
    print(f"{expert}: {outcome.value}")
    return expert


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("question", nargs="?", default="I burned my hand. What now?")
    parser.add_argument("--model")
    given = parser.parse_args()
    main(given.model, given.question)

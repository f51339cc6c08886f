"""The main job on a real model: classify into an enum, extract a pydantic model, answer a question.

Runs on the embedded model (`aiservices model pull smollm2-135m` fetches its weights once). Another model:

    python examples/quickstart.py openai:gpt-5-mini
"""

import sys
from enum import Enum
from typing import Protocol

from pydantic import BaseModel, Field

import aiservices
from aiservices import Result, system_message, user_message


class Sentiment(Enum):
    POSITIVE = "positive"
    NEUTRAL = "neutral"
    NEGATIVE = "negative"


class Person(BaseModel):
    first_name: str = Field(max_length=30)
    last_name: str = Field(max_length=30)
    age: int = Field(ge=0, le=130)


class Analyst(Protocol):
    @system_message("Decide whether a text is positive, neutral or negative.")
    @user_message("Text: {{ text }}")
    def sentiment(self, text: str) -> Result[Sentiment]: ...

    @system_message("Extract the person as JSON.")
    @user_message(
        "Text: Anna Schmidt is 36 and works in Berlin.\n"
        'Answer: {"first_name": "Anna", "last_name": "Schmidt", "age": 36}\n'
        "Text: {{ text }}\nAnswer:"
    )
    def person(self, text: str) -> Person: ...

    @system_message("Answer in one short sentence.")
    def answer(self, question: str) -> str: ...


def main(chat_model: str = "local") -> None:
    analyst = aiservices.create(Analyst, chat_model=chat_model)

    for text in ("I love this blender.", "The worst phone I ever had."):
        result = analyst.sentiment(text)
        sure = "" if result.confidence is None else f" ({result.confidence:.0%} sure)"
        print(f"{text!r} is {result.content.value}{sure}")

    person = analyst.person("Tom Becker is 45 years old and lives in Hamburg.")
    print(f"{person.first_name} {person.last_name} is {person.age}")

    print(analyst.answer("What is the capital of France?"))


if __name__ == "__main__":
    main(*sys.argv[1:2])

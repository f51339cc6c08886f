"""Measures how often a model is right on a few labelled sentences.

    python examples/accuracy.py [--chat-model local] [--only sentiment] [--first 10]

The model is a name such as `local`, `local:/path/to/model.gguf` or `openai:gpt-5-mini`.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

import aiservices
from aiservices import user_message

SENTENCES = Path(__file__).parent / "data" / "sentences.json"


class Sentiment(Enum):
    POSITIVE = "positive"
    NEUTRAL = "neutral"
    NEGATIVE = "negative"


@dataclass
class Person:
    first_name: str
    last_name: str
    age: int


class Reader(Protocol):
    """What is measured: a label, a yes or no, and an object."""

    @user_message("Analyze the sentiment of: {{ text }}")
    def sentiment(self, text: str) -> Sentiment: ...

    @user_message("{{ question }}")
    def is_true(self, question: str) -> bool: ...

    @user_message("Extract the person from: {{ text }}")
    def person(self, text: str) -> Person: ...


Row = Mapping[str, Any]


def read_sentiment(reader: Reader, row: Row) -> bool:
    return reader.sentiment(row["text"]) is Sentiment(row["label"])


def answer(reader: Reader, row: Row) -> bool:
    return reader.is_true(row["question"]) is bool(row["answer"])


def extract(reader: Reader, row: Row) -> bool:
    person = reader.person(row["text"])
    return (person.first_name, person.last_name, person.age) == (
        row["first_name"],
        row["last_name"],
        row["age"],
    )


TASKS: Mapping[str, Callable[[Reader, Row], bool]] = {
    "sentiment": read_sentiment,
    "yes_no": answer,
    "person": extract,
}


@dataclass(frozen=True)
class Score:
    """How many of the sentences were right, how many answers could not be used, and the seconds of each."""

    task: str
    right: int
    unusable: int
    total: int
    seconds: float

    def __str__(self) -> str:
        share = f"{self.right}/{self.total} right ({self.right / self.total:.0%})"
        return f"{self.task:<10} {share:<22} {self.unusable} unusable  {self.seconds / self.total:.2f} s each"


def measure(reader: Reader, *, only: str | None = None, first: int | None = None) -> Iterator[Score]:
    """Measure all tasks or one, on all sentences or the first few."""
    sentences = json.loads(SENTENCES.read_text(encoding="utf-8"))
    for task, is_right in TASKS.items():
        if only in (None, task):
            yield score(task, is_right, reader, sentences[task][:first])


def score(task: str, is_right: Callable[[Reader, Row], bool], reader: Reader, rows: list[Row]) -> Score:
    right = unusable = 0
    began = time.perf_counter()
    for row in rows:
        try:
            right += is_right(reader, row)
        except (aiservices.ModelError, aiservices.OutputParsingError):
            unusable += 1
    return Score(task, right, unusable, len(rows), time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chat-model", default="local")
    parser.add_argument("--only", choices=TASKS)
    parser.add_argument("--first", type=int)
    arguments = parser.parse_args()
    reader = aiservices.create(Reader, chat_model=arguments.chat_model)
    for result in measure(reader, only=arguments.only, first=arguments.first):
        print(result, flush=True)


if __name__ == "__main__":
    main()

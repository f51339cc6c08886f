"""What a user's first file looks like; the wheel's smoke test type-checks it and runs it."""

from __future__ import annotations

from enum import Enum
from typing import Protocol, assert_type

import aiservices
from aiservices.agentic import Monitor, sequence
from aiservices.testing import ScriptedChatModel


class Sentiment(Enum):
    POSITIVE = "positive"
    NEGATIVE = "negative"


@aiservices.ai_service
@aiservices.system_message("You are a terse analyst.")
class Analyst(Protocol):
    @aiservices.user_message("Analyze the sentiment of: {{ it }}")
    def sentiment(self, text: str) -> Sentiment: ...

    def answer(self, question: str) -> str: ...


analyst = aiservices.create(Analyst, chat_model=ScriptedChatModel("Paris", "positive"))
assert_type(analyst, Analyst)

answer = analyst.answer("What is the capital of France?")
assert_type(answer, str)
assert answer == "Paris", answer

sentiment = analyst.sentiment("I love it")
assert_type(sentiment, Sentiment)
assert sentiment is Sentiment.POSITIVE, sentiment


def greet(name: str) -> str:
    return f"Hello {name}!"


monitor = Monitor()
sequence(greet, listeners=[monitor]).invoke(name="Ann")
page = monitor.html()  # its template and style sheet are files of the package
assert "Hello Ann!" in page, page

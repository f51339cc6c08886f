"""What type checkers make of a declaration: its own types, kept by every decorator."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from enum import Enum
from typing import Annotated, Any, Protocol, TypeVar, assert_type

import aiservices
from aiservices import (
    AiMessage,
    AiServices,
    ChatResponse,
    InvocationParameters,
    Result,
    TokenUsage,
    UserName,
    V,
    ai_service,
    system_message,
    user_message,
)

T = TypeVar("T", covariant=True)


class Sentiment(Enum):
    GOOD = "good"
    BAD = "bad"


@ai_service
@system_message("You are a terse analyst.")
class Analyst(Protocol):
    @user_message("Analyze: {{ it }}")
    def sentiment(self, text: str) -> Sentiment: ...

    @user_message("Sum up {{ text }} in {{ n }} words")
    async def sum_up(self, text: str, /, n: int = 10, *, style: Annotated[str, V("how")] = "dry") -> str: ...

    def counted(self, text: str, user: Annotated[str, UserName]) -> Result[list[int]]: ...

    def message(self, text: str) -> AiMessage: ...

    def response(self, text: str, given: InvocationParameters | None = None) -> ChatResponse: ...

    def silent(self, text: str) -> None: ...

    def twice(self, text: str) -> list[Sentiment]:
        return [self.sentiment(text), self.sentiment(text)]


@ai_service(name="caller", parse_retries=2)
class Caller(Protocol[T]):
    def __call__(self, text: str) -> T: ...


class IntCaller(Caller[int], Protocol): ...


analyst = aiservices.create(Analyst, chat_model="local")
assert_type(analyst, Analyst)
assert_type(AiServices(chat_model="local").create(Analyst), Analyst)
assert_type(aiservices.create(Caller[str], chat_model="local"), Caller[str])
assert_type(aiservices.create(IntCaller, chat_model="local")("x"), int)

assert_type(analyst.sentiment("x"), Sentiment)
assert_type(analyst.sentiment(text="x"), Sentiment)
later: Coroutine[Any, Any, str] = analyst.sum_up("x")
assert_type(analyst.counted("x", "ana"), Result[list[int]])
assert_type(analyst.counted("x", "ana").content, list[int])
assert_type(analyst.counted("x", "ana").usage, TokenUsage)
assert_type(analyst.counted("x", "ana").confidence, float | None)
assert_type(analyst.message("x"), AiMessage)
assert_type(analyst.response("x"), ChatResponse)
assert_type(analyst.twice("x"), list[Sentiment])


async def awaited() -> None:
    assert_type(await analyst.sum_up("x", 3, style="warm"), str)


silent: None = analyst.silent("x")  # type: ignore[func-returns-value]


@user_message("{{ text }}")
def kept(self: Analyst, text: str, n: int = 1) -> Sentiment:
    raise NotImplementedError


assert_type(kept(analyst, "x"), Sentiment)
assert_type(kept(analyst, "x", n=2), Sentiment)
narrow: Callable[[str], Sentiment] = analyst.sentiment

"""A question becomes what is better looked up: one that stands alone, or several."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from typing import Final

from ..driving import ASYNCHRONOUS, BLOCKING, Driver
from ..messages import AiMessage, ChatMessage, UserMessage
from ..models import ChatModel, resolve_chat_model
from .prompts import answered, prompt_template
from .query import Query
from .slots import DrivenPart

COMPRESSING: Final = """\
Here is a conversation between a user and an AI, and what the user says now. Write one search query that \
says by itself what the user wants to know now: put in what the conversation makes clear. \
Answer with the query alone.

Conversation:
{{ history }}

The user now: {{ query }}
"""
EXPANDING: Final = """\
Write {{ n }} different search queries that would help to answer the question below: other words, \
other sides of it. Answer with the queries alone, one on each line, without numbers.

Question: {{ query }}
"""
_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")


class DrivenTransformer(DrivenPart):
    """A query transformer that is written once for both drives: a subclass writes `drive`."""

    @abstractmethod
    async def drive(self, driver: Driver, query: Query) -> list[Query]:
        """What to look up in place of the query."""

    def transform(self, query: Query) -> list[Query]:
        """What to look up in place of the query."""
        return BLOCKING.run(self.drive(BLOCKING, query))

    async def atransform(self, query: Query) -> list[Query]:
        """What to look up in place of the query."""
        return await ASYNCHRONOUS.run(self.drive(ASYNCHRONOUS, query))


class CompressingQueryTransformer(DrivenTransformer):
    """Lets a model write one query of the conversation and the question: "and his wife?" becomes whose.

    The model is shown what user and AI have said to each other: no system message, no tool calls and results,
    no pictures. Where nothing was said before, the query stays and the model is not asked, and it stays where
    the model answers nothing. `chat_model` is a `ChatModel` or a name such as `"local"`; `template` has the
    variables `query` and `history`.
    """

    def __init__(self, chat_model: ChatModel | str, *, template: str | None = None) -> None:
        self.chat_model = resolve_chat_model(chat_model)
        self._template = prompt_template(template or COMPRESSING, "query", "history", owner=type(self))

    async def drive(self, driver: Driver, query: Query) -> list[Query]:
        history = _history(query.context.messages)
        if not history:
            return [query]
        variables = {"query": query.text, "history": history}
        text = await answered(driver, self.chat_model, self._template, variables)
        return [query.saying(text)] if text else [query]


class ExpandingQueryTransformer(DrivenTransformer):
    """Lets a model put the question in `n` (3) other ways, which are looked up in its place.

    At most `n` queries are taken from the answer, one from each line that is not blank; bullets and numbers
    before them are left out. Where the model answers nothing the query stays. `chat_model` is a `ChatModel`
    or a name such as `"local"`; `template` has the variables `query` and `n`.
    """

    def __init__(self, chat_model: ChatModel | str, *, n: int = 3, template: str | None = None) -> None:
        if n < 1:
            raise ValueError(f"n is {n}: give 1 or more")
        self.chat_model = resolve_chat_model(chat_model)
        self.n = n
        self._template = prompt_template(template or EXPANDING, "query", owner=type(self), optional=("n",))

    async def drive(self, driver: Driver, query: Query) -> list[Query]:
        variables = {"query": query.text, "n": self.n}
        text = await answered(driver, self.chat_model, self._template, variables)
        lines = [_BULLET.sub("", line).strip() for line in text.splitlines()]
        return [query.saying(line) for line in lines if line][: self.n] or [query]


def _history(messages: Sequence[ChatMessage]) -> str:
    """What user and AI said to each other in words, a line for each message."""
    lines = []
    for message in messages:
        if isinstance(message, UserMessage) and message.text.strip():
            lines.append(f"User: {message.text}")
        elif isinstance(message, AiMessage) and not message.tool_calls and (message.text or "").strip():
            lines.append(f"AI: {message.text}")
    return "\n".join(lines)

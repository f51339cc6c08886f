"""What is looked up, and for which call."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ..context import NO_PARAMETERS, InvocationContext, InvocationParameters
from ..messages import ChatMessage, SystemMessage, UserMessage


@dataclass(frozen=True, slots=True)
class QueryContext:
    """The call that a query belongs to.

    `messages` is what was said before, without the system message; empty where there is no memory.
    `user_message` is the user's own message, before anything is put into it. `parameters` are those that the
    caller handed on, `memory_id` names the conversation, where there is one. `invocation` is the call itself;
    `None` for a query that a tool makes.
    """

    invocation: InvocationContext | None = None
    messages: tuple[ChatMessage, ...] = ()
    system_message: SystemMessage | None = None
    user_message: UserMessage | None = None
    parameters: InvocationParameters = field(default=NO_PARAMETERS, hash=False)
    memory_id: Any = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class Query:
    """A text to look up. `context` is the call it belongs to; `None` for one made outside of any call."""

    text: str
    context: QueryContext | None = field(default=None, hash=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(f"the text of a query is a {type(self.text).__name__}: give a str")

    def saying(self, text: str) -> Query:
        """Another text to look up for the same call."""
        return replace(self, text=text)


def query_of(given: Query | str) -> Query:
    """The query itself, or the one for a text."""
    return given if isinstance(given, Query) else Query(given)

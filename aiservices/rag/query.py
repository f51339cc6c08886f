"""What is looked up, and for which call."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..context import NO_PARAMETERS, InvocationContext, InvocationParameters
from ..guessing import kind_of
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


NO_CONTEXT: Final = QueryContext()


@dataclass(frozen=True, slots=True, init=False)
class Query:
    """A text to look up. `context` is the call it belongs to; an empty one outside of any call."""

    text: str
    context: QueryContext = field(hash=False, repr=False)

    def __init__(self, text: str, context: QueryContext | None = None) -> None:
        if not isinstance(text, str):
            raise TypeError(f"the text of a query is {kind_of(text)}: give a str")
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "context", NO_CONTEXT if context is None else context)

    def saying(self, text: str) -> Query:
        """Another text to look up for the same call."""
        return replace(self, text=text)


def query_of(given: Query | str) -> Query:
    """The query itself, or the one for a text."""
    return given if isinstance(given, Query) else Query(given)

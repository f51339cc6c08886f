"""What the tools of one invocation have done: for its result, for memory, and for undoing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..context import ToolContext
from ..messages import (
    AiMessage,
    ChatMessage,
    Compensation,
    TextContent,
    ToolCall,
    ToolExecution,
    ToolResultMessage,
)
from .functions import Tool
from .outcomes import ToolOutcome


@dataclass(frozen=True, slots=True)
class Round:
    """An answer that asked for tools, and the result of each call, in order."""

    message: AiMessage
    results: tuple[ToolResultMessage, ...]

    @property
    def messages(self) -> tuple[ChatMessage, ...]:
        return (self.message, *self.results)


@dataclass(slots=True)
class Done:
    """A call that has ended.

    `ran` is the call as interceptors let it through, the one to undo. `compensation` is set when it is
    undone, so that nothing is undone twice.
    """

    call: ToolCall
    tool: Tool[..., Any] | None
    outcome: ToolOutcome
    context: ToolContext
    ran: ToolCall
    compensation: Compensation | None = None

    @property
    def can_be_undone(self) -> bool:
        return (
            self.compensation is None
            and not self.outcome.is_error
            and self.tool is not None
            and self.tool.undo is not None
        )

    def undo(self) -> Callable[[], Any]:
        """The undo, ready to be called. The arguments are read anew: the tool may have changed its own."""
        assert self.tool is not None
        assert self.tool.undo is not None
        arguments = self.tool.signature.read(self.ran.arguments)
        return self.tool.undo.prepared(arguments, self.execution, self.context)

    @property
    def execution(self) -> ToolExecution:
        """What the caller is told of it."""
        outcome = self.outcome
        return ToolExecution(
            self.call, outcome.value, outcome.error, outcome.is_error, self.compensation, outcome.text
        )


@dataclass(slots=True)
class Ledger:
    """The calls of one invocation in the order in which they ended, and its rounds in order.

    A round is entered whole: every call of it has a result. `requested` are the calls in the order of the
    model's requests.
    """

    done: list[Done] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    requested: list[Done] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def executions(self) -> tuple[ToolExecution, ...]:
        """The calls in the order of the model's requests, as the caller is told of them."""
        return tuple(done.execution for done in self.requested)

    def rewrite(self, texts: Mapping[int, str], messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
        """The messages with the results of undone calls rewritten, and the ledger's own rounds as well.

        `texts` holds the new text by the index of the call in `requested`.
        """
        changed = dict(self._rewritten(texts))
        self.rounds = [
            Round(entry.message, tuple(changed.get(id(result), result) for result in entry.results))
            for entry in self.rounds
        ]
        return tuple(changed.get(id(message), message) for message in messages)

    def _rewritten(self, texts: Mapping[int, str]) -> list[tuple[int, ToolResultMessage]]:
        results = [result for entry in self.rounds for result in entry.results]
        return [
            (id(results[index]), replace(results[index], contents=(TextContent(text),), is_error=True))
            for index, text in texts.items()
        ]

"""What the tools of one invocation have done: for its result, for memory, and for undoing it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from ..context import ToolContext
from ..errors import ToolArgumentsError
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
    """An answer that asked for tools, and the result of each call, in order.

    Where it has not begun, none of the calls was so much as tried, as when a limit forbade it.
    """

    message: AiMessage
    results: tuple[ToolResultMessage, ...]
    begun: bool = True

    @property
    def messages(self) -> tuple[ChatMessage, ...]:
        return (self.message, *self.results)


@dataclass(slots=True, eq=False)
class Effect:
    """What a tool with an undo has done in one run, and perhaps stands.

    A call has none when nothing ran (an interceptor answered), and several when it ran again. `ran` is the
    call as interceptors let it through. `compensation` is set when it is undone, so that nothing is undone
    twice. Where `certain` is false the run was broken off, and may have done its work or not.
    """

    tool: Tool[..., Any]
    ran: ToolCall
    context: ToolContext
    key: str
    order: int
    value: Any = None
    text: str = ""
    certain: bool = True
    compensation: Compensation | None = None
    _takers: dict[str, object] = field(default_factory=dict, repr=False)

    @property
    def stands(self) -> bool:
        return self.compensation is None

    def take(self) -> bool:
        """Whether the caller is to undo it: that is who comes first, from whatever thread."""
        mine = object()
        return self._takers.setdefault("first", mine) is mine

    def give_back(self) -> None:
        """Leave it to another, when undoing it was broken off."""
        self._takers.clear()

    def undo(self) -> Callable[[], Any]:
        """The undo, ready to be called. The arguments are read anew: the tool may have changed its own."""
        assert self.tool.undo is not None
        arguments = self.tool.signature.read(self.ran.arguments)
        execution = ToolExecution(self.ran, self.value, text=self.text)
        return self.tool.undo.prepared(arguments, execution, self.context)


@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """A call that has ended, what the model is told of it, and what it has done.

    `begun` is false for one that was not so much as tried, `whole` for one that had no end of its own.
    """

    call: ToolCall
    outcome: ToolOutcome
    result: ToolResultMessage
    begun: bool = True
    whole: bool = True
    effects: list[Effect] = field(default_factory=list)

    @property
    def compensation(self) -> Compensation | None:
        """What became of undoing it; a failure to undo is not hidden by a success."""
        if not self.effects:
            return None
        tried = [effect.compensation for effect in self.effects if effect.compensation is not None]
        return min(tried, key=lambda compensation: compensation.undone, default=None)

    @property
    def misfit(self) -> ToolArgumentsError | None:
        """What is wrong with its arguments; not with those of a call that the tool itself has made."""
        error = self.outcome.error
        if isinstance(error, ToolArgumentsError) and error.call in (None, self.call):
            return error
        return None

    @property
    def execution(self) -> ToolExecution:
        """What the caller is told of it."""
        outcome = self.outcome
        return ToolExecution(
            self.call, outcome.value, outcome.error, outcome.is_error, self.compensation, outcome.text
        )


@dataclass(slots=True)
class Ledger:
    """What was done in one invocation.

    `effects` are in the order in which tools ended. `requested` are the calls in the order of the model's
    requests, and `rounds` what the conversation tells of them; a round is entered whole. `misfits` tells of
    tools in how many rounds in a row no call had arguments that fit, and what was wrong last. `undoing` is
    the reason for which all of it is undone, once it is.
    """

    effects: list[Effect] = field(default_factory=list)
    requested: list[Done] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    misfits: dict[str, tuple[int, ToolArgumentsError]] = field(default_factory=dict)
    orders: Iterator[int] = field(default_factory=lambda: count(1))
    undoing: str | None = None

    @property
    def executions(self) -> tuple[ToolExecution, ...]:
        """The calls in the order of the model's requests, as the caller is told of them."""
        return tuple(done.execution for done in self.requested)

    def note_misfits(self, entered: Sequence[Done]) -> None:
        """Count a round whose calls have ended."""
        if not self.misfits and not any(done.outcome.is_error for done in entered):
            return
        wrong = {done.call.name: done.misfit for done in entered if done.misfit is not None}
        for name in {done.call.name for done in entered if done.misfit is None}:
            self.misfits.pop(name, None)
            wrong.pop(name, None)
        for name, error in wrong.items():
            self.misfits[name] = (self.misfits[name][0] + 1 if name in self.misfits else 1, error)

    def tell(self, call_id: str, text: str) -> None:
        """Give a call another result, an error."""
        self.rounds = [
            replace(entry, results=tuple(_told(result, call_id, text) for result in entry.results))
            for entry in self.rounds
        ]

    def rewritten(self, messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
        """The messages with the results as they are told now.

        They are of this invocation only, for older ones may use the same ids.
        """
        results = {result.tool_call_id: result for entry in self.rounds for result in entry.results}
        return tuple(
            results.get(message.tool_call_id, message) if isinstance(message, ToolResultMessage) else message
            for message in messages
        )


def _told(result: ToolResultMessage, call_id: str, text: str) -> ToolResultMessage:
    if result.tool_call_id != call_id:
        return result
    return replace(result, contents=(TextContent(text),), is_error=True)

"""What became of a tool call."""

from __future__ import annotations

from dataclasses import dataclass, field

from .chat import ToolCall


@dataclass(frozen=True, slots=True)
class Compensation:
    """The undoing of a tool call that had succeeded.

    `undone` tells whether it worked; `reason` is the failure that made it necessary; `error` is what kept
    the undo from working, after its last attempt.
    """

    undone: bool
    reason: str
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class ToolExecution:
    """A tool call and what became of it.

    `value` is what the tool returned, whole, however little of it the model was shown. `text` is what the
    model was told first. `error` is what the tool raised. `compensation` is there when it was undone or
    should have been.
    """

    call: ToolCall
    value: object = field(default=None, hash=False)
    error: BaseException | None = None
    is_error: bool = False
    compensation: Compensation | None = None
    text: str = field(default="", repr=False)

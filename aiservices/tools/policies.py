"""What happens when a tool call fails: the model is told, the call ends, or a function decides."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from ..context import ToolContext
from ..driving import Driver
from ..errors import ToolArgumentsError, ToolError, ToolFailedError, UnknownToolError
from ..messages import ToolCall
from .outcomes import ToolOutcome, error_outcome, text_of

Choice: TypeAlias = Literal["tell_model", "tell_model_type", "raise"]
Policy: TypeAlias = Choice | Callable[[Exception, ToolContext], str | Awaitable[str]]
"""`tell_model` sends the failure's type and text, `tell_model_type` only the type, `raise` ends the call;
a function of the error and the `ToolContext` gives the text for the model or raises."""

CHOICES: Final = get_args(Choice)
_log = logging.getLogger("aiservices")


@dataclass(frozen=True, slots=True)
class Policies:
    """What to do about each kind of failure."""

    on_unknown_tool: Policy = "tell_model"
    on_tool_argument_error: Policy = "tell_model"
    on_tool_error: Policy = "tell_model"

    def of(self, error: Exception, calls: Sequence[ToolCall]) -> Policy:
        """The policy that fits an error of one of these calls, which are one and the same.

        A tool may ask a service of its own. What went wrong with *its* tools is only this tool's failure.
        """
        if isinstance(error, UnknownToolError) and _is_of(error, calls):
            return self.on_unknown_tool
        if isinstance(error, ToolArgumentsError) and _is_of(error, calls):
            return self.on_tool_argument_error
        return self.on_tool_error


@dataclass(frozen=True, slots=True)
class Raised:
    """A failure that ends the call, and what the model would have been told."""

    error: BaseException
    outcome: ToolOutcome


async def settle(
    driver: Driver,
    policies: Policies,
    error: Exception,
    calls: Sequence[ToolCall],
    context: ToolContext,
) -> ToolOutcome | Raised:
    """What becomes of a failure. `calls` are the model's call and what interceptors made of it."""
    call = calls[0]
    if isinstance(error, ToolFailedError) and error.call is None:
        error.call = call
    match policies.of(error, calls):
        case "tell_model":
            _note(error, call)
            return error_outcome(error, call)
        case "tell_model_type":
            _note(error, call)
            return error_outcome(error, call, with_message=False)
        case "raise":
            return Raised(_ending(error, calls), error_outcome(error, call))
        case handler:
            try:
                text: object = await driver.call(handler, error, context)
                if not isinstance(text, str):
                    raise TypeError(f"a policy gave a {type(text).__name__}: it gives the text for the model")
            except Exception as raised:
                return Raised(raised, error_outcome(error, call))
            return ToolOutcome(text, is_error=True, error=error)


def _note(error: Exception, call: ToolCall) -> None:
    """Log a failure that only the model would hear of; what is meant for the model is no failure."""
    if not isinstance(error, ToolError | ToolFailedError):
        _log.warning("tool %s failed, and the model is told", call.name, exc_info=error)


def _is_of(error: ToolFailedError, calls: Sequence[ToolCall]) -> bool:
    return error.call is None or error.call in calls


def _ending(error: Exception, calls: Sequence[ToolCall]) -> ToolFailedError:
    if isinstance(error, ToolFailedError) and _is_of(error, calls):
        return error
    text = (
        text_of(error)
        if isinstance(error, ToolError)
        else "".join(traceback.format_exception_only(error)).strip()
    )
    failed = ToolFailedError(f"tool {calls[0].name!r} failed: {text}", call=calls[0])
    failed.__cause__ = error
    return failed

"""What happens when a tool call fails: the model is told, the call ends, or a function decides."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

from ..context import ToolContext
from ..driving import Driver
from ..errors import ToolArgumentsError, ToolError, ToolFailedError, UnknownToolError
from ..messages import ToolCall
from .outcomes import ToolOutcome, error_outcome

Choice: TypeAlias = Literal["tell_model", "tell_model_type", "raise"]
Policy: TypeAlias = Choice | Callable[[Exception, ToolContext], str | Awaitable[str]]
"""`tell_model` sends the failure's type and text, `tell_model_type` only the type, `raise` ends the call;
a function of the error and the `ToolContext` gives the text for the model or raises."""

CHOICES: Final = get_args(Choice)


@dataclass(frozen=True, slots=True)
class Policies:
    """What to do about each kind of failure."""

    on_unknown_tool: Policy = "tell_model"
    on_tool_argument_error: Policy = "tell_model"
    on_tool_error: Policy = "tell_model"

    def of(self, error: Exception) -> Policy:
        """The policy that fits an error."""
        if isinstance(error, UnknownToolError):
            return self.on_unknown_tool
        if isinstance(error, ToolArgumentsError):
            return self.on_tool_argument_error
        return self.on_tool_error


@dataclass(frozen=True, slots=True)
class Raised:
    """A failure that ends the call, and what the model would have been told."""

    error: BaseException
    outcome: ToolOutcome


async def settle(
    driver: Driver, policies: Policies, error: Exception, call: ToolCall, context: ToolContext
) -> ToolOutcome | Raised:
    """What becomes of a failure."""
    match policies.of(error):
        case "tell_model":
            return error_outcome(error, call)
        case "tell_model_type":
            return error_outcome(error, call, with_message=False)
        case "raise":
            return Raised(_ending(error, call), error_outcome(error, call))
        case handler:
            try:
                text: Any = await driver.call(handler, error, context)
            except Exception as raised:
                return Raised(raised, error_outcome(error, call))
            return ToolOutcome(str(text), is_error=True, error=error)


def _ending(error: Exception, call: ToolCall) -> ToolFailedError:
    if isinstance(error, ToolFailedError):
        error.call = call
        return error
    text = (
        str(error)
        if isinstance(error, ToolError)
        else "".join(traceback.format_exception_only(error)).strip()
    )
    failed = ToolFailedError(f"tool {call.name!r} failed: {text}", call=call)
    failed.__cause__ = error
    return failed

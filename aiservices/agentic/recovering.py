"""What becomes of an agent that failed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from .scope import AgenticScope

MOST_ATTEMPTS: Final = 5
FIRST_PAUSE: Final = 0.02
LONGEST_PAUSE: Final = 2.0


@dataclass(frozen=True, slots=True)
class ErrorContext:
    """An agent has failed: its name and path, what it raised, and the number of this attempt, from 1.

    The handler may write to the scope what was missing.
    """

    agent: str
    error: Exception
    scope: AgenticScope = field(repr=False)
    attempt: int
    path: str = ""


class Recovery:
    """What a handler of errors decides: `Recovery.retry()`, `Recovery.result(value)`, `Recovery.fail()`."""

    __slots__ = ()

    @staticmethod
    def retry() -> Recovery:
        """Call the agent again, with its inputs read anew; at most five times in all."""
        return Retry()

    @staticmethod
    def result(value: Any) -> Recovery:
        """Take this for the agent's output."""
        return Replace(value)

    @staticmethod
    def fail() -> Recovery:
        """Let the error pass to the composite around this one."""
        return Fail()


@dataclass(frozen=True, slots=True)
class Retry(Recovery):
    """Call the agent again, after a pause that doubles from attempt to attempt."""


@dataclass(frozen=True, slots=True)
class Replace(Recovery):
    """Go on with this value in place of the agent's."""

    value: Any


@dataclass(frozen=True, slots=True)
class Fail(Recovery):
    """Leave it to the composites around this one; where none knows better the run fails."""


def pause_after(attempt: int) -> float:
    """Seconds to wait after a failed attempt."""
    return float(min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE))

"""How much one call may do."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from ..driving import Driver
from ..errors import ConfigurationError, LimitExceededError, ToolArgumentsError
from ..messages import AiMessage, TokenUsage

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one invocation; going beyond one is a `LimitExceededError` naming it. `None` is no bound.

    - `max_round_trips`: answers that ask for tools; N allows N rounds.
    - `max_reasks`: how often an answer is asked for again, by guardrails and parsing together.
    - `max_parallel_tools`: calls of one round that run at once; the others wait.
    - `max_tool_result_chars`: longer results are cut, with a notice, for the model only.
    - `timeout`: seconds for the whole invocation. Asynchronous ones cut off the request or tool that runs
      then; blocking ones look at it before and after each request and before each tool call. The answer
      that is read as a stream is not cut off, for its reader may take its time.
    - `max_tool_calls`, `max_calls_per_tool`: calls in all, and of each tool.
    - `max_argument_retries`: how many rounds in a row may repeat a tool whose arguments did not fit.
    - `max_tokens`: input and output tokens of all requests, counted after each answer.
    """

    max_round_trips: int | None = 100
    max_reasks: int | None = 5
    max_parallel_tools: int | None = 16
    max_tool_result_chars: int | None = 50_000
    timeout: float | None = 600.0
    max_tool_calls: int | None = None
    max_calls_per_tool: int | None = None
    max_argument_retries: int | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        problems = [
            f"Limits.{name} is {value!r}: give {least} or more, or None for no limit"
            for name, value in ((item.name, getattr(self, item.name)) for item in fields(self))
            if value is not None and not _allowed(name, value, least := _LEAST.get(name, 0))
        ]
        if problems:
            raise ConfigurationError(problems)


_LEAST = {"max_parallel_tools": 1, "max_tool_result_chars": 100}


def _allowed(name: str, value: object, least: int) -> bool:
    kinds = int | float if name == "timeout" else int
    return isinstance(value, kinds) and not isinstance(value, bool) and value >= least


DEFAULT_LIMITS = Limits()


def remaining(deadline: float | None) -> float | None:
    """Seconds until the deadline. Raises `LimitExceededError` when it has passed."""
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise LimitExceededError("the invocation ran out of time: raise Limits.timeout", limit="timeout")
    return left


async def in_time(driver: Driver, deadline: float | None, job: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What the job gives. Raises `LimitExceededError` at the deadline, where the driver can stop a job."""
    left = remaining(deadline)
    if left is None:
        return await job()
    try:
        return await driver.cut_off(left, job())
    except TimeoutError:
        remaining(deadline)
        raise


def check_calls(limits: Limits, message: AiMessage, rounds: int, counts: dict[str, int]) -> None:
    """Raise `LimitExceededError` when the tools of an answer may not run, after so many rounds.

    `counts` are the calls so far by tool; those of the answer are added.
    """
    names = [call.name for call in message.tool_calls]
    _check("max_round_trips", limits.max_round_trips, rounds + 1, "answers that ask for tools", names)
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    if limits.max_calls_per_tool is not None:
        for name in dict.fromkeys(names):
            _check("max_calls_per_tool", limits.max_calls_per_tool, counts[name], f"calls of {name!r}", names)
    if limits.max_tool_calls is not None:
        _check("max_tool_calls", limits.max_tool_calls, sum(counts.values()), "tool calls", names)


def check_arguments(limits: Limits, misfits: Mapping[str, tuple[int, ToolArgumentsError]]) -> None:
    """Raise `LimitExceededError` for a tool that was called too often with arguments that do not fit.

    `misfits` tells of each tool in how many rounds in a row that was so, and what was wrong last.
    """
    most = limits.max_argument_retries
    for name, (rounds, error) in misfits.items():
        if most is not None and rounds > most:
            raise LimitExceededError(
                f"in {rounds} rounds in a row the tool {name!r} was called with arguments that do not fit; "
                f"Limits.max_argument_retries={most} allows to try {most} times more: {error}",
                limit="max_argument_retries",
            ) from error


def _check(limit: str, most: int | None, count: int, what: str, names: list[str]) -> None:
    if most is not None and count > most:
        asked = ", ".join(dict.fromkeys(names))
        raise LimitExceededError(
            f"with this answer there would be {count} {what}, more than Limits.{limit}={most} allows "
            f"(it asks for {asked})",
            limit=limit,
        )


def check_reasks(limits: Limits, reasks: int) -> None:
    """Raise `LimitExceededError` when an answer may not be asked for once more."""
    if limits.max_reasks is not None and reasks >= limits.max_reasks:
        raise LimitExceededError(
            f"the answer was asked for again {reasks} times, as often as "
            f"Limits.max_reasks={limits.max_reasks} allows",
            limit="max_reasks",
        )


def check_tokens(limits: Limits, usage: TokenUsage) -> None:
    """Raise `LimitExceededError` when the requests so far took more tokens than allowed."""
    if limits.max_tokens is not None and usage.total > limits.max_tokens:
        raise LimitExceededError(
            f"the invocation took {usage.total} tokens, more than Limits.max_tokens={limits.max_tokens}",
            limit="max_tokens",
        )

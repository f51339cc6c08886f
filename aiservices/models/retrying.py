"""Asking again when a failure may pass: too many requests, a time-out, a server in trouble."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from ..errors import ModelError, ModelTimeoutError, RateLimitError, ServerError

T = TypeVar("T")

_logger = logging.getLogger(__name__)
_PASSING: Final = (RateLimitError, ServerError, ModelTimeoutError)
# What no wait repairs, though it comes with the status of "too many requests".
_LASTING_CODES: Final = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a model is asked again, and after which wait.

    `max_attempts` counts the first try; the wait doubles from half a second to eight, with up to half a
    second of jitter. A provider that says when to come back (`Retry-After`) is taken at its word, or not
    asked again at all when that is more than `longest_wait` seconds away.
    """

    max_attempts: int = 3
    longest_wait: float = 120.0

    def __post_init__(self) -> None:
        if self.max_attempts < 1:
            raise ValueError(f"max_attempts must be at least 1, not {self.max_attempts}")

    def call(self, ask: Callable[[], T]) -> T:
        """Ask, and again while the failure may pass; the last failure is raised as it is."""
        try:
            return ask()
        except _PASSING as error:
            if not self._worth_another(error):
                raise
            first = error

        def again() -> T:
            if attempts.statistics["attempt_number"] == 1:
                raise first
            return ask()

        attempts = self._attempts("Retrying")
        answer: T = attempts(again)
        return answer

    async def acall(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask, and again while the failure may pass; the last failure is raised as it is."""
        try:
            return await ask()
        except _PASSING as error:
            if not self._worth_another(error):
                raise
            first = error

        async def again() -> T:
            if attempts.statistics["attempt_number"] == 1:
                raise first
            return await ask()

        attempts = self._attempts("AsyncRetrying")
        answer: T = await attempts(again)
        return answer

    def _attempts(self, controller: str) -> Any:
        """A controller of tenacity. The failed first try is shown to it as its first attempt."""
        import tenacity  # a call that works neither loads it nor pays for it

        backoff = tenacity.wait_exponential(multiplier=0.5, max=8.0) + tenacity.wait_random(0.0, 0.5)

        def wait(state: tenacity.RetryCallState) -> float:
            asked = _asked_wait(_failure_of(state))
            return backoff(state) if asked is None else asked

        return getattr(tenacity, controller)(
            stop=tenacity.stop_after_attempt(self.max_attempts),
            wait=wait,
            retry=tenacity.retry_if_exception(self._worth_another),
            before_sleep=_tell,
            retry_error_callback=_give_up,
        )

    def _worth_another(self, error: BaseException) -> bool:
        return (
            self.max_attempts > 1
            and isinstance(error, _PASSING)
            and getattr(error, "code", None) not in _LASTING_CODES
            and (_asked_wait(error) or 0.0) <= self.longest_wait
        )


def _asked_wait(error: BaseException) -> float | None:
    # Any of these errors may carry it: a 503 may ask for patience as well as a 429.
    wait: float | None = getattr(error, "retry_after", None)
    return wait


def _failure_of(state: Any) -> ModelError:
    error = state.outcome.exception()
    assert isinstance(error, ModelError)
    return error


def _tell(state: Any) -> None:
    error = _failure_of(state)
    _logger.info(
        "asking again in %.2f s after %s (HTTP status %s), attempt %d",
        state.upcoming_sleep,
        type(error).__name__,
        error.status,
        state.attempt_number,
    )


def _give_up(state: Any) -> None:
    error = _failure_of(state)
    error.add_note(f"asked {state.attempt_number} times over {state.seconds_since_start:.1f} s")
    raise error

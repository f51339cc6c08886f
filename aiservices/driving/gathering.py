"""Running jobs side by side: the part that both drivers share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar, cast

from .emitting import Emit

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ended(Generic[T]):
    """The job of this index is over, with a value or an error."""

    index: int
    value: T | None = None
    error: BaseException | None = None


Report: TypeAlias = "Ended[Any] | Emit"


async def collect(
    jobs: Sequence[Coroutine[Any, Any, T]],
    limit: int | None,
    *,
    start: Callable[[int, Coroutine[Any, Any, T]], object],
    receive: Callable[[], Awaitable[Report]],
    stop: Callable[[], Awaitable[None]],
) -> list[T]:
    """Start the jobs in order as places come free, pass their events on, and wait until all have ended.

    When this is left early, `stop` ends the jobs that run and waits for them: nothing may outlive us.
    """
    ended: list[Ended[T] | None] = [None] * len(jobs)
    waiting = list(enumerate(jobs))[::-1]
    running = 0
    try:
        if limit is not None and limit < 1:
            raise ValueError(f"the limit must be at least 1, not {limit}")
        while waiting or running:
            while waiting and (limit is None or running < limit):
                start(*waiting.pop())
                running += 1
            report = await receive()
            if isinstance(report, Emit):
                await report
            else:
                ended[report.index] = report
                running -= 1
    except BaseException:
        for _, job in waiting:
            job.close()
        await stop()
        raise
    return [_value_of(report) for report in ended]


def _value_of(ended: Ended[T] | None) -> T:
    assert ended is not None
    if ended.error is not None:
        raise ended.error
    return cast("T", ended.value)

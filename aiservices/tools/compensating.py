"""Undoing what tools have done: in reverse, once, and honest about what could not be undone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from enum import StrEnum
from typing import Any, Final

from tenacity import (
    AsyncRetrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)

from ..driving import BLOCKING, Driver, Watch
from ..errors import StoreError
from ..messages import Compensation
from .attempts import Attempt
from .ledger import Done, Effect, Ledger
from .log import CompensationLog

ATTEMPTS: Final = 3
FIRST_WAIT: Final = 0.05
_log = logging.getLogger("aiservices")


class CompensationMode(StrEnum):
    """When the successes of an invocation are undone.

    `TOOL_ERROR`: when a call of a round fails, and when the invocation does; `INVOCATION_FAILURE`: only
    when the invocation ends in an exception or is cancelled; `OFF`: never.

    In both, a call that was told as failed although its tool had done its work (it came too late, or an
    interceptor refused it afterwards) is undone by itself.
    """

    TOOL_ERROR = "tool_error"
    INVOCATION_FAILURE = "invocation_failure"
    OFF = "off"


async def undo_all(
    driver: Driver,
    ledger: Ledger,
    *,
    reason: str,
    of: Callable[[Done], bool] = lambda done: True,
    report: Callable[[Done], None] = lambda done: None,
    log: CompensationLog | None = None,
) -> None:
    """Undo what the tools of these calls did and still stands, the last to end first.

    The rounds of the ledger tell what became of it. An undo that fails is retried and then reported as
    failed; the others run all the same. Nothing is undone twice.
    """
    owners = {id(effect): done for done in ledger.requested for effect in done.effects}
    for effect in reversed(ledger.effects.copy()):
        done = owners.get(id(effect))
        if done is not None and effect.stands and of(done) and effect.take():
            try:
                effect.compensation = await _undone(driver, effect, reason, log)
            except BaseException:
                effect.give_back()
                raise
            if (text := _text(done)) is not None:
                ledger.tell(done.call.id, text)
            report(done)


def undo_late(
    attempt: Attempt, *, log: CompensationLog | None, report: Callable[[Done], None] = lambda done: None
) -> None:
    """Undo what a tool did after its call had been given up, if nobody wants it; in a thread of its own."""
    blocking = log.driven_by(BLOCKING) if log is not None else None
    BLOCKING.run_apart(_undone_late(attempt, blocking, report))


async def _undone_late(attempt: Attempt, log: CompensationLog | None, report: Callable[[Done], None]) -> None:
    effect, done = attempt.effect, attempt.done
    if effect is not None and log is not None:
        await _told(log.ended(effect), attempt)
    if effect is not None and attempt.is_unwanted:
        reason = because_it_came_late(done) if done.outcome.is_error else attempt.ledger.undoing or ""
        effect.compensation = await _undone(BLOCKING, effect, reason, log)
        if effect not in attempt.ledger.effects:
            attempt.ledger.effects.append(effect)
        report(done)
    if log is not None:
        await _told(_let_go(attempt, log), attempt)


async def _let_go(attempt: Attempt, log: CompensationLog) -> None:
    """Be done with a run that went on: what it did stays in the log while that may have to be undone."""
    effect, key = attempt.effect, attempt.key
    if effect is None:
        if attempt.tool.undo is not None:
            await log.forget(key)
    elif not attempt.is_unwanted:
        if log.leave_to_invocation(key):
            return
        if effect.compensation is None or effect.compensation.undone:
            await log.forget(key)
    await log.release(key)


async def _told(telling_the_log: Coroutine[Any, Any, None], attempt: Attempt) -> None:
    """Tell the log. What was done is undone also where that cannot be told."""
    try:
        await telling_the_log
    except StoreError:
        _log.exception("the compensation log could not be told how a late call of %s ended", attempt.ran.name)


async def _undone(driver: Driver, effect: Effect, reason: str, log: CompensationLog | None) -> Compensation:
    compensation = await attempt_undo(driver, effect.ran.name, effect.undo, reason)
    if log is not None:
        try:  # what is left to recover keeps its outcome: nobody has noted that of a call that was given up
            await (log.forget(effect.key) if compensation.undone else log.ended(effect))
        except StoreError:  # recover will undo it again, which an undo must bear
            _log.exception("the compensation log could not be told what became of %s", effect.ran.name)
    return compensation


async def attempt_undo(
    driver: Driver, name: str, prepare: Callable[[], Callable[[], object]], reason: str
) -> Compensation:
    """Run the undo of a tool, again and again a few times when it fails."""
    try:
        undo = prepare()
        async for attempt in AsyncRetrying(
            sleep=driver.sleep,
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_exponential(multiplier=FIRST_WAIT) + wait_random(0, FIRST_WAIT),
            retry=retry_if_exception_type(Exception),
            reraise=True,
        ):
            with attempt:
                await driver.call(Watch(_nobody, _nobody).over(undo))
    except (Exception, SystemExit) as error:
        _log.error("undoing tool %s failed for good (%s)", name, type(error).__name__)
        return Compensation(undone=False, reason=reason, error=error)
    return Compensation(undone=True, reason=reason)


def _nobody(value: object, error: BaseException | None) -> None:
    """Is told of the end of an undo: its caller learns of it anyway."""


def _text(done: Done) -> str | None:
    """What the model is told of a call that was to be undone, if anything else than before."""
    compensation, name = done.compensation, done.call.name
    assert compensation is not None
    kind = type(compensation.error).__name__
    if done.outcome.is_error:
        if compensation.undone:
            return None  # it failed, and it left nothing behind
        return (
            f"{done.result.text}\nTool '{name}' had done its work nevertheless, and undoing it failed "
            f"({kind}): what it did still stands"
        )
    if compensation.undone:
        return f"Tool '{name}' was executed successfully but was rolled back {compensation.reason}"
    return (
        f"Tool '{name}' was executed successfully and should have been rolled back {compensation.reason}, "
        f"but undoing it failed ({kind}): what it did still stands"
    )


def because_of_tools(failed: list[str]) -> str:
    """The reason when calls of a round failed."""
    return f"due to failure of tool '{failed[0]}'"


def because_of(error: BaseException) -> str:
    """The reason when the invocation failed."""
    return f"because the invocation failed ({type(error).__name__})"


def because_it_came_late(done: Done) -> str:
    """The reason when a tool did its work after its call had been told as failed."""
    return f"because it ended after its call had failed ({type(done.outcome.error).__name__})"

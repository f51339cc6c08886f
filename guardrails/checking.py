"""Guardrails used alone, outside of any pipeline."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import Any, TypeVar, TypeVarTuple, Unpack, cast, overload

from .enforcing import judge
from .guardrail import PLAIN_TEXT, GuardrailLike, GuardrailRequest, Wording, links
from .verdicts import ChainOutcome, Subject

ResultT = TypeVar("ResultT")
Arguments = TypeVarTuple("Arguments")


@overload
def check(guardrails: Sequence[GuardrailLike[str]], request: str) -> ChainOutcome[str]: ...
@overload
def check(
    guardrails: Sequence[GuardrailLike[Subject]],
    request: GuardrailRequest[Subject],
    *,
    wording: Wording[Subject],
) -> ChainOutcome[Subject]: ...
def check(
    guardrails: Sequence[GuardrailLike[Any]],
    request: str | GuardrailRequest[Any],
    *,
    wording: Wording[Any] = PLAIN_TEXT,
) -> ChainOutcome[Any]:
    """What blocking guardrails, in this order, say to a text or a request.

    Raises:
        TypeError: one of them is asynchronous; `acheck` takes both kinds.
    """
    coroutine = judge(links(*guardrails), _request(request), wording=wording, call=_call_blocking)
    try:
        coroutine.send(None)
    except StopIteration as end:
        outcome: ChainOutcome[Any] = end.value
        return outcome
    except _MetAsynchronous as error:
        raise TypeError(f"check() runs blocking guardrails: use acheck() for {error}") from None
    raise AssertionError("nothing in here suspends")


@overload
async def acheck(guardrails: Sequence[GuardrailLike[str]], request: str) -> ChainOutcome[str]: ...
@overload
async def acheck(
    guardrails: Sequence[GuardrailLike[Subject]],
    request: GuardrailRequest[Subject],
    *,
    wording: Wording[Subject],
) -> ChainOutcome[Subject]: ...
async def acheck(
    guardrails: Sequence[GuardrailLike[Any]],
    request: str | GuardrailRequest[Any],
    *,
    wording: Wording[Any] = PLAIN_TEXT,
) -> ChainOutcome[Any]:
    """`check` for guardrails of both kinds. Blocking ones block the running event loop."""
    return await judge(links(*guardrails), _request(request), wording=wording, call=_call)


class _MetAsynchronous(BaseException):
    """Not an `Exception`: it is no failure of the guardrail, so the chain must not take it for one."""


def _request(given: str | GuardrailRequest[Any]) -> GuardrailRequest[Any]:
    return GuardrailRequest(given, given) if isinstance(given, str) else given


async def _call(
    function: Callable[[Unpack[Arguments]], ResultT | Awaitable[ResultT]], /, *args: *Arguments
) -> ResultT:
    result = function(*args)
    return cast("ResultT", await result if isawaitable(result) else result)


async def _call_blocking(
    function: Callable[[Unpack[Arguments]], ResultT | Awaitable[ResultT]], /, *args: *Arguments
) -> ResultT:
    result = function(*args)
    if not isawaitable(result):
        return result
    close = getattr(result, "close", None)
    if close is not None:
        close()
    raise _MetAsynchronous(getattr(function, "__qualname__", type(function).__name__))

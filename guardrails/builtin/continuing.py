"""Going on with what a user's function gives, whether it is there at once or must be awaited.

A guardrail written with this is blocking where the function is and asynchronous where it is: a blocking
service needs no event loop for it, and an asynchronous one is not held up.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


def continuing(
    give: Callable[[], Any],
    take: Callable[[Any], ResultT],
    otherwise: Callable[[Exception], ResultT] | None = None,
) -> ResultT | Awaitable[ResultT]:
    """`take(give())`, awaiting in between where needed; `otherwise` gets what either of them raises."""
    try:
        given = give()
        if isawaitable(given):
            return _later(given, take, otherwise)
        return take(given)
    except Exception as error:
        if otherwise is None:
            raise
        return otherwise(error)


async def _later(
    given: Awaitable[Any],
    take: Callable[[Any], ResultT],
    otherwise: Callable[[Exception], ResultT] | None,
) -> ResultT:
    try:
        return take(await given)
    except Exception as error:
        if otherwise is None:
            raise
        return otherwise(error)

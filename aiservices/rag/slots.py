"""What users put into the slots of an augmentor: functions and objects, blocking or asynchronous."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, TypeAlias

from ..driving import Driver

Run: TypeAlias = Callable[..., Coroutine[Any, Any, Any]]


class DrivenPart(ABC):
    """A part that is written once for blocking and asynchronous services: `drive` is given the driver."""

    drive: Run


@dataclass(frozen=True, slots=True)
class Slot:
    """A part as the augmentor runs it: `run(driver, *arguments)`, whatever kind it is.

    `name` is for people; `asynchronous` says that it can only be awaited.
    """

    name: str
    run: Run
    part: Any
    asynchronous: bool = False


def slot(given: Any, method: str, what: str) -> Slot:
    """The slot for a function, or for an object with the method or its asynchronous twin.

    The twin has an `a` before the name; of an object that has both, the one that fits the call is used.
    Raises `TypeError` for anything else.
    """
    if isinstance(given, type):
        raise TypeError(f"the {what} {given.__name__} is a class: give an object, {given.__name__}(...)")
    name = name_of(given)
    if isinstance(given, DrivenPart):
        return Slot(name, given.drive, given)
    blocking, asynchronous = getattr(given, method, None), getattr(given, f"a{method}", None)
    if callable(blocking) and callable(asynchronous) and not iscoroutinefunction(blocking):
        return Slot(name, _twins(blocking, asynchronous), given)
    function = blocking or asynchronous or given
    if not callable(function):
        raise TypeError(
            f"the {what} {given!r} is neither a function nor an object with {method}(...)"
            f"{_instead(given, method)}"
        )
    awaited = iscoroutinefunction(function) or iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004
    return Slot(name, _calling(function), given, awaited)


def _instead(given: Any, method: str) -> str:
    """What to write for what somebody gave in the place of a retriever."""
    if method == "retrieve" and isinstance(given, list | tuple):
        return ": join several with HybridRetriever(*retrievers)"
    if method == "retrieve" and callable(getattr(given, "search", None)):
        return ": look it up with an EmbeddingStoreRetriever(...) or a KeywordRetriever(...)"
    return ""


def name_of(given: Any) -> str:
    """How a part is called in errors and logs: by its `name`, or the name of the function or class it is."""
    function = getattr(given, "func", given)  # of a functools.partial
    names = (getattr(given, "name", None), getattr(function, "__name__", None))
    return next((name for name in names if isinstance(name, str) and name), type(given).__name__)


def _twins(blocking: Callable[..., Any], asynchronous: Callable[..., Any]) -> Run:
    async def run(driver: Driver, *arguments: Any) -> Any:
        return await driver.twin(blocking, asynchronous, *arguments)

    return run


def _calling(function: Callable[..., Any]) -> Run:
    async def run(driver: Driver, *arguments: Any) -> Any:
        return await driver.call(function, *arguments)

    return run

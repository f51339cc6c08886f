"""The order of a call's work: read this page first.

Each stage meets the invocation on the way down and the result on the way up; the first is outermost.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from functools import partial
from typing import Any, Final

from .errors import ConfigurationError
from .invocation import Invocation, Proceed, Stage
from .results import Result
from .stages import ask_model, observe, render, structure

STAGES: Final[tuple[Stage, ...]] = (
    observe,  # started ... completed or failed
    render,  # templates and arguments -> system and user message
    structure,  # schema or instructions down, typed value up; asks again when it does not parse
    ask_model,  # the request
)


def compose(stages: Sequence[Stage]) -> Proceed:
    """Fold the stages into one callable, the first outermost."""
    proceed: Proceed = _past_the_end
    for stage in reversed(stages):
        proceed = partial(_proceeding, stage, proceed)
    return proceed


def inserted(
    stages: Sequence[Stage], stage: Stage, *, before: Stage | None = None, after: Stage | None = None
) -> tuple[Stage, ...]:
    """The stages with one more, right before or right after one of them.

    Raises `ConfigurationError` unless exactly one neighbour is named and stands among them.
    """
    neighbour = after if before is None else before
    if neighbour is None or (before is not None and after is not None):
        raise ConfigurationError("name the neighbour of the new stage: before= or after=, one of the two")
    if neighbour not in stages:
        raise ConfigurationError(f"the stage {_name(neighbour)} is not among {', '.join(map(_name, stages))}")
    index = list(stages).index(neighbour) + (before is None)
    return (*stages[:index], stage, *stages[index:])


def _proceeding(stage: Stage, proceed: Proceed, call: Invocation) -> Coroutine[Any, Any, Result[Any]]:
    return stage(call, proceed)


async def _past_the_end(call: Invocation) -> Result[Any]:
    raise ConfigurationError(f"{call.method.where}: the last stage proceeded, but nothing comes after it")


def _name(stage: Stage) -> str:
    return getattr(stage, "__name__", repr(stage))

"""The order of a call's work: read this page first.

Each stage meets the invocation on the way down and the result on the way up; the first is outermost.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, Final, cast

from .errors import ConfigurationError
from .invocation import Invocation, Proceed, Setup, Stage
from .results import Result
from .stages import (
    ask_model,
    augment,
    guard_input,
    guard_output,
    moderate,
    observe,
    remember,
    render,
    roll_back,
    structure,
    use_skills,
    use_tools,
)
from .tools import CompensationMode

STAGES: Final[tuple[Stage, ...]] = (
    observe,  # started ... completed or failed
    render,  # templates and arguments -> system and user message
    remember,  # history down; what really happened up, whole or not at all
    augment,  # knowledge beside the user message, sources into the result
    roll_back,  # undoes what tools did when the call fails
    guard_input,  # accept, rewrite, refuse: before anything is sent
    structure,  # schema or instructions down, typed value up; asks again when it does not parse
    guard_output,  # verdicts up; may ask again
    use_tools,  # model <-> tools until it stops asking
    use_skills,  # the catalogue of skills and what active ones say, into each request
    moderate,  # beside the invocation's first request only; vetoes before any tool runs
    ask_model,  # the request
)
NEEDED: Final[Mapping[Stage, Callable[[Setup], bool]]] = {
    remember: lambda setup: setup.recall is not None,
    augment: lambda setup: setup.augmentor is not None,
    roll_back: lambda setup: setup.compensation is not CompensationMode.OFF,
    guard_input: lambda setup: bool(setup.input_chain),
    guard_output: lambda setup: bool(setup.output_chain),
    moderate: lambda setup: setup.moderation_model is not None,
    use_tools: lambda setup: bool(setup.assortment),
    use_skills: lambda setup: bool(setup.skills),
}
"""When a stage has something to do; the others are always in the chain."""


def compose(stages: Sequence[Stage], setup: Setup) -> Proceed:
    """Fold the stages that a method needs into one callable, the first outermost."""
    proceed: Proceed = _past_the_end
    needed = [stage for stage in stages if _has_work(stage, setup)]
    for stage in reversed(needed):
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


def _has_work(stage: Stage, setup: Setup) -> bool:
    return all(needed(setup) for known, needed in NEEDED.items() if known is stage)


def _proceeding(stage: Stage, proceed: Proceed, call: Invocation) -> Coroutine[Any, Any, Result[Any]]:
    coming: object = stage(call, proceed)
    if isinstance(coming, Result):
        raise TypeError(f"{call.method.where}: the stage {_name(stage)} is not asynchronous: write async def")
    return cast("Coroutine[Any, Any, Result[Any]]", coming)


async def _past_the_end(call: Invocation) -> Result[Any]:
    raise ConfigurationError(f"{call.method.where}: the last stage proceeded, but nothing comes after it")


def _name(stage: Stage) -> str:
    return getattr(stage, "__name__", repr(stage))

"""Running guardrails: once over a chain, and over every new answer again.

One asynchronous text that imports no event loop. What must wait is handed in: `call` runs a guardrail's
function, of whichever kind, and `ask_again` gets another answer. Whoever drives the text drives those.

The rules, for every chain:

- guardrails run in their order; a rewrite reaches the next one and stays, also when that one just accepts;
- `Reject` is collected and the rest still run; `Halt`, `Retry` and `Reprompt` end the chain at once;
- an exception inside a guardrail, or something that is no verdict, counts as its `Halt`;
- a new answer is judged by the whole chain. The model is shown its own words, never a rewrite of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from inspect import iscoroutine
from time import perf_counter
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar, TypeVarTuple, Unpack, assert_never, cast

from .errors import InputGuardrailError, OutputGuardrailError
from .guardrail import GuardrailRequest, Link, Wording
from .judging import Judging
from .verdicts import (
    VERDICTS,
    ChainOutcome,
    Failure,
    Halt,
    Passed,
    Reask,
    Refused,
    Reprompt,
    Retry,
    Rewrite,
    Subject,
    SubjectT_co,
    Unsatisfied,
    Verdict,
)

DEFAULT_MAX_RETRIES: Final = 2
INPUT_VERDICTS: Final = VERDICTS - {Retry, Reprompt}

ResultT = TypeVar("ResultT")
Arguments = TypeVarTuple("Arguments")


@dataclass(frozen=True, slots=True)
class OutputGuardrailsConfig:
    """How often an answer may be judged: `max_retries` counts validations, the first one included.

    2, the default, allows one more question to the model. 0 becomes 1, since nothing is shown unjudged; a
    negative number becomes the default.
    """

    max_retries: int = DEFAULT_MAX_RETRIES

    def __post_init__(self) -> None:
        if type(self.max_retries) is not int:
            raise TypeError(f"max_retries is {self.max_retries!r}: give a whole number")

    @property
    def validations(self) -> int:
        """How many answers are judged at most; at least one."""
        return DEFAULT_MAX_RETRIES if self.max_retries < 0 else max(1, self.max_retries)


DEFAULT_CONFIG: Final = OutputGuardrailsConfig()


@dataclass(frozen=True, slots=True)
class Judgement(Generic[SubjectT_co]):
    """One guardrail spoke: its verdict, how long it took, and on which answer, counted from 1."""

    guardrail: str
    verdict: Verdict[SubjectT_co]
    seconds: float
    validation: int


@dataclass(frozen=True, slots=True)
class Validated(Generic[SubjectT_co]):
    """An answer that passed. `reasks` has one entry for every answer before it that did not."""

    passed: Passed[SubjectT_co]
    reasks: tuple[Reask, ...] = ()


class Call(Protocol):
    """Runs a user's function, sync or async, and waits for what it gives."""

    def __call__(
        self,
        function: Callable[[Unpack[Arguments]], ResultT | Awaitable[ResultT]],
        /,
        *args: *Arguments,
    ) -> Awaitable[ResultT]: ...


AskAgain: TypeAlias = Callable[[Subject, Reask], Awaitable[GuardrailRequest[Subject]]]
"""Gets another answer, from the rejected one as the model gave it and from what is to be said about it. It is
given as a whole request, for the conversation around it has gone on too."""

Observer: TypeAlias = Callable[[Judgement[Any]], object]
"""Hears every verdict as it falls. What it raises is not caught here."""


async def judge(
    chain: Sequence[Link[Subject]],
    request: GuardrailRequest[Subject],
    *,
    wording: Wording[Subject],
    call: Call,
    observe: Observer | None = None,
    allowed: frozenset[type] = VERDICTS,
    validation: int = 1,
) -> ChainOutcome[Subject]:
    """Run a chain once. Raises nothing that a guardrail raised."""
    judging = Judging(request, wording)
    for link in chain:
        started = perf_counter() if observe is not None else 0.0
        verdict = await _verdict(link, judging, call, allowed)
        if observe is not None:
            observe(Judgement(link.name, verdict, perf_counter() - started, validation))
        ended = judging.take(link.name, verdict)
        if ended is not None:
            return ended
    return judging.outcome()


async def enforce_input(
    chain: Sequence[Link[Subject]],
    request: GuardrailRequest[Subject],
    *,
    wording: Wording[Subject],
    call: Call,
    observe: Observer | None = None,
) -> Passed[Subject]:
    """What may be sent, as the guardrails left it.

    `Retry` and `Reprompt` are for answers: here they are an error of the guardrail, and count as `Halt`.

    Raises:
        InputGuardrailError: a guardrail objected or failed.
    """
    outcome = await judge(chain, request, wording=wording, call=call, observe=observe, allowed=INPUT_VERDICTS)
    match outcome:
        case Passed():
            return outcome
        case Refused(failures=failures) | Unsatisfied(failures=failures):
            raise InputGuardrailError(failures) from _first_cause(failures)
        case _:
            assert_never(outcome)


async def enforce_output(
    chain: Sequence[Link[Subject]],
    request: GuardrailRequest[Subject],
    *,
    wording: Wording[Subject],
    call: Call,
    ask_again: AskAgain[Subject],
    config: OutputGuardrailsConfig = DEFAULT_CONFIG,
    observe: Observer | None = None,
) -> Validated[Subject]:
    """The first answer that the whole chain lets pass, the one in `request` or one asked for later.

    Raises:
        OutputGuardrailError: a guardrail objected or failed, or `config.validations` answers were not enough.
    """
    reasks: list[Reask] = []
    while True:
        count = len(reasks) + 1
        outcome = await judge(chain, request, wording=wording, call=call, observe=observe, validation=count)
        match outcome:
            case Passed():
                return Validated(outcome, tuple(reasks))
            case Unsatisfied(reask=reask) if count < config.validations:
                reasks.append(reask)
                request = await ask_again(request.subject, reask)
            case Refused(failures=failures) | Unsatisfied(failures=failures):
                raise OutputGuardrailError(failures, count, reasks) from _first_cause(failures)
            case _:
                assert_never(outcome)


async def _verdict(
    link: Link[Subject], judging: Judging[Subject], call: Call, allowed: frozenset[type]
) -> Verdict[Subject]:
    request = judging.request
    try:
        if link.inline:
            verdict = cast("Verdict[Subject]", link.judge(request))
        else:
            verdict = await call(link.judge, request)
        if type(verdict) not in allowed:
            raise TypeError(_misuse(verdict, link))
        if type(verdict) is Rewrite:
            await judging.rewrite(verdict.replacement)
        return verdict
    except Exception as error:
        return Halt(_told(error), error)


def _told(error: Exception) -> str:
    name = type(error).__name__
    try:
        said = str(error)
    except Exception:  # one that cannot say what it is stops the subject all the same
        return name
    return f"{name}: {said}" if said else name


def _misuse(verdict: object, link: Link[Any]) -> str:
    name = type(verdict).__name__
    if iscoroutine(verdict):
        verdict.close()
        return f"{link.name} says that it is inline and is asynchronous: it can be one of the two"
    if type(verdict) in VERDICTS:
        return f"an input guardrail may not return {name}: there is no answer yet to ask for again"
    return f"a guardrail returns a verdict such as Accept(), not {name}"


def _first_cause(failures: Sequence[Failure]) -> Exception | None:
    return next((failure.cause for failure in failures if failure.cause is not None), None)

"""What a guardrail may say about a subject, and what a whole chain of them comes to.

    Verdict         one guardrail's judgement: Accept Rewrite Reject Halt Retry Reprompt
    ChainOutcome    the chain's: Passed Refused Unsatisfied

Both are closed unions: `match` them and end with `assert_never`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeAlias, final

from typing_extensions import TypeVar

Subject = TypeVar("Subject", default=Any)
SubjectT_co = TypeVar("SubjectT_co", covariant=True, default=Any)


@final
@dataclass(frozen=True, slots=True)
class Accept:
    """The subject is fine as it is. A `remark` is reported as a finding, and changes nothing else."""

    remark: str = ""


@final
@dataclass(frozen=True, slots=True)
class Rewrite(Generic[SubjectT_co]):
    """The subject is fine once it is replaced: by another subject, or by itself with another text."""

    replacement: SubjectT_co | str


@final
@dataclass(frozen=True, slots=True)
class Reject:
    """The subject may not pass. The guardrails that follow still say what they find."""

    reason: str
    cause: Exception | None = field(default=None, compare=False)


@final
@dataclass(frozen=True, slots=True)
class Halt:
    """The subject may not pass, and nobody else is asked about it."""

    reason: str
    cause: Exception | None = field(default=None, compare=False)


@final
@dataclass(frozen=True, slots=True)
class Retry:
    """This answer may not pass: ask for another, with the same words. For answers only."""

    reason: str


@final
@dataclass(frozen=True, slots=True)
class Reprompt:
    """This answer may not pass: show it to the model with `prompt` and ask again. For answers only."""

    reason: str
    prompt: str


Verdict: TypeAlias = Accept | Rewrite[SubjectT_co] | Reject | Halt | Retry | Reprompt
"""Everything a guardrail can say."""

VERDICTS: Final = frozenset({Accept, Rewrite, Reject, Halt, Retry, Reprompt})


@dataclass(frozen=True, slots=True)
class Failure:
    """One complaint: the guardrail's name, its reason, and the exception behind it where there is one."""

    guardrail: str
    reason: str
    cause: Exception | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.guardrail}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Reask:
    """An answer is asked for again: who wants it, why, and with which words (None: with the same)."""

    guardrail: str
    reason: str
    prompt: str | None


@final
@dataclass(frozen=True, slots=True)
class Passed(Generic[SubjectT_co]):
    """Nobody objected. `subject` and `text` are as the guardrails left them.

    `rewritten` says that one of them gave something else, `replaced` that it was a whole subject and not a
    text. `findings` are the remarks of those that accepted.
    """

    subject: SubjectT_co
    text: str
    rewritten: bool = False
    replaced: bool = False
    findings: tuple[Failure, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Refused:
    """The subject may not pass, and no other is asked for. Complaints are in the guardrails' order."""

    failures: tuple[Failure, ...]


@final
@dataclass(frozen=True, slots=True)
class Unsatisfied:
    """The subject may not pass, but another may: the last of `failures` is why, `reask` what to do."""

    failures: tuple[Failure, ...]
    reask: Reask


ChainOutcome: TypeAlias = Passed[SubjectT_co] | Refused | Unsatisfied
"""Everything a chain can come to."""

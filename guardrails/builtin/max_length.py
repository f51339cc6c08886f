"""A limit on how long a text is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from ..guardrail import GuardrailRequest
from ..verdicts import Accept, Reject, Rewrite, Verdict


@dataclass(frozen=True, slots=True)
class MaxLength:
    """Refuses a text that is longer than `limit`.

    Catches: text beyond the limit, in characters, or in what `count` counts: `count=tokenizer.count`.
    Misses: everything that is no text, such as pictures.
    Costs: less than a microsecond with `len`, else what `count` costs.

    `longer` is the verdict for a text that is too long, by default `Reject`; for answers a `Reprompt` that
    asks for fewer words may serve better. `MaxLength.cutting(500)` keeps the first 500 characters instead.

    Raises:
        TypeError: the limit is no whole number.
        ValueError: the limit is negative.
    """

    limit: int
    longer: Verdict[str] | None = None
    count: Callable[[str], int] = len
    inline: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check(self.limit)

    @classmethod
    def cutting(cls, limit: int) -> CuttingLength:
        """The guardrail that keeps the first `limit` characters and drops the others."""
        return CuttingLength(limit)

    def validate(self, request: GuardrailRequest[object]) -> Verdict[str]:
        length = self.count(request.text)
        if length <= self.limit:
            return Accept()
        return self.longer or Reject(f"the text is longer than allowed: {length}, the limit is {self.limit}")


@dataclass(frozen=True, slots=True)
class CuttingLength:
    """Keeps the first `limit` characters of a text and drops the others."""

    limit: int
    inline: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check(self.limit)

    def validate(self, request: GuardrailRequest[object]) -> Verdict[str]:
        text = request.text
        return Accept() if len(text) <= self.limit else Rewrite(text[: self.limit])


def _check(limit: int) -> None:
    if type(limit) is not int:
        raise TypeError(f"the limit is a whole number, not {limit!r}")
    if limit < 0:
        raise ValueError(f"a text cannot be shorter than nothing: the limit is {limit}")

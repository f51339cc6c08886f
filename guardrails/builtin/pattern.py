"""Regular expressions as guardrails."""

from __future__ import annotations

import re
from dataclasses import InitVar, dataclass, field
from typing import ClassVar

from ..guardrail import GuardrailRequest
from ..verdicts import Accept, Reject, Rewrite, Verdict


@dataclass(frozen=True, slots=True)
class Pattern:
    r"""Looks for a regular expression in the text.

        Pattern(r"\bproject x\b")                                     refuses a text that holds it
        Pattern(r"\bproject x\b", found=Halt("confidential"))         with a verdict of your own
        Pattern(r"^\{", missing=Reprompt("no JSON", "Give JSON."))    refuses a text that does not hold it
        Pattern(r"sk-\w+", replacement="[key]")                       replaces what it finds, as `re.sub` does

    Catches: exactly what the expression says, in upper and lower case alike; a compiled expression keeps its
    own flags.
    Misses: spellings that nobody thought of, text in pictures.
    Costs: one search, linear in the text unless the expression itself is not: `(a+)+` takes forever.

    Raises:
        TypeError: it is neither a text nor a compiled expression for texts.
        ValueError: more than one of `found`, `missing` and `replacement`.
        re.error: it is no regular expression.
    """

    regex: InitVar[str | re.Pattern[str]]
    found: Verdict[str] | None = None
    missing: Verdict[str] | None = None
    replacement: str | None = None
    compiled: re.Pattern[str] = field(init=False)
    inline: ClassVar[bool] = True

    def __post_init__(self, regex: str | re.Pattern[str]) -> None:
        given = [each for each in (self.found, self.missing, self.replacement) if each is not None]
        if len(given) > 1:
            raise ValueError("give Pattern one of found, missing and replacement")
        compiled = re.compile(regex, re.IGNORECASE) if isinstance(regex, str) else regex
        if not isinstance(compiled, re.Pattern) or not isinstance(compiled.pattern, str):
            raise TypeError(f"a pattern is a text or a compiled expression for texts, not {regex!r}")
        object.__setattr__(self, "compiled", compiled)

    def validate(self, request: GuardrailRequest[object]) -> Verdict[str]:
        if self.replacement is not None:
            text, count = self.compiled.subn(self.replacement, request.text)
            return Rewrite(text) if count else Accept()
        holds = self.compiled.search(request.text) is not None
        if self.missing is not None:
            return Accept() if holds else self.missing
        if not holds:
            return Accept()
        return self.found or Reject(f"the text holds what may not be in it: {self.compiled.pattern}")

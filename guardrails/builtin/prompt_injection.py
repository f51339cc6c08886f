"""Attempts to take over a model, recognised by their wording."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..guardrail import GuardrailRequest, own_text
from ..verdicts import Accept, Halt, Verdict
from .folding import folded
from .injection import RULES, Attack, RuleSearch


@dataclass(frozen=True, slots=True, init=False)
class PromptInjection:
    """Halts where the text is worded like an attempt to take over the model.

    Catches: the usual wordings of seven kinds (`Attack`) in English, German, French, Spanish, Italian,
    Portuguese, Dutch, Polish, Russian, Chinese, Japanese, Korean, Turkish and Arabic, also in upper case, in
    wide letters, with invisible characters or with letters of another alphabet put in.
    How much: of the prompts in our tests it finds 81 of 83 hostile ones and suspects none of 93 harmless.
    But who wrote the rules wrote those too; of 37 attacks from lists of other people it found 22.
    Misses: anything worded unusually, spread over several messages, spelled letter by letter, or in other
    languages. It makes attacks harder, not impossible: give tools no rights that a user may not have.
    Costs: about 5 µs for a short harmless text, linear in the text; nothing is sent anywhere.

    `extra` are regular expressions of your own, for folded text (lower case, no accents); `without` leaves
    kinds out; `reason` is what the error says, by default the kind; `texts` says what is looked at, by
    default the user's own words. `lambda request: [request.text, *map(str, request.sources)]` adds what was
    retrieved.
    """

    rules: RuleSearch
    extra: tuple[re.Pattern[str], ...]
    reason: str | None
    texts: Callable[[GuardrailRequest[object]], Sequence[str]]
    inline: ClassVar[bool] = True

    def __init__(
        self,
        *,
        extra: Iterable[str] = (),
        without: Iterable[Attack] = (),
        reason: str | None = None,
        texts: Callable[[GuardrailRequest[object]], Sequence[str]] = own_text,
    ) -> None:
        put, left_out = object.__setattr__, frozenset(without)
        put(self, "rules", RuleSearch(rule for rule in RULES if rule.attack not in left_out))
        put(self, "extra", tuple(re.compile(each) for each in extra))
        put(self, "reason", reason)
        put(self, "texts", texts)

    def validate(self, request: GuardrailRequest[object]) -> Verdict[str]:
        for text in self.texts(request):
            suspicion = self.suspicion(text)
            if suspicion is not None:
                return Halt(self.reason or f"looks like a prompt injection ({suspicion})")
        return Accept()

    def suspicion(self, text: str) -> str | None:
        """What a text looks like, as the kind and the language (`override, en`), or None."""
        words = folded(text)
        rule = self.rules.first(words)
        if rule is not None:
            return f"{rule.attack}, {rule.language}"
        return "extra" if any(pattern.search(words) for pattern in self.extra) else None

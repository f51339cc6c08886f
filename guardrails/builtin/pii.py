"""Personal data in texts: taken out, or a reason to refuse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..guardrail import GuardrailRequest
from ..verdicts import Accept, Reject, Rewrite, Verdict
from .recognizing import Found, PiiKind, Recognizer, recognizer_of

DEFAULT_MASK = "[{kind}]"


class OnPii(StrEnum):
    """What becomes of a text with personal data."""

    REDACT = "redact"
    """A placeholder takes the place of each."""
    BLOCK = "block"
    """The text is rejected. The reason names the kinds, never what was found."""


@dataclass(frozen=True, slots=True, init=False)
class Pii:
    """Redacts personal data, or rejects texts that hold any.

    Catches: e-mail addresses; phone numbers in international form, and in the local form of `regions`
    (`("US", "DE")`); bank accounts (IBAN) and payment cards whose check digits are right; social security
    numbers of the United States. `kinds` chooses among them.
    Misses: names, addresses, dates of birth and other identity numbers, unless `recognizers` find them:
    `presidio_recognizer(AnalyzerEngine())` does. Numbers with a typing error; what is spelled out in words.
    One number in ten with the length of a card's passes its check by chance, and is taken for a card.
    Costs: a few microseconds for a text without digits, up to a millisecond for one with numbers and a few
    `regions`; nothing is sent anywhere. The first one made loads the libraries, 0.3 s.

    `mask` is the placeholder, `{kind}` in it becomes the kind in capitals: `[EMAIL]`.

    Raises:
        ImportError: a kind other than e-mail is wanted and the extra `pii` is not installed.
    """

    recognizers: tuple[Recognizer, ...]
    on_found: OnPii
    mask: str

    def __init__(
        self,
        on_found: OnPii = OnPii.REDACT,
        *,
        kinds: Iterable[PiiKind] = tuple(PiiKind),
        regions: Sequence[str] = (),
        recognizers: Iterable[Recognizer] = (),
        mask: str = DEFAULT_MASK,
    ) -> None:
        put = object.__setattr__
        shipped = (recognizer_of(PiiKind(kind), regions) for kind in kinds)
        put(self, "recognizers", (*shipped, *recognizers))
        put(self, "on_found", OnPii(on_found))
        put(self, "mask", mask)

    def found_in(self, text: str) -> tuple[Found, ...]:
        """What is found, in order; finds that overlap are one, of the kind that begins first."""
        every = [found for recognize in self.recognizers for found in recognize(text)]
        merged: list[Found] = []
        for found in sorted(every, key=lambda each: (each.start, -each.end)):
            if merged and found.start < merged[-1].end:
                last = merged[-1]
                merged[-1] = Found(last.kind, last.start, max(last.end, found.end))
            else:
                merged.append(found)
        return tuple(merged)

    def validate(self, request: GuardrailRequest[object]) -> Verdict[str]:
        found = self.found_in(request.text)
        if not found:
            return Accept()
        match self.on_found:
            case OnPii.REDACT:
                return Rewrite(self._redacted(request.text, found))
            case OnPii.BLOCK:
                kinds = ", ".join(dict.fromkeys(str(each.kind) for each in found))
                return Reject(f"the text holds personal data: {kinds}")

    def _redacted(self, text: str, found: Sequence[Found]) -> str:
        for each in reversed(found):
            mask = self.mask.replace("{kind}", each.kind.upper())
            text = f"{text[: each.start]}{mask}{text[each.end :]}"
        return text

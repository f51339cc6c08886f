"""Content moderation by a model or a service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ..errors import ModerationError
from ..guardrail import GuardrailRequest, own_text
from ..verdicts import Accept, Halt, Verdict
from .continuing import continuing


class ModerationVerdict(Protocol):
    """What a moderation says about the texts it was shown: any object with these two will do."""

    @property
    def flagged(self) -> bool: ...
    @property
    def categories(self) -> Iterable[str]: ...


Moderator: TypeAlias = Callable[[Sequence[str]], ModerationVerdict | Awaitable[ModerationVerdict]]
"""Judges texts together; sync or async."""


@dataclass(frozen=True, slots=True)
class Moderated:
    """A `ModerationVerdict`, for moderators of your own."""

    flagged: bool
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Moderation:
    """Halts where a moderation flags the text, with a `ModerationError` as cause.

    `moderate` is a function of texts, or the method of that name of a moderation model.

    Catches: what the moderation flags. `texts` says what it is shown, by default the text that is judged;
    blank texts are not sent.
    Misses: what the moderation misses; pictures and sound.
    Costs: one request of the moderation. One that fails blocks: its exception counts as `Halt`.
    """

    moderate: Moderator
    texts: Callable[[GuardrailRequest[object]], Sequence[str]] = own_text

    def validate(self, request: GuardrailRequest[object]) -> Verdict[str] | Awaitable[Verdict[str]]:
        texts = [text for text in self.texts(request) if text.strip()]
        return continuing(lambda: self.moderate(texts), _verdict) if texts else Accept()


def _verdict(moderated: ModerationVerdict) -> Verdict[str]:
    if not moderated.flagged:
        return Accept()
    categories = tuple(moderated.categories)
    named = ", ".join(categories) or "no category"
    return Halt(f"flagged by moderation: {named}", ModerationError(categories))

"""Content moderation by a model or a service."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

from ..errors import ModerationError
from ..guardrail import GuardrailRequest, own_text
from ..verdicts import VERDICTS, Accept, Halt, Verdict
from .continuing import continuing


class ModerationVerdict(Protocol):
    """What a moderation says about the texts it was shown: any object with these two will do."""

    @property
    def flagged(self) -> bool: ...
    @property
    def categories(self) -> Iterable[str]: ...


class TextModerator(Protocol):
    """A moderation model, as those of aiservices are: it judges texts together. Sync or async."""

    def moderate(self, texts: Sequence[str], /) -> ModerationVerdict | Awaitable[ModerationVerdict]: ...


Opinion: TypeAlias = float | Verdict[Any] | ModerationVerdict
"""How objectionable a text is, from 0 to 1, or a verdict, or what a moderation model answers."""

Moderator: TypeAlias = Callable[[str], Opinion | Awaitable[Opinion]]
"""Judges a text; sync or async."""


@dataclass(frozen=True, slots=True)
class Moderated:
    """A `ModerationVerdict`, for moderators of your own."""

    flagged: bool
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Moderation:
    """Halts where a moderation flags the text, with a `ModerationError` as cause.

    `moderate` is a moderation model, or a function of the text that gives a score from 0 to 1, a verdict, or
    an object with `flagged` and `categories`; sync or async. A score of `threshold` or more is flagged.

    Catches: what the moderation flags. `texts` says what it is shown, by default the text that is judged;
    blank texts are not sent. A model is shown several texts as they are, a function with blank lines between.
    Misses: what the moderation misses; pictures and sound.
    Costs: one request of the moderation. One that fails blocks: its exception counts as `Halt`.

    Raises:
        TypeError: it is neither a model nor a function.
        ValueError: the threshold is not between 0 and 1.
    """

    moderate: TextModerator | Moderator
    texts: Callable[[GuardrailRequest[object]], Sequence[str]] = own_text
    threshold: float = 0.5

    def __post_init__(self) -> None:
        if not callable(self.moderate) and _model_behind(self.moderate) is None:
            raise TypeError(
                f"a moderation is a model or a function of the text, not a {type(self.moderate).__name__}"
            )
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"a threshold is between 0 and 1, not {self.threshold}")

    def validate(self, request: GuardrailRequest[object]) -> Verdict[Any] | Awaitable[Verdict[Any]]:
        texts = [text for text in self.texts(request) if text.strip()]
        if not texts:
            return Accept()
        model = _model_behind(self.moderate)
        if model is not None:
            return continuing(lambda: model(texts), self._verdict)
        judge = cast("Moderator", self.moderate)
        return continuing(lambda: judge("\n\n".join(texts)), self._verdict)

    def _verdict(self, opinion: Opinion) -> Verdict[Any]:
        if isinstance(opinion, (int, float)):
            return self._of_score(opinion)
        if isinstance(opinion, tuple(VERDICTS)):
            return cast("Verdict[Any]", opinion)
        moderated = cast("ModerationVerdict", opinion)
        if not hasattr(moderated, "flagged"):
            raise TypeError(
                "a moderation gives a score, a verdict or an object with flagged and categories, "
                f"not {type(opinion).__name__}"
            )
        if not moderated.flagged:
            return Accept()
        categories = tuple(moderated.categories)
        named = ", ".join(categories) or "no category"
        return Halt(f"flagged by moderation: {named}", ModerationError(categories))

    def _of_score(self, score: float) -> Verdict[Any]:
        if math.isnan(score):
            raise ValueError("the moderation's score is not a number")
        if score < self.threshold:
            return Accept()
        return Halt(
            f"flagged by moderation: score {score:.2f}, the limit is {self.threshold:.2f}", ModerationError()
        )


def _model_behind(given: object) -> Callable[[Sequence[str]], Any] | None:
    """What judges texts together: the method of a moderation model, which may stand for the model."""
    owner = getattr(given, "__self__", None)
    if owner is not None and getattr(given, "__name__", "") in {"moderate", "amoderate"}:
        return cast("Callable[[Sequence[str]], Any]", given)
    return getattr(given, "moderate", None)

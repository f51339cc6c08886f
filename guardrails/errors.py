"""What guardrails raise.

    GuardrailError            .failures: who objected, why, and the exception behind it
      InputGuardrailError     before anything was sent
      OutputGuardrailError    .validations .reasks: an answer that may not be shown
      ModerationError         .categories: a text that the moderation flagged

Messages name guardrails and their reasons, shortened; no text that was judged is in them.
"""

from __future__ import annotations

from collections.abc import Sequence

from .verdicts import Failure, Reask

_SHOWN_FAILURES = 8
_SHOWN_CHARACTERS = 240


class GuardrailError(Exception):
    """Guardrails objected. `failures` tells which, in their order; the first cause is `__cause__`."""

    def __init__(self, failures: Sequence[Failure] = ()) -> None:
        # What the class is made from is the exception's args, so that copying and pickling keep it.
        super().__init__(tuple(failures))
        self.failures = tuple(failures)

    def __str__(self) -> str:
        shown = [_shortened(str(failure)) for failure in self.failures[:_SHOWN_FAILURES]]
        left = len(self.failures) - len(shown)
        if left:
            shown.append(f"and {left} more")
        return f"{self._headline()}: " + ", ".join(shown)

    def _headline(self) -> str:
        return "Guardrails objected"


class InputGuardrailError(GuardrailError):
    """Guardrails objected to what was to be sent. Nothing was."""

    def _headline(self) -> str:
        return "The input may not be sent"


class OutputGuardrailError(GuardrailError):
    """Guardrails objected to an answer, also to those that were asked for again.

    `failures` are about the last answer, `reasks` tell what was wrong with those before it, `validations`
    how many answers were judged.
    """

    def __init__(
        self, failures: Sequence[Failure] = (), validations: int = 1, reasks: Sequence[Reask] = ()
    ) -> None:
        super().__init__(failures)
        self.args = (tuple(failures), validations, tuple(reasks))
        self.validations = validations
        self.reasks = tuple(reasks)

    def _headline(self) -> str:
        times = "1 answer" if self.validations == 1 else f"{self.validations} answers"
        return f"No answer was accepted ({times} judged)"


class ModerationError(GuardrailError):
    """A moderation flagged a text; `categories` says for what, as the moderation calls it."""

    def __init__(self, categories: Sequence[str] = (), failures: Sequence[Failure] = ()) -> None:
        super().__init__(failures or (Failure("moderation", ", ".join(categories) or "flagged"),))
        self.args = (tuple(categories), self.failures)
        self.categories = tuple(categories)

    def _headline(self) -> str:
        return "The text violates the content policy"


def _shortened(text: str) -> str:
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    half = (_SHOWN_CHARACTERS - 3) // 2
    return f"{text[:half]}...{text[-half:]}"

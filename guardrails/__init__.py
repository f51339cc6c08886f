"""Guardrails: judges of what goes to a model and of what comes back.

    class NoSecrets:
        def validate(self, request: GuardrailRequest) -> Verdict:
            if "secret" in request.text:
                return Reprompt("the answer holds a secret", "Answer again without any secret.")
            return Accept()

    check([MaxLength(500), NoSecrets()], "The sky is blue.")     # Passed(subject='The sky is blue.', ...)

Usable alone: it knows subjects and their texts, no models and no messages. Shipped guardrails are imported
when they are first named.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from .checking import acheck, check
from .enforcing import (
    DEFAULT_CONFIG,
    DEFAULT_MAX_RETRIES,
    AskAgain,
    Call,
    Judgement,
    Observer,
    OutputGuardrailsConfig,
    Validated,
    enforce_input,
    enforce_output,
    judge,
)
from .errors import GuardrailError, InputGuardrailError, ModerationError, OutputGuardrailError
from .guardrail import (
    PLAIN_TEXT,
    Guardrail,
    GuardrailLike,
    GuardrailRequest,
    Link,
    Wording,
    link,
    links,
)
from .verdicts import (
    Accept,
    ChainOutcome,
    Failure,
    Halt,
    Passed,
    Reask,
    Refused,
    Reject,
    Reprompt,
    Retry,
    Rewrite,
    Unsatisfied,
    Verdict,
)

if TYPE_CHECKING:
    from .builtin.advisory import Advisory
    from .builtin.canary import Canary, CanaryLeakError, OnLeak
    from .builtin.injection.rules import Attack
    from .builtin.json_extractor import JsonExtractor
    from .builtin.max_length import MaxLength
    from .builtin.model_prompt_injection import ModelPromptInjection, scored_by
    from .builtin.moderation import Moderated, Moderation
    from .builtin.pattern import Pattern
    from .builtin.pii import OnPii, Pii
    from .builtin.prompt_injection import PromptInjection
    from .builtin.recognizing import Found, PiiKind, Recognizer, presidio_recognizer

__all__ = [
    "DEFAULT_CONFIG",
    "DEFAULT_MAX_RETRIES",
    "PLAIN_TEXT",
    "Accept",
    "Advisory",
    "AskAgain",
    "Attack",
    "Call",
    "Canary",
    "CanaryLeakError",
    "ChainOutcome",
    "Failure",
    "Found",
    "Guardrail",
    "GuardrailError",
    "GuardrailLike",
    "GuardrailRequest",
    "Halt",
    "InputGuardrailError",
    "JsonExtractor",
    "Judgement",
    "Link",
    "MaxLength",
    "ModelPromptInjection",
    "Moderated",
    "Moderation",
    "ModerationError",
    "Observer",
    "OnLeak",
    "OnPii",
    "OutputGuardrailError",
    "OutputGuardrailsConfig",
    "Passed",
    "Pattern",
    "Pii",
    "PiiKind",
    "PromptInjection",
    "Reask",
    "Recognizer",
    "Refused",
    "Reject",
    "Reprompt",
    "Retry",
    "Rewrite",
    "Unsatisfied",
    "Validated",
    "Verdict",
    "Wording",
    "acheck",
    "check",
    "enforce_input",
    "enforce_output",
    "judge",
    "link",
    "links",
    "presidio_recognizer",
    "scored_by",
]

_SHIPPED: Final = {
    "advisory": ("Advisory",),
    "canary": ("Canary", "CanaryLeakError", "OnLeak"),
    "injection.rules": ("Attack",),
    "json_extractor": ("JsonExtractor",),
    "max_length": ("MaxLength",),
    "model_prompt_injection": ("ModelPromptInjection", "scored_by"),
    "moderation": ("Moderated", "Moderation"),
    "pattern": ("Pattern",),
    "pii": ("OnPii", "Pii"),
    "prompt_injection": ("PromptInjection",),
    "recognizing": ("Found", "PiiKind", "Recognizer", "presidio_recognizer"),
}
_HOME_OF: Final = {name: home for home, names in _SHIPPED.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".builtin.{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

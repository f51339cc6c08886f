"""What an attempt to take over a model is, and what a rule about one is.

A rule holds for folded text: lower case, without accents (also not in the rules' own words), one spelling
of each character. `needs` are words without which the expression cannot match: looking for them first is
what makes harmless texts cheap. Sources: published jailbreak collections and the OWASP list for language
models name the kinds; the wordings are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Attack(StrEnum):
    """The kinds of attempts."""

    OVERRIDE = "override"
    """Put the instructions aside."""
    ROLE = "role"
    """Become somebody without rules."""
    MODE = "mode"
    """Enter a mode that does not exist."""
    BYPASS = "bypass"
    """Switch safeguards off."""
    REVEAL = "reveal"
    """Show the system message."""
    MARKUP = "markup"
    """Pretend to be the system, in a chat template's markup."""
    ENCODING = "encoding"
    """Hide the words in an encoding."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One way of attempting something: text with one of `needs` that `regex` is found in."""

    attack: Attack
    language: str
    needs: tuple[str, ...]
    regex: str


# What may stand between the parts of a rule: a little of the same sentence.
_NEAR = r"[^.!?\n。]{0,45}?"


def rule(attack: Attack, language: str, needs: str, *parts: str) -> Rule:
    """A rule for parts that stand in one sentence, in this order, near each other; `|` divides `needs`."""
    return Rule(attack, language, tuple(needs.split("|")), _NEAR.join(parts))

"""The rules by which `PromptInjection` knows attempts to take over a model, by family of languages."""

from __future__ import annotations

from typing import Final

from .eastern import EASTERN
from .english import ANY_LANGUAGE, ENGLISH
from .northern import NORTHERN
from .romance import ROMANCE
from .rules import Attack, Rule
from .searching import RuleSearch

__all__ = ["RULES", "Attack", "Rule", "RuleSearch"]

RULES: Final[tuple[Rule, ...]] = (*ENGLISH, *ANY_LANGUAGE, *NORTHERN, *ROMANCE, *EASTERN)

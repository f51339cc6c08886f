"""Finding the rule that a text breaks, at a cost that harmless texts hardly notice."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from .rules import Rule

_WORD: Final = re.compile(r"\w+")
_LETTERS: Final = 4  # of a word's start, by which rules are looked up
_UNSPACED: Final = "\u2e80"  # from here on are the scripts that put no blanks between words
_NO_WORDS: Final = {code: " " for code in range(128) if not _WORD.match(chr(code))}


class RuleSearch:
    """Rules by the beginnings of the words they need.

    A text without any such beginning is through after one look at its words. What a rule needs but that
    starts with a sign, or is written without blanks between words, is looked for in the whole text.
    """

    __slots__ = ("_beginnings", "_by_beginning", "_rules", "_signs", "_unspaced")

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._by_beginning: dict[str, set[int]] = {}
        self._signs: list[tuple[str, int]] = []
        self._unspaced: list[tuple[str, int]] = []
        for index, rule in enumerate(self._rules):
            for needed in rule.needs:
                self._file(needed, index)
        self._beginnings = frozenset(self._by_beginning)

    def first(self, words: str) -> Rule | None:
        """The first rule, in their order, that the folded text breaks."""
        for index in sorted(self._candidates(words)):
            rule = self._rules[index]
            if any(needed in words for needed in rule.needs) and compiled(rule.regex).search(words):
                return rule
        return None

    def _file(self, needed: str, index: int) -> None:
        word = _WORD.match(needed)
        if word is None:
            self._signs.append((needed, index))
        elif needed >= _UNSPACED:
            self._unspaced.append((needed, index))
        else:
            self._by_beginning.setdefault(word.group()[:_LETTERS], set()).add(index)

    def _candidates(self, words: str) -> set[int]:
        beginnings = {word[:_LETTERS] for word in _words_in(words)}
        found: set[int] = set()
        for beginning in self._beginnings & beginnings:
            found |= self._by_beginning[beginning]
        if "<" in words or "[" in words or "#" in words:
            found.update(index for needed, index in self._signs if needed in words)
        if not words.isascii():
            found.update(index for needed, index in self._unspaced if needed in words)
        return found


def _words_in(text: str) -> list[str]:
    # For ASCII, the same as the expression and three times as fast.
    return text.translate(_NO_WORDS).split() if text.isascii() else _WORD.findall(text)


@cache
def compiled(regex: str) -> re.Pattern[str]:
    """Compiled when a text first needs it: most never are."""
    return re.compile(regex)

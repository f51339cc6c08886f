"""The words of a text, as a keyword index keeps them, and a user's text as a query for any of its words.

Whatever a text holds, it is only text: quotes, operators and brackets of a query language are no words.
Letters of scripts that are written without blanks (Chinese, Japanese) are words of their own, looked for in
pairs; so are emoji and other pictures.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Final

MOST_TERMS: Final = 500
"""A question is asked with so many of its different words, the first ones."""

_UNSPACED: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)


def words_of(text: str) -> str:
    """The text for the index, which finds the words in it: letters of unspaced scripts stand alone."""
    if text.isascii():
        return text.replace("\0", " ")
    plain = _alone().sub(lambda found: f" {_named(found)} ", unicodedata.normalize("NFKC", text))
    return _between().sub(" ", plain).replace("\0", " ")


def query_for(text: str) -> str:
    """A query of FTS5 for the segments with any of the words; empty where the text has none."""
    terms: dict[str, None] = {}
    before = ""  # the letter of an unspaced script that ends where this word begins
    words = list(_words(text))
    for number, (word, follows) in enumerate(words):
        unspaced = follows is not None
        if unspaced and follows and before:
            terms[f'"{before} {word}"'] = None
        elif not unspaced or not _is_followed(words, number):
            terms[f'"{word}"'] = None
        before = word if unspaced else ""
    return " OR ".join(list(terms)[:MOST_TERMS])


def _is_followed(words: list[tuple[str, bool | None]], number: int) -> bool:
    return number + 1 < len(words) and bool(words[number + 1][1])


def _words(text: str) -> Iterator[tuple[str, bool | None]]:
    """Each word and, for a letter of an unspaced script, whether it follows on another without a gap."""
    end = -1
    for found in _word().finditer(unicodedata.normalize("NFKC", text)):
        if found["letter"]:
            yield _named(found), found.start() == end
            end = found.end()
        else:
            yield _named(found), None


def _named(found: re.Match[str]) -> str:
    """The word itself, or of a picture or a letter that SQLite may not know its number in letters."""
    rare = found["picture"] or (found["letter"] or "") > "\uffff"
    return f"u{ord(found[0]):x}" if rare else found[0]


@cache
def _alone() -> re.Pattern[str]:
    """What is a word of its own, whatever stands beside it."""
    return re.compile(f"(?P<letter>[{_UNSPACED}])|(?P<picture>[{_of_category('So')}])")


@cache
def _between() -> re.Pattern[str]:
    """What is no part of a word. SQLite knows an older Unicode, and would take some of it for letters."""
    return re.compile(f"[^\0-\x7f\\w{_of_category('M')}]+")


@cache
def _word() -> re.Pattern[str]:
    letter = f"[^\\W_{_UNSPACED}]"
    return re.compile(f"{_alone().pattern}|{letter}(?:{letter}|[{_of_category('M')}])*")


def _of_category(category: str) -> str:
    """The letters of a category, as this Python knows it, as ranges of a character class."""
    codes = [code for code in range(0x80, 0x20000) if unicodedata.category(chr(code)).startswith(category)]
    starts = [code for code, before in zip(codes, [0, *codes], strict=False) if code != before + 1]
    ends = [code for code, after in zip(codes, [*codes[1:], 0], strict=True) if after != code + 1]
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in zip(starts, ends, strict=True))

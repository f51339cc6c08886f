"""The tokenizer of BERT: text to the numbers of word pieces, uncased."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Final

LONGEST_WORD: Final = 100
REMEMBERED_WORDS: Final = 50_000
CONTINUED: Final = "##"
# What is ASCII and neither letter, digit nor blank counts as punctuation, "$" and "^" too.
_PUNCTUATION: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_DROPPED: Final = frozenset({"Cc", "Cf", "Co"})  # unassigned characters stay, as in the reference
# The blocks of ideographs, each of which is a word. Kana and Hangul are not among them.
_IDEOGRAPHS: Final = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """Numbers the pieces of texts by a vocabulary, at most `longest` for a text with its two marks."""

    def __init__(self, vocabulary: Mapping[str, int], *, longest: int) -> None:
        if longest < 2:
            raise ValueError(f"longest must be at least 2, not {longest}")
        self._numbers = vocabulary
        self._unknown = (vocabulary["[UNK]"],)
        self._start, self._end = vocabulary["[CLS]"], vocabulary["[SEP]"]
        self._longest = longest
        self._pieces_of = lru_cache(REMEMBERED_WORDS)(self._pieces)

    def encode(self, text: str) -> list[int]:
        """The numbers of a text, between the marks of its start and end; what is too long is cut off."""
        room = self._longest - 1
        numbers = [self._start]
        for word in words(text):
            numbers += self._pieces_of(word)
            if len(numbers) >= room:
                break
        return [*numbers[:room], self._end]

    def _pieces(self, word: str) -> Sequence[int]:
        """The longest piece that fits, again and again; a word that has none is unknown as a whole."""
        if len(word) > LONGEST_WORD:
            return self._unknown
        found: list[int] = []
        start = 0
        while start < len(word):
            prefix = CONTINUED if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if prefix + word[start:end] in self._numbers), None)
            if end is None:
                return self._unknown
            found.append(self._numbers[prefix + word[start:end]])
            start = end
        return tuple(found)


def read_vocabulary() -> dict[str, int]:
    """The vocabulary of BERT, which is shipped beside this module."""
    text = files(__package__ or "").joinpath("vocabulary.txt").read_text(encoding="utf-8")
    return {piece: number for number, piece in enumerate(text.split("\n")[:-1])}


def words(text: str) -> Iterator[str]:
    """The words of a text, in lower case and without accents; each mark of punctuation is one."""
    for run in _cleaned(text).split():
        yield from _split(_plain(run))


def _cleaned(text: str) -> str:
    return "".join(map(_clean, text))


@lru_cache(REMEMBERED_WORDS)
def _clean(character: str) -> str:
    if character in "\t\n\r":
        return " "
    category = unicodedata.category(character)
    if category == "Zs":
        return " "
    if category in _DROPPED or character == "\ufffd":
        return ""
    return f" {character} " if _is_ideograph(character) else character


def _is_ideograph(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _IDEOGRAPHS)


def _plain(run: str) -> str:
    lowered = run.lower()
    if lowered.isascii():
        return lowered
    return "".join(
        each for each in unicodedata.normalize("NFD", lowered) if unicodedata.category(each) != "Mn"
    )


def _split(run: str) -> Iterator[str]:
    begun = 0
    for at, character in enumerate(run):
        if character in _PUNCTUATION or unicodedata.category(character).startswith("P"):
            if begun < at:
                yield run[begun:at]
            yield character
            begun = at + 1
    if begun < len(run):
        yield run[begun:]

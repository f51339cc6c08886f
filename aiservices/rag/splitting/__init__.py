"""Splitters: each function here makes one.

They have the same sizes: segments have at most `max_size` and repeat at most `overlap` of the one before,
counted by `counter` (characters by default; give a function of a text for tokens). Only what cannot be cut,
a single character, may be larger, and that is logged. Sizes that make no sense are refused at once, naming
both: `ValueError`, or `TypeError` where one is no whole number.

**The overlap is of whole units**, those at which the text was cut there: sentences, or words, or characters.
Where the last unit is larger than the overlap, or would leave no room for anything new, there is none.

White space between segments is left out, and a text of white space only has no segments.
"""

from __future__ import annotations

from ...memory.tokens import PER_MESSAGE, estimated_tokens
from ...messages import UserMessage
from .outlines import outline
from .packing import PackingSplitter, lines, sentences_of_paragraphs, words
from .semantic import SemanticSplitter
from .sizes import Counter, Sizes
from .splitter import Splitter

__all__ = [
    "Splitter",
    "by_line",
    "by_sentence",
    "by_token",
    "by_word",
    "code",
    "markdown",
    "recursive",
]


def recursive(max_size: int, overlap: int = 0, *, counter: Counter = len) -> Splitter:
    """Cut at the largest units that fit: paragraphs, lines, sentences, words, characters.

    The choice for most texts. Paragraphs are what blank lines part, more of them before fewer. A segment
    goes over a blank line where both sides fit into it.
    """
    return SemanticSplitter(Sizes(max_size, overlap, counter))


def by_sentence(max_size: int, overlap: int = 0, *, counter: Counter = len) -> Splitter:
    """Fill segments with whole sentences, by the rules of Unicode, also over ends of lines and blank lines.

    A sentence that does not fit is cut into words, and shares no segment with its neighbours.
    """
    return PackingSplitter(Sizes(max_size, overlap, counter), (sentences_of_paragraphs, words))


def by_line(max_size: int, overlap: int = 0, *, counter: Counter = len) -> Splitter:
    """Fill segments with whole lines.

    A line that does not fit is cut into sentences, those into words, and shares no segment with its
    neighbours.
    """
    return PackingSplitter(Sizes(max_size, overlap, counter), (lines, sentences_of_paragraphs, words))


def by_word(max_size: int, overlap: int = 0, *, counter: Counter = len) -> Splitter:
    """Fill segments with whole words, whatever stands between them.

    A word that does not fit is cut into characters, and shares no segment with its neighbours.
    """
    return PackingSplitter(Sizes(max_size, overlap, counter), (words,))


def by_token(max_size: int, overlap: int = 0, *, counter: Counter | None = None) -> Splitter:
    """Cut like `recursive`, with sizes in tokens.

    `counter` counts the tokens of a text, such as `lambda text: len(encoding.encode(text))`. By default they
    are estimated without a tokenizer, rather too many than too few, so that segments fit the model.
    """
    return SemanticSplitter(Sizes(max_size, overlap, counter or _estimated))


def markdown(max_size: int, overlap: int = 0, *, counter: Counter = len) -> Splitter:
    """Cut Markdown at headings by their level, then at rules, blocks and elements, then like `recursive`."""
    return SemanticSplitter(Sizes(max_size, overlap, counter), markdown=True)


def code(language: str, max_size: int = 1500, overlap: int = 0, *, counter: Counter = len) -> Splitter:
    """Cut a program at its definitions, then at those inside of them, at blank lines, at lines, at words.

    Comments and decorators right above a definition stay with it, and the indentation stays. `language` is
    c, cpp, csharp, go, java, javascript, kotlin, php, python, ruby, rust, scala, sql, swift or typescript;
    another one is a `ValueError`. Definitions are known by how their first lines look, without a parser.
    """
    return PackingSplitter(Sizes(max_size, overlap, counter), outline(language))


def _estimated(text: str) -> int:
    return estimated_tokens((UserMessage(text),)) - PER_MESSAGE

"""Finding the items of a list in what a model says, while it says it: in an array, or line by line."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from pydantic_core import from_json

from .decoding import dumped, unbracketed
from .extracting import ARRAY_OF_WORDS_OPENING, ARRAY_OPENING, FENCE, end_of_block
from .splitting import ArrayItems

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from .classifying import Wire

_ENVELOPE = re.compile(r'\{\s*"values"\s*:\s*\[')
_SHORTEST_ENVELOPE = '{"values":['
_BLANKS = " \t\r"
_STARTS_OTHERWISE = ('"', "{")


class Found(NamedTuple):
    """The JSON of an item, and whether it was a line of text."""

    json: str
    is_line: bool


class Finder:
    """Takes what is said, and gives the JSON of each item that is complete.

    It trusts the first array it meets, or the first line where items may be lines: the reader who knows the
    rest must ask `own` afterwards.
    """

    def __init__(self, wire: Wire, *, bare_words: bool) -> None:
        self.items: ArrayItems | None = None
        self._wire = wire
        self._opening = ARRAY_OF_WORDS_OPENING if bare_words and not wire.verbatim else ARRAY_OPENING
        self._said: list[str] = []
        self._length = 0
        self._start = 0
        self._window = ""
        self._before = "\n"
        self._line: list[str] = []
        self._lines: list[str] = []
        self._introduction: list[str] = []
        self._distrusted = False
        self._fence = ""
        self._state: Callable[[str], Generator[Found, None, str]] = self._seek

    def feed(self, said: str) -> Iterator[Found]:
        """The items that this piece completes; `distrust` may be called between them."""
        self._said.append(said)
        self._length += len(said)
        while said:
            said = yield from self._state(said)

    def finish(self) -> Iterator[Found]:
        """The item that is complete because nothing follows."""
        if self._lines and self._state == self._seek and not self._fence:
            yield from self._take_line("".join(self._line) + self._window)

    def distrust(self) -> None:
        """The item given last is none: an array begins elsewhere if at all, lines begin after a fence."""
        self._lines.clear()
        self._distrusted = True
        if self.items is not None:
            self.items, self._state = None, self._ignore

    @property
    def unfinished(self) -> str | None:
        """What there is of an item when the array is not closed; None when it is, or there is none."""
        cut_off = self.items is not None and not (self.items.over or self.items.malformed)
        return self.items.unfinished if self.items is not None and cut_off else None

    def own(self) -> str | bytes:
        """What was read, as JSON: the block that held the array, or the lines."""
        if self.items is None:
            return dumped(self._lines)
        said = "".join(self._said)
        block = said[self._start : end_of_block(said, self._start)]
        return block if _holds_one_list(block) else ""

    def _seek(self, text: str) -> Generator[Found, None, str]:
        window, self._window = self._window + text, ""
        newline = window.find("\n") if self._wire.takes_text else -1
        limit = len(window) if newline < 0 else newline + 1
        rest = self._array_in(window, limit)
        if rest is not None:
            return rest
        if newline < 0:
            self._keep(window)
            return ""
        line = "".join(self._line) + window[:limit]
        self._line, self._before = [], "\n"
        yield from self._take_line(line)
        return window[limit:]

    def _ignore(self, text: str) -> Generator[Found, None, str]:
        yield from ()
        return ""

    def _array_in(self, window: str, limit: int) -> str | None:
        """What follows the bracket of an array that begins in the window; None when none does."""
        if self._lines:
            return None
        for opening in self._opening.finditer(window):
            start = opening.start()
            if start >= limit:
                return None
            if self._wire.verbatim and not self._is_alone(window[:start]):
                continue
            if opening.lastindex:
                return self._wait(window, start)
            if window[start] == "[":
                return self._begin(window, start, start + 1)
            envelope = _ENVELOPE.match(window, start)
            if envelope:
                return self._begin(window, start, envelope.end())
            if _SHORTEST_ENVELOPE.startswith("".join(window[start:].split())):
                return self._wait(window, start)
            self._state = self._ignore  # the end will tell what this object is
            return ""
        return None

    def _is_alone(self, before: str) -> bool:
        return (before.rstrip(_BLANKS)[-1:] or self._before) in "\n:"

    def _keep(self, part: str) -> None:
        """Keep the beginning of a line."""
        self._line.append(part)
        self._before = part.rstrip(_BLANKS)[-1:] or self._before

    def _wait(self, window: str, start: int) -> str:
        self._keep(window[:start])
        self._window = window[start:]
        return ""

    def _begin(self, window: str, start: int, after: int) -> str:
        self._start = self._length - len(window) + start
        self.items = ArrayItems()
        self._state = self._array
        return window[after:]

    def _array(self, text: str) -> Generator[Found, None, str]:
        items = self.items
        if items is None:
            return ""
        whole = items.feed(text)
        for item in (*whole, "") if items.malformed else whole:
            yield Found(item, is_line=False)
            if self.items is None:
                return ""
        if items.over:
            self._state = self._ignore
        return ""

    def _take_line(self, line: str) -> Generator[Found, None, None]:
        mark = FENCE.match(line.rstrip("\n"))
        if self._fence:
            if line.strip().startswith(self._fence) and not line.strip(" \t\r\n`~"):
                self._state = self._ignore
                return
        elif mark and not self._lines:
            self._fence, self._distrusted, self._introduction = mark.group(1), False, []
            return
        for text in filter(None, map(str.strip, line.splitlines())):
            yield from self._take_text(text)

    def _take_text(self, text: str) -> Generator[Found, None, None]:
        if self._distrusted or self._state == self._ignore:
            return
        if not self._lines and text.startswith(_STARTS_OTHERWISE):
            self._state = self._ignore  # the end will tell what this is
        elif self._introduces(text):
            self._introduction = [text]
        else:
            introduction, self._introduction = self._introduction, []
            for item in (*introduction, text):
                bare = item if self._wire.verbatim else unbracketed(item)
                self._lines.append(bare)
                yield Found(json.dumps(bare, ensure_ascii=False), is_line=True)

    def _introduces(self, text: str) -> bool:
        """Whether an array or a fence may follow a line that any text may be: `Here you are:`."""
        at_start = not (self._lines or self._introduction or self._fence)
        return at_start and self._wire.verbatim and text.endswith(":")


def _holds_one_list(block: str) -> bool:
    """Whether nothing in an envelope replaces the list that was read: another one under the same key."""
    envelope = _ENVELOPE.match(block)
    if envelope is None:
        return True
    start = envelope.end() - 1
    end = end_of_block(block, start)
    if end is None or block[end:].strip() == "}":
        return True
    try:
        held: object = from_json(block, allow_inf_nan=False)["values"]
    except ValueError:
        return False
    return bool(held == from_json(block[start:end], allow_inf_nan=False))

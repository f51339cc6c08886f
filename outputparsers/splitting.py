"""Taking the array of an answer apart while it arrives: the JSON of each item, as soon as it is complete."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_GAP = re.compile(r"[ \t\r\n]*")
_MARK = re.compile(r'["{}\[\]]')
_TEXT = re.compile(r'(?:[^"\\]++|\\.)*+', re.DOTALL)
_WORD = re.compile(r"[^\s,\]}]*")


class ArrayItems:
    """Takes the text after the bracket that opens an array; only looks for where items end.

    `over` tells that the array has ended; `malformed`, that it went on as no array does.
    """

    def __init__(self) -> None:
        self.over = self.malformed = False
        self._depth = 0
        self._parts: list[str] = []
        self._rest = ""
        self._start: int | None = None
        self._after_comma = False
        self._whole: list[str] = []
        self._step: Callable[[str, int], int] = self._before_item

    @property
    def unfinished(self) -> str:
        """What has arrived of the item that is not complete."""
        return "".join(self._parts) + self._rest

    def feed(self, text: str) -> list[str]:
        """The items this piece completes."""
        text = self._rest + text
        self._start = None if self._start is None else 0
        reached = 0
        while reached < len(text) and not (self.over or self.malformed):
            position, step = reached, self._step
            reached = step(text, position)
            if reached == position and self._step is step:
                break  # the rest is the beginning of something
        if self._start is not None:
            self._parts.append(text[self._start : reached])
        self._rest = text[reached:]
        whole, self._whole = self._whole, []
        return whole

    def _before_item(self, text: str, position: int) -> int:
        position = _end(_GAP, text, position)
        mark = text[position : position + 1]
        if not mark:
            return position
        if mark == "]":
            self.over, self.malformed = True, self._after_comma
        elif mark in ",}:":
            self.malformed = True
        else:
            self._start = position
            return self._begin(mark, text, position)
        return position + 1

    def _begin(self, mark: str, text: str, position: int) -> int:
        if mark in "{[":
            self._depth, self._step = 1, self._inside
        elif mark == '"':
            self._step = self._text
        else:
            self._step = self._word
            return self._word(text, position)
        return position + 1

    def _inside(self, text: str, position: int) -> int:
        found = _MARK.search(text, position)
        if found is None:
            return len(text)
        mark = found.group()
        if mark == '"':
            self._step = self._text
            return found.end()
        # Brackets are counted, not matched: an item in which they do not match is no JSON anyway.
        self._depth += 1 if mark in "{[" else -1
        if not self._depth:
            self._finish(text, found.end())
        return found.end()

    def _text(self, text: str, position: int) -> int:
        end = _end(_TEXT, text, position)
        if text[end : end + 1] != '"':
            return end
        if self._depth:
            self._step = self._inside
        else:
            self._finish(text, end + 1)
        return end + 1

    def _word(self, text: str, position: int) -> int:
        end = _end(_WORD, text, position)
        if end < len(text):
            self._finish(text, end)
        return end

    def _finish(self, text: str, end: int) -> None:
        self._whole.append("".join(self._parts) + text[self._start : end])
        self._parts = []
        self._start = None
        self._step = self._after_item

    def _after_item(self, text: str, position: int) -> int:
        position = _end(_GAP, text, position)
        mark = text[position : position + 1]
        if mark == ",":
            self._after_comma, self._step = True, self._before_item
        elif mark == "]":
            self.over = True
        elif mark:
            self.malformed = True
        return position + len(mark)


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Where a pattern that matches anything, be it nothing, ends."""
    match = pattern.match(text, position)
    return match.end() if match else position

"""A JSON value read while it arrives: what is complete is read once, the innermost part again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic_core import from_json, to_json

from .frames import ArrayFrame, ObjectFrame
from .places import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .places import Place

_GAP = re.compile(r"[ \t\r\n]*")
_KEY = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_SCALAR = re.compile(r"[-+.\w]*")
_STABLE = re.compile(
    r'(?:[^"\\]++|\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}'
    r"|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}))*+"
)
"""Characters of a text that mean the same whatever follows."""
_LONGEST_ESCAPE = 12
_LONGEST_WORD = 4_096
_DEEPEST = 200


class Growth:
    """The value of one place, growing. It says no more after a character that JSON does not have there."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._stack: list[ObjectFrame | ArrayFrame] = []
        self._rest = ""
        self._text: str | None = None
        self._step: Callable[[str, int], int] | None = self._value
        self._last: object = MISSING
        self._news = False

    @property
    def over(self) -> bool:
        """Whether nothing more can come."""
        return self._step is None

    @property
    def path(self) -> str:
        """Where reading stands: `.pets[2].name`, empty for the value as a whole."""
        inside = self._step in (self._value, self._string, self._colon)
        frames = self._stack if inside else self._stack[:-1]
        return "".join(frame.path for frame in frames)

    def stop(self) -> None:
        """Say nothing more."""
        self._step = None

    def feed(self, text: str) -> object:
        """The value so far; MISSING when there is nothing new to say."""
        text = self._rest + text if self._rest else text
        position = 0
        while self._step is not None and position < len(text):
            position = _GAP.match(text, position).end() if self._text is None else position  # type: ignore[union-attr]
            before = position
            step = self._step
            position = step(text, position) if position < len(text) else position
            if position == before and self._step is step:
                break  # the rest is the beginning of something
        self._rest = text[position:]
        return self._snapshot()

    def _snapshot(self) -> object:
        if not self._news:
            return MISSING
        self._news = False
        value: object = self._last
        if self._stack:
            here = self._stack[-1].here
            value = self._text if self._text is not None and here.text else MISSING
        for frame in reversed(self._stack):
            value = frame.shown(value)
        return value

    def _value(self, text: str, position: int) -> int:
        mark = text[position]
        if mark in "{[":
            return self._open(mark, position)
        if mark == '"':
            self._text, self._step = "", self._string
            self._tell(whole=False)
            return position + 1
        if mark == "]" and self._stack and isinstance(self._stack[-1], ArrayFrame):
            return self._close(position)
        end = _SCALAR.match(text, position).end()  # type: ignore[union-attr]
        if end == len(text):
            return position if end - position <= _LONGEST_WORD else self._stop(position)  # it may go on
        if end == position:
            return self._stop(position)
        self._add(self._here().scalar(text[position:end]))
        return end

    def _open(self, mark: str, position: int) -> int:
        if len(self._stack) == _DEEPEST:
            return self._stop(position)
        here = self._here()
        if mark == "{":
            self._stack.append(ObjectFrame(here.objects, whole))
            self._step = self._key
        else:
            self._stack.append(ArrayFrame(here.arrays))
        self._tell(whole=True)  # an empty one is seen, too
        return position + 1

    def _key(self, text: str, position: int) -> int:
        if text[position] == "}":
            return self._close(position)
        match = _KEY.match(text, position)
        if match is None:
            going_on = text[position] == '"' and len(text) - position <= _LONGEST_WORD
            return position if going_on else self._stop(position)
        key = _decoded(match.group(1))
        frame = self._stack[-1]
        if key is None or not isinstance(frame, ObjectFrame):
            return self._stop(position)
        plan = frame.plan
        frame.enter(key)
        if frame.plan is not plan:
            self._tell(whole=False)
        self._step = self._colon
        return match.end()

    def _colon(self, text: str, position: int) -> int:
        if text[position] != ":":
            return self._stop(position)
        self._step = self._value
        return position + 1

    def _after(self, text: str, position: int) -> int:
        in_object = isinstance(self._stack[-1], ObjectFrame)
        mark = text[position]
        if mark == ",":
            self._step = self._key if in_object else self._value
            return position + 1
        return self._close(position) if mark == ("}" if in_object else "]") else self._stop(position)

    def _string(self, text: str, position: int) -> int:
        end = _STABLE.match(text, position).end()  # type: ignore[union-attr]
        grown = _decoded(text[position:end])
        if grown is None or self._text is None:
            return self._stop(position)
        self._text += grown
        here = self._here()
        if end < len(text) and text[end] == '"':
            value = self._text if here.text else here.scalar(to_json(self._text).decode())
            self._text = None
            self._add(value)
            return end + 1
        if grown and here.text:
            self._tell(whole=False)
        return end if len(text) - end < _LONGEST_ESCAPE else self._stop(end)

    def _here(self) -> Place:
        return self._stack[-1].here if self._stack else self._place

    def _add(self, value: object, *, news: bool = True) -> None:
        if not self._stack:
            self._last, self._step = value, None
            self._news = self._news or (news and value is not MISSING)
            return
        self._step = self._after
        top = self._stack[-1]
        was_mute = top.plan.mute
        top.add(value)
        if was_mute or top.whole_only or (news and value is not MISSING):
            self._tell(whole=True)

    def _close(self, position: int) -> int:
        value, news = self._stack.pop().ended()
        self._add(value, news=news)
        return position + 1

    def _stop(self, position: int) -> int:
        self._step = None
        return position

    def _tell(self, *, whole: bool) -> None:
        """Something has come that is seen from outside, unless one of the containers around hides it."""
        if not self._stack:
            return  # a scalar alone is told when it is complete
        *outer, top = self._stack
        hidden = top.plan.mute or (top.whole_only and not whole)
        self._news = self._news or not (hidden or any(f.plan.mute or f.whole_only for f in outer))


def whole(place: Place, value: object) -> object:
    """A JSON value as the value of a place."""
    growth = Growth(place)
    grown = growth.feed(to_json(value).decode() + " ")
    return grown if growth.over else MISSING


def _decoded(content: str) -> str | None:
    if "\\" not in content:
        return content
    try:
        return str(from_json(f'"{content}"'))
    except ValueError:
        return None

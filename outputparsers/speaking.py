"""What a model says to the reader, while it arrives: thoughts and channel markers are left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_MARKS = ("<think", "<|channel|>", "<|start|>")
_THOUGHT = re.compile(r"\s*<(think|thinking)>", re.IGNORECASE)
_FINAL = re.compile(r"<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_END_OF_MESSAGE = re.compile(r"<\|(?:end|return|call|start)\|>")
_CHANNEL = "<|channel|>"
_MESSAGE_MARK = "<|"
_LONGEST_MARK = 12


class Speech:
    """Takes an answer piece by piece and gives what is said in it, as `spoken_text` does for a whole one."""

    def __init__(self) -> None:
        self._held = ""
        self._closing = ""
        self._hear: Callable[[str], str] = self._beginning

    def feed(self, piece: str) -> str:
        """What this piece adds to what is said."""
        return self._hear(piece)

    def _beginning(self, piece: str) -> str:
        self._held += piece
        start = self._held.lstrip().lower()
        if any(mark.startswith(start) for mark in _MARKS):
            return ""
        if not start.startswith(_MARKS):
            return self._go_on(self._plain)
        if start.startswith("<|"):
            return self._go_on(self._channels)
        thought = _THOUGHT.match(self._held)
        if thought is None:
            # `<thinkin`, or another word that begins like it: then it is said.
            return "" if "<thinking>".startswith(start) else self._go_on(self._plain)
        self._closing = f"</{thought.group(1).lower()}>"
        return self._go_on(self._thinking)

    def _go_on(self, hear: Callable[[str], str]) -> str:
        held, self._held, self._hear = self._held, "", hear
        return hear(held)

    def _plain(self, piece: str) -> str:
        return piece

    def _thinking(self, piece: str) -> str:
        self._held += piece
        end = self._held.lower().find(self._closing)
        if end < 0:
            self._held = self._held[-_LONGEST_MARK:]
            return ""
        self._held = self._held[end + len(self._closing) :]
        return self._go_on(self._after_thought)

    def _after_thought(self, piece: str) -> str:
        said = piece.lstrip()
        if said:
            self._hear = self._plain
        return said

    def _channels(self, piece: str) -> str:
        self._held += piece
        final = _FINAL.search(self._held)
        if final is None:
            last = self._held.rfind(_CHANNEL)
            self._held = self._held[last if last >= 0 else -_LONGEST_MARK :]
            return ""
        self._held = self._held[final.end() :]
        return self._go_on(self._message)

    def _message(self, piece: str) -> str:
        text = self._held + piece
        end = _END_OF_MESSAGE.search(text)
        if end is not None:
            self._hear = self._silent
            return text[: end.start()]
        mark = text.rfind("<", max(0, len(text) - _LONGEST_MARK))
        mark = len(text) if mark < 0 else mark
        self._held = text[mark:]
        return text[:mark]

    def _silent(self, piece: str) -> str:
        return ""

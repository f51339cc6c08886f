"""Telling the channels of a text apart: some models mark them in the text, and not every server reads them.

<|channel|>analysis<|message|>Let me see.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>
"""

from __future__ import annotations

import re
from typing import Final

_OPENINGS: Final = ("<|channel|>", "<|start|>")
_MARK: Final = re.compile(r"<\|(\w+)\|>")
_PART_OF_MARK: Final = re.compile(r"<(\|\w*\|?)?\Z")


class Channels:
    """Reads a text piece by piece and gives `(whether it is thought, piece)`; plain texts pass unchanged."""

    __slots__ = ("_held", "_mark", "_marked", "_thought")

    def __init__(self) -> None:
        self._held = ""
        self._mark = ""  # the last one met: what follows `message` is said, what follows `channel` names it
        self._marked: bool | None = None  # not known before the first few characters have come
        self._thought = False

    @property
    def may_be_marked(self) -> bool:
        """Whether the text has marks, or may still turn out to begin with one."""
        return self._marked is not False

    def feed(self, piece: str) -> list[tuple[bool, str]]:
        """What can be said for certain after this piece."""
        if self._marked is False:
            return [(False, piece)]
        self._held += piece
        if self._marked is None:
            self._marked = _begins_marked(self._held)
        if self._marked is None:
            return []
        return self._split() if self._marked else self.finish()

    def finish(self) -> list[tuple[bool, str]]:
        """What was held back, and turned out to be no mark."""
        rest, self._held = self._held, ""
        is_said = not self._marked or self._mark == "message"
        return [(self._thought, rest)] if rest and is_said else []

    def _split(self) -> list[tuple[bool, str]]:
        found: list[tuple[bool, str]] = []
        while mark := _MARK.search(self._held):
            before, self._held = self._held[: mark.start()], self._held[mark.end() :]
            if self._mark == "channel":
                self._thought = not before.startswith("final")
            elif self._mark == "message" and before:
                found.append((self._thought, before))
            self._mark = mark[1]
        if self._mark == "message":
            partial = _PART_OF_MARK.search(self._held)
            end = partial.start() if partial else len(self._held)
            ready, self._held = self._held[:end], self._held[end:]
            found += [(self._thought, ready)] if ready else []
        return found


def _begins_marked(text: str) -> bool | None:
    if text.startswith(_OPENINGS):
        return True
    return None if any(opening.startswith(text) for opening in _OPENINGS) else False


def split_channels(text: str) -> tuple[str | None, str]:
    """A whole text's `(thinking, answer)`."""
    channels = Channels()
    pieces = channels.feed(text) + channels.finish()
    thinking = "".join(piece for thought, piece in pieces if thought)
    return thinking or None, "".join(piece for thought, piece in pieces if not thought)

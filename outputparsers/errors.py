"""What can go wrong, for callers and for models.

ValueError
OutputParsingError       an answer is not a value of the type; its text may be sent back to the model
TypeError
UnsupportedTypeError     a type no parser can be built for; raised when the parser is built
UserWarning
AmbiguousUnionWarning    a union whose arms no answer can tell apart
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN_PROBLEMS = 8
_SHOWN_CHARACTERS = 240


@dataclass(frozen=True, slots=True)
class Problem:
    """One complaint about an answer: where (`items[2].price`, empty for the whole) and what."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class OutputParsingError(ValueError):
    """An answer that is not a value of the wanted type.

    `text` is the whole answer (None when there was none), `expected` names the type, `problems` says what is
    wrong and where. The message holds the problems but never the whole answer, and its length is bounded.
    """

    def __init__(self, text: str | None, expected: str, problems: Sequence[Problem] = ()) -> None:
        # All three are the exception's args, so that copying and pickling keep them.
        super().__init__(text, expected, tuple(problems))
        self.text = text
        self.expected = expected
        self.problems = tuple(problems)

    def __str__(self) -> str:
        shown = [shortened(str(problem)) for problem in self.problems[:_SHOWN_PROBLEMS]]
        left = len(self.problems) - len(shown)
        if left:
            shown.append(f"and {left} more")
        return f"Failed to parse the answer as {shortened(self.expected)}: " + "; ".join(shown)


class UnsupportedTypeError(TypeError):
    """A type no answer can be parsed as; the text says which, why, and what to write instead."""


class AmbiguousUnionWarning(UserWarning):
    """Two arms of a union look the same to a model, so the first always wins."""


def shortened(text: str, limit: int = _SHOWN_CHARACTERS) -> str:
    """`text`, cut in the middle when it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    half = (limit - 3) // 2
    return f"{text[:half]}...{text[-half:]}"

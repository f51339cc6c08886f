"""How large a segment may be, and in what that is counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Counter: TypeAlias = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Sizes:
    """At most `largest` per segment, of which at most `overlap` repeats the end of the one before.

    Raises `ValueError` for sizes that cannot be kept to, `TypeError` for those that are no whole numbers.
    """

    largest: int
    overlap: int
    counter: Counter

    def __post_init__(self) -> None:
        said = f"max_size={self.largest!r}, overlap={self.overlap!r}"
        for number in (self.largest, self.overlap):
            if isinstance(number, bool) or not isinstance(number, int):
                raise TypeError(f"sizes are whole numbers, not {said}")
        if self.largest < 1:
            raise ValueError(f"max_size must be at least 1: {said}")
        if not 0 <= self.overlap < self.largest:
            raise ValueError(f"overlap must be at least 0 and less than max_size: {said}")

"""Collecting everything that is wrong with a declaration, instead of stopping at the first mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..errors import ConfigurationError

T = TypeVar("T")


class Complaint(Exception):  # noqa: N818 - never leaves this package
    """One mistake, in words that say where it is and what to write instead."""


class Complaints:
    """The mistakes found so far. `final` is false while something may still be supplied later."""

    def __init__(self, *, final: bool) -> None:
        self.final = final
        self._problems: list[str] = []

    def add(self, where: str, problem: object) -> None:
        self._problems.append(f"{where}: {problem}")

    def collected(self, where: str, read: Callable[[], T]) -> T | None:
        """What `read` gives, or `None` when it raises a complaint, which is kept."""
        try:
            return read()
        except Complaint as complaint:
            self.add(where, complaint)
            return None

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence each."""
        return tuple(self._problems)

    def __len__(self) -> int:
        return len(self._problems)

    def raise_any(self) -> None:
        if self._problems:
            raise ConfigurationError(self._problems)

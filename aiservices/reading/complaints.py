"""Collecting everything that is wrong with a declaration, instead of stopping at the first mistake."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import ConfigurationError


class Complaint(Exception):  # noqa: N818 - never leaves this package
    """One mistake, in words that say where it is and what to write instead."""


class Complaints:
    """The mistakes found so far. `final` is false while something may still be supplied later."""

    def __init__(self, *, final: bool) -> None:
        self.final = final
        self._problems: list[str] = []

    def add(self, where: str, problem: object) -> None:
        self._problems.append(f"{where}: {problem}")

    @contextmanager
    def at(self, where: str) -> Iterator[None]:
        """Collect a complaint raised inside; what follows inside it is skipped."""
        try:
            yield
        except Complaint as complaint:
            self.add(where, complaint)

    def __len__(self) -> int:
        return len(self._problems)

    def raise_any(self) -> None:
        if self._problems:
            raise ConfigurationError(self._problems)

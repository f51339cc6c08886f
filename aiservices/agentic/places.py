"""Where a call stands in the tree of calls of a run."""

from __future__ import annotations

from dataclasses import dataclass

from .scope import Numbers


@dataclass(frozen=True, slots=True)
class Place:
    """`path` tells it to people, `numbers` tell two calls of one agent apart, also after a crash."""

    path: str
    numbers: Numbers = ()

    def within(self, name: str, number: int) -> Place:
        """The place of a call that the agent here makes."""
        return Place(f"{self.path}/{name}", (*self.numbers, number))

    @property
    def id(self) -> str:
        """Names the call within its run, and only it."""
        return ".".join(map(str, self.numbers))

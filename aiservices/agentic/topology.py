"""How the agents of a composite hang together, for those who draw it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

Told: TypeAlias = "Callable[..., Any] | str"
"""A condition: the function, which is put in words where it is drawn, or the words."""


@dataclass(frozen=True, slots=True)
class InOrder:
    """One after another."""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """All at once."""


@dataclass(frozen=True, slots=True)
class ForEach:
    """Once for each item under the key `items`, all at once."""

    items: str


@dataclass(frozen=True, slots=True)
class Rounds:
    """In order, `most` times at most, or until a condition holds."""

    most: int
    until: Told | None = None
    each_agent: bool = True


@dataclass(frozen=True, slots=True)
class Branches:
    """Those whose conditions hold, or only the first of them.

    `None` stands for a condition that always holds. An agent after those that have one runs where none holds.
    """

    conditions: tuple[Told | None, ...]
    first_match: bool = False


@dataclass(frozen=True, slots=True)
class Chosen:
    """Any of them at any time, as a planner decides; `by` is its name."""

    by: str = ""


Topology: TypeAlias = InOrder | SideBySide | ForEach | Rounds | Branches | Chosen
"""How the agents of a composite hang together."""


def topology_of(planner: Callable[..., Any]) -> Topology:
    """What a planner's class says of itself, found behind options that it was given; else that it decides."""
    made = planner.func if isinstance(planner, partial) else planner
    return getattr(made, "topology", None) or Chosen(getattr(made, "__name__", ""))

"""A child made by `fork` has none of its parent's threads: what they held is reset there."""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Resettable(Protocol):
    """Keeps something that belongs to one process."""

    def reset_in_child(self) -> None:
        """Start anew; runs in the child, where there is one thread only."""
        ...


_inherited: WeakSet[Resettable] = WeakSet()
reset_in_children = _inherited.add


def _reset_all() -> None:
    for each in _inherited:
        each.reset_in_child()


os.register_at_fork(after_in_child=_reset_all)

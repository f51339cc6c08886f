"""Which skills are put away once a model has read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Ids = TypeVar("Ids", bound=Sequence[str])


@dataclass(frozen=True, slots=True)
class Unload:
    """What leaves the active skills after a model call that succeeded; made by one of its four methods."""

    leaves: Callable[[str], bool]

    @classmethod
    def none(cls) -> Unload:
        """Nothing: what is active stays for the life of the thread."""
        return _NONE

    @classmethod
    def all(cls) -> Unload:
        """Everything: a skill is read in one model call."""
        return _ALL

    @classmethod
    def ids(cls, *ids: str | None) -> Unload:
        """These ids; `None` among them is nothing. Raises `TypeError` for what is no id, such as a list."""
        if strange := [id for id in ids if not isinstance(id, str | None)]:
            raise TypeError(f"Unload.ids({strange[0]!r}): give each id by itself")
        return cls(frozenset(id for id in ids if id is not None).__contains__)

    @classmethod
    def matching(cls, predicate: Callable[[str], bool]) -> Unload:
        """The ids for which a function says so. Raises `TypeError` for what cannot be called."""
        if not callable(predicate):
            raise TypeError(f"Unload.matching({predicate!r}): give a function of an id")
        return cls(predicate)

    def apply(self, ids: Ids) -> Ids:
        """The ids that stay, in order; the same object when nothing goes. The given one is never changed."""
        kept = [id for id in ids if not self.leaves(id)]
        if len(kept) == len(ids):
            return ids
        return kept if isinstance(ids, list) else type(ids)(kept)  # type: ignore[return-value, call-arg]


_NONE = Unload(lambda id: False)
_ALL = Unload(lambda id: True)

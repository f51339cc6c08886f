"""Filters in the language of a database, as far as it can say the same.

What comes of it is never narrower than the filter: rows that match are always found, and of others so few
as can be. `Filter.matches` judges what was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, assert_never

from ..filters import Among, And, Contains, Leaf, Node, Not, Or, Ordered

Condition = TypeVar("Condition")


@dataclass(frozen=True, slots=True)
class Translation(Generic[Condition]):
    """A condition that holds at least where the filter does; `None` holds everywhere.

    `exact` tells that it holds nowhere else. Rows with odd metadata are left out of both.
    """

    condition: Condition | None
    exact: bool


class Language(Protocol[Condition]):
    """What a database can say."""

    def leaf(self, leaf: Leaf) -> Translation[Condition]:
        """A comparison of one key; false, and not unknown, where the key is missing."""
        ...

    def all_of(self, conditions: list[Condition]) -> Condition:
        """All of at least one condition."""
        ...

    def any_of(self, conditions: list[Condition]) -> Condition:
        """One of at least one condition."""
        ...

    def opposite(self, condition: Condition) -> Condition:
        """Where the condition does not hold."""
        ...


def translated(node: Node, language: Language[Condition]) -> Translation[Condition]:
    """The filter in a database's language."""
    match node:
        case Among() | Ordered() | Contains():
            return language.leaf(node)
        case Not(filter=inner):
            found = translated(inner, language)
            if found.condition is None or not found.exact:  # the opposite of too much would be too little
                return Translation(None, exact=False)
            return Translation(language.opposite(found.condition), exact=True)
        case And(filters=filters):
            parts = [translated(each, language) for each in filters]
            said = [each.condition for each in parts if each.condition is not None]
            exact = all(each.exact for each in parts)
            return Translation(language.all_of(said) if said else None, exact)
        case Or(filters=filters):
            parts = [translated(each, language) for each in filters]
            said = [each.condition for each in parts if each.condition is not None]
            if len(said) < len(parts):
                return Translation(None, exact=False)
            return Translation(language.any_of(said), all(each.exact for each in parts))
        case _:
            assert_never(node)

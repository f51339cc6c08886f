"""Filters as Qdrant's conditions on what a point's payload keeps of its metadata."""

from __future__ import annotations

from math import isinf
from typing import Final, TypeAlias, assert_never

from qdrant_client import models

from ...comparing import Comparable, Kind
from ...filters import Among, Contains, Leaf, Node, Order, Ordered
from ..codes import code_of, is_odd
from ..translating import Translation, translated
from .points import element_facet, number_of, number_path, value_facet

Condition: TypeAlias = models.Condition

ODD: Final = models.FieldCondition(key="odd", match=models.MatchValue(value=True))
NOTHING: Final = models.HasIdCondition(has_id=[])


def condition_for(node: Node | None) -> models.Filter | None:
    """A condition for at least the points that match; `None` for all. Odd ones are always among them."""
    found = None if node is None else translated(node, _Payload()).condition
    return None if found is None else models.Filter(should=[found, ODD])


class _Payload:
    """Conditions on the payload."""

    def leaf(self, leaf: Leaf) -> Translation[Condition]:
        if is_odd(leaf.key):
            return Translation(NOTHING, exact=True)  # only odd points have it
        match leaf:
            case Among(key=key, wanted=wanted):
                codes = [each for value in wanted if (each := code_of(value)) is not None]
                return Translation(_any([value_facet(key, each) for each in codes]), exact=True)
            case Ordered(key=key, order=order, bound=bound):
                return _ordered(key, order, bound)
            case Contains(key=key, part=part):
                return _contains(key, part)
            case _:
                assert_never(leaf)

    def all_of(self, conditions: list[Condition]) -> Condition:
        return models.Filter(must=conditions)

    def any_of(self, conditions: list[Condition]) -> Condition:
        return models.Filter(should=conditions)

    def opposite(self, condition: Condition) -> Condition:
        return models.Filter(must_not=[condition])


def _any(facets: list[str]) -> Condition:
    if not facets:
        return NOTHING
    return models.FieldCondition(key="facets", match=models.MatchAny(any=facets))


def _contains(key: str, part: Comparable | None) -> Translation[Condition]:
    code = None if part is None else code_of(part)
    if part is None or code is None:
        return Translation(NOTHING, exact=True)  # no value that is not odd has it
    if part.kind is Kind.TEXT:
        return Translation(None, exact=False)  # parts of texts are not among what Qdrant compares exactly
    return Translation(_any([element_facet(key, code)]), exact=True)


def _ordered(key: str, order: Order, bound: Comparable | None) -> Translation[Condition]:
    """The numbers on one side of the bound and, as they are rounded, next to it."""
    if bound is None:
        return Translation(NOTHING, exact=True)
    number = number_of(bound)
    if number is None:
        return Translation(None, exact=False)
    if isinf(number):
        return Translation(None, exact=False)
    below = order in (Order.LESS, Order.AT_MOST)
    side = models.Range(lte=number) if below else models.Range(gte=number)
    return Translation(models.FieldCondition(key=number_path(bound.kind, key), range=side), exact=False)

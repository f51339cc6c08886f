"""Filters as conditions on the codes that a row keeps of its metadata."""

from __future__ import annotations

from typing import Any, TypeAlias, assert_never

from sqlalchemy import ColumnElement, Table, and_, false, func, not_, or_

from ...comparing import Comparable, Kind
from ...filters import Among, Contains, Leaf, Node, Order, Ordered
from ..codes import code_of, is_odd
from ..translating import Translation, translated

Sql: TypeAlias = ColumnElement[bool]


def condition_for(node: Node | None, table: Table) -> Sql | None:
    """A condition for at least the rows that match; `None` for all. Odd rows are always among them."""
    if node is None:
        return None
    found = translated(node, _Jsonb(table)).condition
    return None if found is None else or_(found, table.c.odd)


class _Jsonb:
    """Conditions on two columns of type `jsonb`."""

    def __init__(self, table: Table) -> None:
        self._values, self._elements = table.c["values"], table.c.elements

    def leaf(self, leaf: Leaf) -> Translation[Sql]:
        if is_odd(leaf.key):
            return Translation(false(), exact=True)  # only odd rows have it
        code = self._values[leaf.key].astext.collate("C")
        match leaf:
            case Among(wanted=wanted):
                codes = [each for value in wanted if (each := code_of(value)) is not None]
                # As containment, for which there is an index; text is compared there as exactly.
                found = [self._values.contains({leaf.key: each}) for each in codes]
                return Translation(or_(false(), *found), exact=True)
            case Ordered(order=order, bound=bound):
                return _ordered(code, order, bound)
            case Contains(part=part):
                return self._contains(code, leaf.key, part)
            case _:
                assert_never(leaf)

    def all_of(self, conditions: list[Sql]) -> Sql:
        return and_(*conditions)

    def any_of(self, conditions: list[Sql]) -> Sql:
        return or_(*conditions)

    def opposite(self, condition: Sql) -> Sql:
        return not_(condition)

    def _contains(self, code: ColumnElement[Any], key: str, part: Comparable | None) -> Translation[Sql]:
        looked_for = None if part is None else code_of(part)
        if part is None or looked_for is None:
            return _exact(false())  # no value that is not odd has it
        element = self._elements.contains({key: [looked_for]})
        if part.kind is not Kind.TEXT:
            return Translation(element, exact=True)
        inside = and_(func.left(code, 1) == Kind.TEXT, func.strpos(func.substr(code, 2), part.value) > 0)
        return Translation(or_(element, _known(inside)), exact=True)


def _ordered(code: ColumnElement[Any], order: Order, bound: Comparable | None) -> Translation[Sql]:
    """The codes of the bound's kind on one side of it."""
    if bound is None:
        return _exact(false())
    limit = code_of(bound)
    if limit is None:
        return Translation(None, exact=False)
    first, after = bound.kind, chr(ord(bound.kind) + 1)
    match order:
        case Order.LESS:
            return _exact(and_(code >= first, code < limit))
        case Order.AT_MOST:
            return _exact(and_(code >= first, code <= limit))
        case Order.GREATER:
            return _exact(and_(code > limit, code < after))
        case Order.AT_LEAST:
            return _exact(and_(code >= limit, code < after))
        case _:
            assert_never(order)


def _exact(condition: Sql) -> Translation[Sql]:
    return Translation(_known(condition), exact=True)


def _known(condition: Sql) -> Sql:
    """False where it would be NULL, because there is no such key: the opposite of NULL is not true."""
    return func.coalesce(condition, false())

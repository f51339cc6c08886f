"""Metadata by key instead of by segment, so that a filter looks at each different value once."""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any, assert_never

from ..comparing import Comparable, Kind, comparable
from ..filters import Among, And, Contains, Leaf, Node, Not, Or, Order, Ordered

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]


class Columns:
    """The metadata of numbered rows. `mask` says of a row what `Filter.matches` says of its metadata."""

    def __init__(self, np: Any) -> None:
        self._np = np
        self._columns: dict[str, _Column] = {}

    def put(self, row: int, metadata: Mapping[str, Any]) -> None:
        """Say what the metadata of a row is now."""
        for key, column in self._columns.items():
            if key not in metadata:
                column.put(row, None)
        for key, value in metadata.items():
            if key not in self._columns:
                self._columns[key] = _Column(self._np)
            self._columns[key].put(row, comparable(value))

    def mask(self, node: Node, rows: int) -> Mask:
        """Which of so many rows match."""
        match node:
            case Among() | Ordered() | Contains():
                return self._mask_of_leaf(node, rows)
            case Not(filter=inner):
                return ~self.mask(inner, rows)
            case And(filters=filters):
                return reduce(operator.and_, [self.mask(each, rows) for each in filters])
            case Or(filters=filters):
                return reduce(operator.or_, [self.mask(each, rows) for each in filters])
            case _:
                assert_never(node)

    def _mask_of_leaf(self, leaf: Leaf, rows: int) -> Mask:
        column = self._columns.get(leaf.key)
        if column is not None:
            return column.mask(leaf, rows)
        nothing: Mask = self._np.zeros(rows, dtype=bool)
        return nothing


class _Column:
    """The values under one key: each row has the number of its value, 0 where it has none."""

    def __init__(self, np: Any) -> None:
        self._np = np
        self._numbers: dict[Comparable, int] = {}
        self._codes = np.zeros(64, dtype=np.int32)
        self._sorted: dict[Kind, tuple[int, list[Any], Any]] = {}

    def put(self, row: int, value: Comparable | None) -> None:
        np, size = self._np, len(self._codes)
        code = 0 if value is None else self._numbers.setdefault(value, len(self._numbers) + 1)
        if row >= size:
            if not code:
                return
            grown = np.zeros(max(row + 1, 2 * size), dtype=np.int32)
            grown[:size] = self._codes
            self._codes = grown
        self._codes[row] = code

    def mask(self, leaf: Leaf, rows: int) -> Mask:
        np = self._np
        accepted = np.zeros(len(self._numbers) + 1, dtype=bool)
        accepted[self._accepted_by(leaf)] = True
        mask: Mask = np.zeros(rows, dtype=bool)
        codes = self._codes[:rows]
        mask[: len(codes)] = accepted[codes]
        return mask

    def _accepted_by(self, leaf: Leaf) -> Any:
        """The numbers of the values that a leaf accepts."""
        match leaf:
            case Among(wanted=wanted):
                return [self._numbers[each] for each in wanted if each in self._numbers]
            case Contains():
                return [number for value, number in self._numbers.items() if leaf.accepts(value)]
            case Ordered(order=order, bound=bound):
                return [] if bound is None else self._on_one_side(order, bound)
            case _:
                assert_never(leaf)

    def _on_one_side(self, order: Order, bound: Comparable) -> Any:
        values, numbers = self._in_order(bound.kind)
        match order:
            case Order.LESS:
                return numbers[: bisect_left(values, bound.value)]
            case Order.AT_MOST:
                return numbers[: bisect_right(values, bound.value)]
            case Order.GREATER:
                return numbers[bisect_right(values, bound.value) :]
            case Order.AT_LEAST:
                return numbers[bisect_left(values, bound.value) :]
            case _:
                assert_never(order)

    def _in_order(self, kind: Kind) -> tuple[list[Any], Any]:
        """The values of a kind and their numbers, sorted when there are new ones since they last were."""
        known = len(self._numbers)
        kept = self._sorted.get(kind)
        if kept is None or kept[0] != known:
            pairs = sorted(
                (each.value, number) for each, number in self._numbers.items() if each.kind is kind
            )
            numbers = self._np.array([number for _, number in pairs], dtype=self._np.int32)
            kept = self._sorted[kind] = known, [value for value, _ in pairs], numbers
        return kept[1:]

"""Containers that are open while a value grows: their complete parts, and where the next one comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .places import ANYTHING, MISSING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .places import ArrayPlan, ObjectPlan, Place


class ObjectFrame:
    """An object that is open; `reread` reads a JSON value for another place."""

    __slots__ = ("_key", "_name", "_parts", "_reread", "here", "plan")

    def __init__(self, plan: ObjectPlan, reread: Callable[[Place, object], object]) -> None:
        self.plan = plan
        self._reread = reread
        self.here: Place = ANYTHING
        self._key = ""
        self._name: object = ""
        self._parts: dict[object, object] = {}

    @property
    def whole_only(self) -> bool:
        return False

    @property
    def path(self) -> str:
        return f".{self._key}"

    def enter(self, key: str) -> None:
        """The value of `key` comes next."""
        self._settle(key)
        self._key, self._name = key, self.plan.name(key)
        self.here = self.plan.place(key)

    def add(self, value: object) -> None:
        """The value has come."""
        if value is MISSING:
            self._parts.pop(self._name, None)
        else:
            self._parts[self._name] = value
        self._settle(self._key)

    def shown(self, unfinished: object = MISSING) -> object:
        """The value so far, with a part that is not finished."""
        if unfinished is MISSING:
            return self.plan.made(self._parts)
        return self.plan.made({**self._parts, self._name: unfinished})

    def ended(self) -> tuple[object, bool]:
        """The value when no more comes, and whether it may differ from what was shown."""
        return self.plan.ended(self._parts)

    def _settle(self, key: str) -> None:
        plan = self.plan.settled(key, self._parts)
        if plan is not self.plan:
            self.plan = plan
            keys = map(str, self._parts)  # none was given another name before the plan was settled
            read = {key: self._reread(plan.place(key), self._parts[key]) for key in keys}
            self._parts = {plan.name(key): value for key, value in read.items() if value is not MISSING}


class ArrayFrame:
    """An array that is open."""

    __slots__ = ("_arrived", "_parts", "here", "plan")

    def __init__(self, plan: ArrayPlan) -> None:
        self.plan = plan
        self.here = plan.place(0)
        self._arrived = 0
        self._parts: list[object] = []

    @property
    def whole_only(self) -> bool:
        return self.plan.whole_only

    @property
    def path(self) -> str:
        return f"[{self._arrived}]"

    def add(self, value: object) -> None:
        """An item has come."""
        self._arrived += 1
        if value is not MISSING:
            self._parts.append(value)
        self.here = self.plan.place(self._arrived)

    def shown(self, unfinished: object = MISSING) -> object:
        """The value so far, with an item that is not finished."""
        if unfinished is MISSING or self.plan.whole_only:
            return self.plan.made(self._parts)
        return self.plan.made([*self._parts, unfinished])

    def ended(self) -> tuple[object, bool]:
        """The value when no more comes, and whether it may differ from what was shown."""
        return self.plan.made(self._parts), False

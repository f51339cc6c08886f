"""What may stand at a place of a growing value, and what the parts of a container make together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from pydantic_core import ValidationError, from_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MISSING: Any = object()
"""What stands at a place as long as nothing can be said about it."""


class ObjectPlan(Protocol):
    """How an object grows.

    `mute` tells that nothing of it is shown, now or until its plan is settled.
    """

    @property
    def mute(self) -> bool: ...

    def place(self, key: str) -> Place:
        """What may stand under `key`."""
        ...

    def name(self, key: str) -> object:
        """What the part under `key` is called among the parts."""
        ...

    def settled(self, key: str, parts: dict[object, object]) -> ObjectPlan:
        """The plan to go on with, now that `key` is met and `parts` are complete."""
        ...

    def made(self, parts: dict[object, object]) -> object:
        """The value of these parts, or MISSING."""
        ...

    def ended(self, parts: dict[object, object]) -> tuple[object, bool]:
        """The value of these parts when no more will come, and whether that may differ from `made`."""
        ...


@dataclass(frozen=True, slots=True)
class ArrayPlan:
    """How an array grows; with `whole_only`, items are shown when they are complete and not before."""

    place: Callable[[int], Place]
    make: Callable[[list[object]], object]
    mute: bool = False
    whole_only: bool = False

    def made(self, parts: list[object]) -> object:
        """The value of these items, or MISSING; always a new one, as the items may become more."""
        try:
            return self.make(parts)
        except (TypeError, ValidationError):  # what has no hash is in no set
            return MISSING


@dataclass(frozen=True, slots=True)
class Place:
    """What may stand at one place: an object, an array, or a scalar given as JSON.

    `text` tells that any text may, and stands for itself: it is shown while it grows.
    """

    objects: ObjectPlan
    arrays: ArrayPlan
    scalar: Callable[[str], object]
    text: bool = False
    bare_words: bool = False


@dataclass(frozen=True, slots=True)
class FreeKeys:
    """An object of free keys; a key or a value that is wrong so far is as good as absent."""

    key: Callable[[str], object]
    value: Callable[[], Place]
    mute: bool = False

    def place(self, key: str) -> Place:
        return self.value() if self.key(key) is not MISSING else NOWHERE

    def name(self, key: str) -> object:
        return self.key(key)

    def settled(self, key: str, parts: dict[object, object]) -> ObjectPlan:
        return self

    def made(self, parts: dict[object, object]) -> object:
        return MISSING if self.mute else dict(parts)

    def ended(self, parts: dict[object, object]) -> tuple[object, bool]:
        return self.made(parts), False


@dataclass(frozen=True, slots=True)
class Record:
    """An object of known keys: what is missing is None for `make`, and its default, if any, for `complete`.

    `defaults` are the keys each field that has a default may come under.
    """

    fields: Mapping[str, Callable[[], Place]]
    others: Callable[[], Place]
    make: Callable[[dict[object, object]], object]
    complete: Callable[[dict[object, object]], object]
    defaults: Sequence[frozenset[str]]
    mute: bool = False

    def place(self, key: str) -> Place:
        return self.fields.get(key, self.others)()

    def name(self, key: str) -> object:
        return key

    def settled(self, key: str, parts: dict[object, object]) -> ObjectPlan:
        return self

    def made(self, parts: dict[object, object]) -> object:
        try:
            return self.make(parts)
        except ValidationError:
            return MISSING

    def ended(self, parts: dict[object, object]) -> tuple[object, bool]:
        if all(keys & parts.keys() for keys in self.defaults):
            return self.made(parts), False
        try:
            return self.complete(parts), True
        except ValidationError:
            return MISSING, False


@dataclass(frozen=True, slots=True)
class Tagged:
    """One of several objects, told apart by the value under `tag`: nothing is shown before it is known."""

    tag: str
    arms: Mapping[object, Callable[[], ObjectPlan]]
    mute: bool = True

    def place(self, key: str) -> Place:
        return ANYTHING

    def name(self, key: str) -> object:
        return key

    def settled(self, key: str, parts: dict[object, object]) -> ObjectPlan:
        told = parts.get(self.tag)
        arm = self.arms.get(told) if isinstance(told, str | int) else None
        return arm() if arm else self

    def made(self, parts: dict[object, object]) -> object:
        return MISSING

    def ended(self, parts: dict[object, object]) -> tuple[object, bool]:
        return self.made(parts), False


@dataclass(frozen=True, slots=True)
class Envelope:
    """The object a value that is none is sent in; `bare` is the value itself, where that may be an object."""

    key: str
    inner: Callable[[], Place]
    bare: Callable[[], ObjectPlan] | None
    mute: bool = False

    def place(self, key: str) -> Place:
        return self.inner() if key == self.key else NOWHERE

    def name(self, key: str) -> object:
        return key

    def settled(self, key: str, parts: dict[object, object]) -> ObjectPlan:
        return self.bare() if self.bare and key != self.key and not parts else self

    def made(self, parts: dict[object, object]) -> object:
        return parts.get(self.key, MISSING)

    def ended(self, parts: dict[object, object]) -> tuple[object, bool]:
        return self.made(parts), False


@dataclass(frozen=True, slots=True)
class Converted:
    """An object whose value is made into another one."""

    plan: ObjectPlan
    convert: Callable[[object], object]

    @property
    def mute(self) -> bool:
        return self.plan.mute

    def place(self, key: str) -> Place:
        return self.plan.place(key)

    def name(self, key: str) -> object:
        return self.plan.name(key)

    def settled(self, key: str, parts: dict[object, object]) -> ObjectPlan:
        plan = self.plan.settled(key, parts)
        return self if plan is self.plan else Converted(plan, self.convert)

    def made(self, parts: dict[object, object]) -> object:
        value = self.plan.made(parts)
        return MISSING if value is MISSING else self.convert(value)

    def ended(self, parts: dict[object, object]) -> tuple[object, bool]:
        value, differs = self.plan.ended(parts)
        return (value if value is MISSING else self.convert(value)), differs


def converted(place: Place, convert: Callable[[object], object], scalar: Callable[[str], object]) -> Place:
    """`place`, with every value made into another one by `convert`, and every scalar read by `scalar`."""
    made = place.arrays.make
    return replace(
        place,
        objects=Converted(place.objects, convert),
        arrays=replace(place.arrays, make=lambda items: convert(made(items))),
        scalar=scalar,
        text=False,
    )


def _decoded(json: str) -> object:
    try:
        return from_json(json, allow_inf_nan=False)
    except ValueError:
        return MISSING


ANYTHING: Place = Place(
    FreeKeys(lambda key: key, lambda: ANYTHING),
    ArrayPlan(lambda index: ANYTHING, list),
    _decoded,
    text=True,
    bare_words=True,
)
"""Whatever JSON there is."""

NOWHERE: Place = Place(
    FreeKeys(lambda key: key, lambda: NOWHERE, mute=True),
    ArrayPlan(lambda index: NOWHERE, lambda items: MISSING, mute=True),
    lambda json: MISSING,
)
"""No value of the type: it is read over."""

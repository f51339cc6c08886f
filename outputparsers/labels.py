"""The words a closed choice may be answered with: enums, literals and booleans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import UnsupportedTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from enum import Enum

_PLAIN = (str, int)
_ENDS = ".!"
_MARKS = ("**", "__", "*", "_", "`", '"', "'")


@dataclass(frozen=True, slots=True)
class Labels:
    """A closed choice: what stands in the schema, the value each stands for, and how answers are read.

    `wires[i]` is the JSON value that stands for `values[i]`. Answers match exactly, or after folding case,
    white space, a final full stop and the marks of emphasis, code or quotation around the whole, when that
    leaves one value. Nothing is ever matched in part.
    """

    wires: tuple[object, ...]
    values: tuple[object, ...]
    descriptions: tuple[str, ...]
    exact: dict[str, int]
    folded: dict[str, int]

    @property
    def texts(self) -> tuple[str, ...]:
        """The labels as text, in order."""
        return tuple(wire_text(wire) for wire in self.wires)

    def read(self, answer: object) -> object:
        """The value `answer` stands for; LookupError or ValueError when it is none or could be several."""
        match answer:
            case None | bool():
                return self.values[[wire is answer for wire in self.wires].index(True)]
            case str():
                word = answer
            case int():
                word = str(answer)
            case float() if answer.is_integer():
                word = str(int(answer))
            case _:
                raise LookupError(answer)
        index = self.exact.get(word)
        return self.values[self.folded[plain_word(word)] if index is None else index]

    def label_of(self, value: object) -> str | None:
        """The label that stands for `value`, or None when it is not one of the values."""
        for wire, known in zip(self.wires, self.values, strict=True):
            if value is known or (type(value) is type(known) and value == known):
                return wire_text(wire)
        return None


def wire_text(wire: object) -> str:
    """A JSON scalar as it would be written without quotes: true, null, 3, red."""
    match wire:
        case None:
            return "null"
        case True:
            return "true"
        case False:
            return "false"
        case _:
            return str(wire)


def boolean_labels() -> Labels:
    """The two labels of `bool`, in the order of the usual sentence."""
    return _labels((True, False), (True, False), descriptions=("", ""))


def literal_labels(expected: Sequence[object]) -> Labels:
    """The labels of a `Literal`: its members, enum members by their wire value."""
    values = tuple(expected)
    wires = tuple(enum_wire(value) if _is_enum(value) else value for value in values)
    if any(isinstance(wire, bytes) for wire in wires):
        raise UnsupportedTypeError("a Literal of bytes is no answer of a model: write its members as texts")
    return _labels(wires, values, descriptions=("",) * len(values))


def enum_labels(enum: type[Enum]) -> Labels:
    """The labels of an enum: values when all are texts or whole numbers, names otherwise; both are read."""
    members = tuple(enum)
    known = enum.__members__.items()
    by_name = [(name, members.index(member)) for name, member in known if member in members]
    descriptions = tuple(_description(member) for member in members)
    return _labels(tuple(map(enum_wire, members)), members, descriptions=descriptions, names=by_name)


def enum_wire(member: object) -> object:
    """What stands for an enum member on the wire: its value, or its name when values are not plain."""
    enum: type[Enum] = type(member)  # type: ignore[assignment]
    plain = all(type(one.value) in _PLAIN for one in enum)
    return member.value if plain else member.name  # type: ignore[attr-defined]


def _is_enum(value: object) -> bool:
    return hasattr(type(value), "__members__")


def _description(member: Enum) -> str:
    """A text a member carries about itself: its own `description`, or a docstring that is not the class's."""
    own = getattr(member, "__dict__", {})
    text = own.get("description") or own.get("__doc__") or ""
    return text if isinstance(text, str) else ""


def _labels(
    wires: tuple[object, ...],
    values: tuple[object, ...],
    *,
    descriptions: tuple[str, ...],
    names: Iterable[tuple[str, int]] = (),
) -> Labels:
    wired = [(wire_text(wire), index) for index, wire in enumerate(wires)]
    spellings = [*wired, *names]
    exact: dict[str, int] = {}
    folded: dict[str, set[int]] = {}
    for spelling, index in spellings:
        folded.setdefault(plain_word(spelling), set()).add(index)
    for spelling, index in spellings:
        # A name that differs only by case from another member's value could mean either: it means neither.
        rivals = {other for text, other in wired if plain_word(text) == plain_word(spelling)} - {index}
        if (spelling, index) in wired or not rivals:
            exact.setdefault(spelling, index)
    unique = {spelling: indexes.pop() for spelling, indexes in folded.items() if len(indexes) == 1}
    return Labels(wires, values, descriptions, exact, unique)


def plain_word(text: str) -> str:
    """A word as it is compared: without case, ends and marks that say nothing."""
    plain = text.strip().casefold()
    bare = _unmarked(plain.rstrip(_ENDS).rstrip())
    return bare.rstrip(_ENDS).rstrip() or plain


def _unmarked(text: str) -> str:
    """The text without the Markdown or the quotes around it."""
    for mark in _MARKS:
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            return text[len(mark) : -len(mark)].strip()
    return text

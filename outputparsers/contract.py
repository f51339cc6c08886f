"""What every parser can do."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar, runtime_checkable

T = TypeVar("T")


@runtime_checkable
class OutputParser(Protocol[T]):
    """What a type needs to be answered with: schema, instructions, a way from text to value and back."""

    @property
    def type(self) -> Any:
        """The type, as it was given."""
        ...

    @property
    def schema_name(self) -> str:
        """A name for the schema: letters, digits, `_` and `-`, at most 64."""
        ...

    @property
    def strict(self) -> bool:
        """Whether the schema is within the subset providers can enforce strictly."""
        ...

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The labels of a bool, an enum or a Literal, as and in the order of the schema; else None."""
        ...

    def json_schema(self) -> dict[str, Any] | None:
        """The schema to send (an object at the root); None for `str`. A new dictionary each time."""
        ...

    def format_instructions(self) -> str:
        """What to tell a model that takes no schema; empty for `str`."""
        ...

    def parse(self, text: str | None) -> T:
        """The value of an answer; OutputParsingError when it is not one."""
        ...

    def parse_partial(self, text: str) -> object:
        """What can be said from the beginning of an answer; None when that is nothing."""
        ...

    def label_of(self, value: object) -> str | None:
        """The label that stands for a value of a closed choice, or None."""
        ...

    def render(self, value: T) -> str:
        """The text a model would answer with to mean `value`: the inverse of `parse`."""
        ...

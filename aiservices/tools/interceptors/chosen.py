"""Which tools an interceptor is for."""

from __future__ import annotations

from collections.abc import Iterable


class Chosen:
    """Some tools by name, or all of them: `name in chosen`.

    Raises `TypeError` for a text: its letters would be taken for names, and no tool be met.
    """

    def __init__(self, names: Iterable[str] | None) -> None:
        if isinstance(names, str):
            raise TypeError(f"names are several: give names=({names!r},)")
        self.names = None if names is None else frozenset(names)

    def __contains__(self, name: object) -> bool:
        return self.names is None or name in self.names

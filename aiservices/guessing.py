"""What somebody probably meant who gave a wrong name or a wrong value: words for messages of errors."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: object, known: Iterable[str]) -> str | None:
    """The known name that this one was probably meant to be, or `None` when none is near."""
    from difflib import get_close_matches

    matches = get_close_matches(str(name), list(known), n=1, cutoff=0.7)
    return matches[0] if matches else None


def listing(name: object, known: Iterable[str]) -> str:
    """The end of a sentence on an unknown name: the one that was probably meant, else all there are."""
    names = list(known)
    near = nearest(name, names)
    return f"known are {', '.join(names)}" if near is None else f"did you mean {near!r}?"


def kind_of(given: object) -> str:
    """What somebody gave, in words: `a str`, `the class Parrot`, `None`."""
    if isinstance(given, type):
        return f"the class {given.__name__}"
    if given is None:
        return "None"
    return f"a {type(given).__name__}"

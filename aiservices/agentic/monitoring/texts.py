"""Values, amounts and times as short texts that are safe to show."""

from __future__ import annotations

import reprlib
from typing import Any, Final

LONGEST: Final = 2000
_WIDEST: Final = 200
_CONTROLS: Final = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {127: 0x2421}


class _Repr(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = self.maxdeque = 30
        self.maxstring = self.maxother = _WIDEST
        self.maxlong = 60
        self.maxlevel = 4


_SHORT: Final = _Repr()


def shown(value: Any) -> str:
    """A value as text, cut to a length that can be read; a value that cannot show itself says so."""
    if isinstance(value, str):
        if len(value) <= LONGEST:
            return readable(value)
        return f"{readable(value[:LONGEST])}… ({number(len(value))} characters)"
    text = readable(_SHORT.repr(value))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def readable(text: str) -> str:
    """The text without characters that cannot be written to a file, or that a page would swallow."""
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return whole.translate(_CONTROLS)


def number(amount: int) -> str:
    """A whole number with its thousands apart."""
    return f"{amount:,}"


def duration(seconds: float) -> str:
    """Some time, in the unit that suits it, to about three digits."""
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"

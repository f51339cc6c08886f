"""Growing values from the pieces of an answer: what has arrived, typed; None for what has not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .extracting import ARRAY_OF_WORDS_OPENING, ARRAY_OPENING, OBJECT_OPENING
from .growing import Growth
from .places import MISSING
from .speaking import Speech

if TYPE_CHECKING:
    from .contract import OutputParser
    from .places import Place

T_co = TypeVar("T_co", covariant=True)

_SURROGATE = re.compile("[\ud800-\udfff]")


class PartialReader(Protocol[T_co]):
    """Reads one answer while it arrives, and tells what can be said of its value so far."""

    def feed(self, text: str) -> object | None:
        """The value so far, after one more piece; None when there is nothing new to say.

        It never goes backwards: texts and lists grow, fields get their values. Objects are instances whose
        missing fields are None until the object ends. Numbers, labels, dates and whatever else is one word
        come when they are complete. A union of objects that no tag tells apart is a dictionary. A value that
        was handed out never changes, but shares its complete parts with later ones.
        """
        ...


def opening_of(place: Place) -> re.Pattern[str]:
    """Finds where the JSON of a place may begin within prose; a group matched is the end of the text."""
    if place.arrays.mute:
        return OBJECT_OPENING
    return ARRAY_OF_WORDS_OPENING if place.arrays.place(0).bare_words else ARRAY_OPENING


class TextReader:
    """Reads an answer that is a text."""

    def __init__(self) -> None:
        self._speech = Speech()
        self._said = ""

    def feed(self, text: str) -> str | None:
        said = self._speech.feed(text)
        self._said += said
        return self._said if said else None


class DataReader:
    """Reads an answer that is JSON, perhaps after some prose."""

    def __init__(self, place: Place) -> None:
        self._speech = Speech()
        self._opening = opening_of(place)
        self._prose = ""
        self._found = False
        self._growth = Growth(place)

    def feed(self, text: str) -> object | None:
        if self._growth.over:
            return None
        half = _SURROGATE.search(text)
        said = self._speech.feed(text[: half.start()] if half else text)
        if not self._found:
            said = self._after_prose(said)
        grown = self._growth.feed(said) if said else MISSING
        if half:
            self._growth.stop()  # no JSON has half a surrogate pair
        return None if grown is MISSING else grown

    def _after_prose(self, said: str) -> str:
        text = self._prose + said
        opening = self._opening.search(text)
        if opening is None:
            self._prose = ""
            return ""
        if opening.lastindex:
            self._prose = text[opening.start() :]
            return ""
        self._found = True
        return text[opening.start() :]


class AnyReader:
    """Reads an answer with a parser that was registered: it is asked again after each piece."""

    def __init__(self, parser: OutputParser[Any]) -> None:
        self._parser = parser
        self._text = ""
        self._last: object = None

    def feed(self, text: str) -> object | None:
        self._text += text
        grown = self._parser.parse_partial(self._text)
        if grown == self._last:
            return None
        self._last = grown
        return grown

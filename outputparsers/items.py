"""The items of a list, each as soon as it is complete."""

from __future__ import annotations

import re
import types
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from pydantic_core import ValidationError, from_json

from .decoding import CutOffError, Decoder, Reading, RefusedError, validated
from .digits import may_lose_digits, told_apart
from .errors import OutputParsingError, Problem
from .extracting import final_answer
from .growing import Growth
from .parser import DataParser, output_parser
from .places import ANYTHING
from .speaking import Speech

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from typing_extensions import TypeForm

    from .contract import OutputParser
    from .seeking import Found

T = TypeVar("T")

_SURROGATE = re.compile("[\ud800-\udfff]")
_CUT_OFF = "the answer is cut off here"
_NOT_JSON = "not valid JSON"
_NO_UNICODE = "not valid Unicode"
_OTHER = "the answer goes on with something that would be read instead of what came before"


def item_reader(type_: TypeForm[T]) -> ItemReader[T]:
    """A reader of one answer that is a list of `type_`: `ItemReader(output_parser(list[type_]))`.

    Where there are several answers, keep that parser and make an `ItemReader` of it for each.
    """
    listed: Any = types.GenericAlias(list, (type_,))
    return ItemReader(output_parser(listed))


class _WrongItemError(Exception):
    """An item that is none; `malformed` when it is not even JSON."""

    def __init__(self, problems: Sequence[Problem], *, malformed: bool = False) -> None:
        super().__init__(problems)
        self.problems = problems
        self.malformed = malformed


class ItemReader(Generic[T]):
    """Reads one answer that is a list, and gives its items while it arrives.

    What is given is never taken back: where the end of the answer shows that `parser` would have read
    something else, `close` raises. An answer that begins in a way only its end explains is read at the end,
    as is any for a registered parser of another kind.
    """

    def __init__(self, parser: OutputParser[list[T]]) -> None:
        self._parser = parser
        self._arrived: list[str] = []
        self._given = 0
        self._error: OutputParsingError | None = None
        self._speech = Speech()
        self._decoder: Decoder | None = None
        if isinstance(parser, DataParser):
            self._decoder = parser.decoder
            self._expected = parser.decoder.expected
            self._finder = parser.finder()

    def feed(self, text: str) -> list[T]:
        """The items that became complete with this piece.

        OutputParsingError when one is wrong. Items before it in the same piece are given first; then the next
        call raises the error.
        """
        if self._error:
            raise self._error
        self._arrived.append(text)
        if self._decoder is None:
            return []
        return self._given_over(self._finder.feed(self._speech.feed(text)), self._decoder)

    def close(self) -> list[T]:
        """The items that only the end of the answer completes.

        OutputParsingError when it is cut off, when it is no list, or when its end gives it another meaning.
        """
        if self._error:
            raise self._error
        whole = "".join(self._arrived)
        if self._decoder is None:
            return self._parser.parse(whole)
        unfinished = self._finder.unfinished
        if unfinished is not None:
            raise self._refusal((Problem(self._place_of_cut(unfinished), _CUT_OFF),))
        if not self._given:
            return self._parser.parse(whole)
        items = self._given_over(self._finder.finish(), self._decoder)
        if self._error:
            raise self._error
        self._confirm(self._decoder, final_answer(whole))
        return items

    def _given_over(self, found: Iterable[Found], decoder: Decoder) -> list[T]:
        items: list[T] = []
        for item in found:
            try:
                value = _item(decoder, item.json, self._given)
            except _WrongItemError as wrong:
                if not self._given and (item.is_line or wrong.malformed):
                    self._finder.distrust()  # it may not be the list yet
                    continue
                self._error = self._refusal(wrong.problems)
                break
            self._given += 1
            items.append(value)
        if self._error and not items:
            raise self._error
        return items

    def _confirm(self, decoder: Decoder, answer: str) -> None:
        """Make sure that the whole answer is read as what was given."""
        if _SURROGATE.search(answer):
            raise self._refusal((Problem("", _NO_UNICODE),))
        own = self._finder.own()
        try:
            for reading in decoder.readings(answer):
                if reading.json == own:
                    return
                try:
                    validated(reading)
                except RefusedError:
                    continue
                break
        except CutOffError:
            raise self._refusal((Problem("", _CUT_OFF),)) from None
        raise self._refusal((Problem("", _OTHER),))

    def _place_of_cut(self, unfinished: str) -> str:
        growth = Growth(ANYTHING)
        growth.feed(unfinished)
        return f"[{self._given}]{growth.path}"

    def _refusal(self, problems: Sequence[Problem]) -> OutputParsingError:
        error = OutputParsingError("".join(self._arrived), self._expected, problems)
        self._error = error
        return error


def _item(decoder: Decoder, json: str, index: int) -> Any:
    """The value of an item, read as the only one of a list."""
    if not json:
        raise _WrongItemError((Problem(f"[{index}]", _NOT_JSON),), malformed=True)
    if _SURROGATE.search(json):
        raise _WrongItemError((Problem(f"[{index}]", _NO_UNICODE),), malformed=True)
    text, validate = f"[{json}]", decoder.bare
    if decoder.decimals and may_lose_digits(json):
        text, written = told_apart(text)
        validate = partial(validate, context=written)
    try:
        return _only(validate(text))
    except ValidationError:
        pass  # the careful way finds the same error, or a way around it
    try:
        from_json(json, allow_inf_nan=False)
    except ValueError as error:
        raise _WrongItemError((Problem(f"[{index}]", f"{_NOT_JSON} ({error})"),), malformed=True) from error
    try:
        return _only(validated(Reading(validate, text)))
    except RefusedError as error:
        raise _WrongItemError([_moved(problem, index) for problem in error.problems]) from error


def _only(items: object) -> Any:
    (item,) = cast("list[Any]", items)
    return item


def _moved(problem: Problem, index: int) -> Problem:
    """The problem of an item alone, at its place in the list."""
    return Problem(f"[{index}]{problem.path.removeprefix('[0]')}", problem.message)

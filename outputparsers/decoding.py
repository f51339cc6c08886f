"""From what a model said to a value: strict JSON first, then what models wrap around it, guesses never."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, cast

from pydantic_core import SchemaValidator, ValidationError, from_json, to_json

from .classifying import Shape, Wire
from .digits import may_lose_digits, told_apart
from .errors import OutputParsingError, Problem
from .extracting import Block, fenced_text, final_answer, find_blocks, looks_like_json
from .mending import mended
from .problems import problems_of
from .repairing import repaired_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic_core import CoreSchema

    from .walking import Node


class Validate(Protocol):
    """Validates JSON text. `context` holds the numbers of the text that are no float, by the float nearby."""

    def __call__(self, json: str | bytes, /, *, context: Any = None) -> object: ...


_MENDINGS = 4
_BLOCKS_TRIED = 100
_BLOCKS_REPAIRED = 3
_WRAPPERS = ("value", "response")
_NOT_JSON: Any = object()
_CUT_OFF = Problem("", "the JSON is cut off: something opened is never closed")
_NO_UNICODE = Problem("", "the answer is not valid Unicode")
_EMPTY = Problem("", "the answer is empty")


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read an answer: JSON text for a validator."""

    validate: Validate
    json: str | bytes


class RefusedError(Exception):
    """A reading that is JSON but not a value of the type."""

    def __init__(self, error: ValidationError, problems: tuple[Problem, ...]) -> None:
        super().__init__(error)
        self.error = error
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Decoder:
    """Reads answers of one type: `bare` validates the type itself, `wrapped` the object to send.

    `decimals` tells that there are some in the type, so that no digit of a number may be lost.
    """

    expected: str
    wire: Wire
    bare: Validate
    wrapped: Validate
    decimals: bool = False

    def quick(self, text: str) -> Validate | None:
        """The validator for a text that begins like JSON, or None when the text needs a closer look."""
        match text.lstrip()[:1]:
            case "{":
                return self.wrapped
            case "[" if self.wire.shape is Shape.COLLECTION:
                return self.bare
            case _:
                return None

    def decode(self, text: str | None) -> object:
        """The value of an answer; OutputParsingError when there is none."""
        if text is None:
            raise OutputParsingError(None, self.expected, (Problem("", "there is no answer"),))
        if validate := self.quick(text):
            try:
                if not (self.decimals and may_lose_digits(text)):
                    return validate(text)
                rewritten, written = told_apart(text)
                return validate(rewritten, context=written)
            except ValidationError:
                pass  # the careful way finds the same error, or a way around it
        said = final_answer(text)
        if not said and text.strip():  # all of it was thinking, which no collection is empty for
            raise OutputParsingError(text, self.expected, (_EMPTY,))
        answer, written = told_apart(self._encodable(said, text))
        knowing = replace(
            self,
            bare=partial(self.bare, context=written),
            wrapped=partial(self.wrapped, context=written),
        )
        return knowing._decode_carefully(answer, text)

    def _decode_carefully(self, answer: str, text: str) -> object:
        refused: RefusedError | None = None
        try:
            for reading in self.readings(answer):
                try:
                    return validated(reading)
                except RefusedError as one:
                    refused = refused or one
        except CutOffError:
            raise OutputParsingError(text, self.expected, (_CUT_OFF,)) from _json_error(answer)
        if refused:
            raise OutputParsingError(text, self.expected, refused.problems) from refused.error
        error = _json_error(answer)
        problem = Problem("", f"no valid JSON found in the answer ({error})") if answer else _EMPTY
        raise OutputParsingError(text, self.expected, (problem,)) from error

    def _encodable(self, answer: str, text: str) -> str:
        """`answer`, unless it holds half a surrogate pair, which no JSON decoder takes."""
        try:
            answer.encode()
        except UnicodeEncodeError as error:
            raise OutputParsingError(text, self.expected, (_NO_UNICODE,)) from error
        return answer

    def readings(self, answer: str) -> Iterator[Reading]:
        """Ways to read `answer`, best first."""
        if not answer:
            if self.wire.shape is Shape.COLLECTION:
                yield Reading(self.bare, "[]")
            return
        data = _json(answer)
        if data is not _NOT_JSON:
            yield from self._of_json(answer, data)
            return
        blocks = find_blocks(answer)
        if blocks.cut_off:
            raise CutOffError
        fitting = [block for block in blocks.found if block.alone or not self.wire.verbatim][-_BLOCKS_TRIED:]
        for block in reversed(fitting):
            if (data := _json(block.text)) is not _NOT_JSON:
                yield from self._of_json(block.text, data)
        # Half a JSON array is no line of text.
        broken = any(block.alone and looks_like_json(block.text) for block in fitting)
        if self.wire.takes_text and not broken and not answer.startswith("{"):
            yield from self._of_text(fenced_text(answer) or answer)
        yield from self._of_repaired(fitting)

    def _of_json(self, text: str, data: Any, depth: int = 0) -> Iterator[Reading]:
        """Ways to read a text that is JSON as a whole."""
        match data:
            case dict():
                yield from self._of_object(text, data)
            case list():
                yield Reading(self.bare, text)
            case str():
                yield from self._of_json_text(text, data, depth)
            case _ if self.wire.shape is Shape.SCALAR:
                yield from self._of_constant(text)
            case _ if self.wire.shape is Shape.COLLECTION and self.wire.takes_text:
                yield from self._of_text(text)
            case _:
                yield Reading(self.bare, text)

    def _of_object(self, text: str, data: dict[str, Any]) -> Iterator[Reading]:
        if self.wire.shape is Shape.OBJECT:
            yield Reading(self.bare, text)
            yield from self._of_needless_wrapper(data)
            return
        named = self.wire.shape.value in data
        if named or not self.wire.takes_objects:
            yield Reading(self.wrapped, text)
        if self.wire.takes_objects:
            yield Reading(self.bare, text)

    def _of_needless_wrapper(self, data: dict[str, Any]) -> Iterator[Reading]:
        for key in _WRAPPERS:
            if data.keys() == {key} and isinstance(data[key], dict):
                yield Reading(self.bare, dumped(data[key]))

    def _of_json_text(self, text: str, data: str, depth: int) -> Iterator[Reading]:
        """A JSON string: the value itself, or JSON (or a word) that was quoted once too often."""
        if self.wire.verbatim:
            yield Reading(self.bare, text)
        inner = _json(data) if depth < 2 else _NOT_JSON
        if isinstance(inner, dict | list):
            yield from self._of_json(data, inner, depth + 1)
        elif self.wire.takes_text:
            yield from self._of_text(data.strip())
        elif not self.wire.verbatim:
            yield Reading(self.bare, text)

    def _of_constant(self, text: str) -> Iterator[Reading]:
        """A bare number, true, false or null: as a text first where its digits must not be lost."""
        spellings: list[str | bytes] = [text] if self.wire.verbatim else [text, dumped(text)]
        for spelling in reversed(spellings) if self.wire.exact_digits else spellings:
            yield Reading(self.bare, spelling)

    def _of_text(self, text: str) -> Iterator[Reading]:
        if self.wire.shape is Shape.SCALAR:
            inner = _json(text)
            if inner is not _NOT_JSON and not isinstance(inner, str):
                yield from self._of_json(text, inner, 1)
                return
            plain = text if self.wire.verbatim else unbracketed(text)
            yield Reading(self.bare, dumped(plain))
        elif self.wire.shape is Shape.COLLECTION:
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            bare = lines if self.wire.verbatim else [unbracketed(line) for line in lines]
            yield Reading(self.bare, dumped(bare))

    def _of_repaired(self, blocks: list[Block]) -> Iterator[Reading]:
        for block in reversed(blocks[-_BLOCKS_REPAIRED:]):
            repaired = repaired_json(block.text) if _json(block.text) is _NOT_JSON else None
            if repaired is not None and (data := _json(repaired)) is not _NOT_JSON:
                yield from self._of_json(repaired, data)


class CutOffError(Exception):
    """The answer opens something it never closes."""


def validated(reading: Reading) -> object:
    """The value of one reading, mended as long as its errors point at something to mend."""
    try:
        return reading.validate(reading.json)
    except ValidationError as first:
        error = first
    data = from_json(reading.json)
    for _ in range(_MENDINGS):
        data, changed = mended(data, error)
        if not changed:
            break
        try:
            return reading.validate(dumped(data))
        except ValidationError as next_error:
            error = next_error
    raise RefusedError(error, problems_of(error, data))


def _json(text: str) -> Any:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        return _NOT_JSON


def _json_error(text: str) -> ValueError | None:
    try:
        from_json(text, allow_inf_nan=False)
    except ValueError as error:
        return error
    return None


def dumped(value: Any) -> bytes:
    """A JSON value as JSON."""
    return to_json(value, inf_nan_mode="constants")


def unbracketed(text: str) -> str:
    """A text without brackets around it, as models write the choices they were shown."""
    return text[1:-1].strip() if text.startswith("[") and text.endswith("]") else text


def python_validator_of(core: Node) -> Callable[[Any], object]:
    """Validates Python values against a core schema, as `validator_of` validates JSON text."""
    return SchemaValidator(cast("CoreSchema", core), _use_prebuilt=False).validate_python


def validator_of(core: Node) -> Validate:
    """Validates JSON text against a core schema, not against what the classes in it compiled before."""
    return SchemaValidator(cast("CoreSchema", core), _use_prebuilt=False).validate_json

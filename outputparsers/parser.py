"""The parser of a type: built once, then used for every answer."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic_core import from_json, to_json

from .classifying import Shape, Wire, classified
from .contract import OutputParser
from .decoding import Decoder, Validate, validator_of
from .errors import AmbiguousUnionWarning, OutputParsingError, Problem
from .extracting import spoken_text
from .instructions import instructions_for
from .partials import AnyReader, DataReader, PartialReader, TextReader
from .planning import Planner
from .reading import ReadType, read_type
from .registry import registered_factory
from .rendering import wire_value
from .schema import ambiguous_arms, bare_schema, loose_schema, strict_schema, wrapped_schema
from .seeking import Finder
from .tolerating import tolerant
from .walking import join_definitions, mentions, split_definitions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import TypeForm

    from .walking import Node

T = TypeVar("T")


def output_parser(type_: TypeForm[T], *, namespace: Mapping[str, object] | None = None) -> OutputParser[T]:
    """The parser of a type: scalars, enums, collections, records, pydantic models, unions of them.

    Building is cheap and nothing is cached: a parser lives as long as its owner keeps it. `namespace`
    resolves forward references; by default the caller's own names do. UnsupportedTypeError says what cannot
    be parsed and what to write instead; AmbiguousUnionWarning, that no model can tell two arms apart.
    """
    factory = registered_factory(type_)
    if factory is not None:
        return cast("OutputParser[T]", factory(type_))
    read = read_type(type_, namespace)
    node, definitions = split_definitions(read.core)
    wire = classified(node, definitions)
    if wire.shape is Shape.TEXT:
        return cast("OutputParser[T]", TextParser(type_, read.text))
    return _data_parser(type_, read, wire)


def partial_reader(parser: OutputParser[T]) -> PartialReader[T]:
    """A reader that tells, after each piece of one answer, what can be said of its value so far.

    It costs as much as the answer is long: what is complete is read and validated once. A registered parser
    of another kind is asked to `parse_partial` the text so far, again and again.
    """
    own: object = parser
    return own.partial_reader() if isinstance(own, DataParser | TextParser) else AnyReader(parser)


def _data_parser(type_: Any, read: ReadType, wire: Wire) -> OutputParser[Any]:
    bare = bare_schema(read.adapter)
    for first, second in ambiguous_arms(bare):
        pair = f"{first} from {second} in {read.text}"
        message = f"no answer can tell {pair}: give each a Literal field of its own"
        warnings.warn(message, AmbiguousUnionWarning, stacklevel=4)
    whole = bare if wire.shape is Shape.OBJECT else wrapped_schema(bare, wire.shape.value)
    strict = strict_schema(whole)
    core = tolerant(read.core)
    validate = validator_of(core)
    unwrap = validate if wire.shape is Shape.OBJECT else _unwrapping(core, wire.shape.value)
    return DataParser(
        type=type_,
        schema_name=read.schema_name,
        strict=strict is not None,
        _wire=wire,
        decoder=Decoder(read.text, wire, validate, unwrap, mentions(core, "decimal")),
        _schema=to_json(loose_schema(whole) if strict is None else strict),
        _instructions=instructions_for(bare, wire),
        _planner=Planner(read.core, wire),
    )


def _unwrapping(core: Node, key: str) -> Validate:
    node, definitions = split_definitions(core)
    field = {"type": "typed-dict-field", "schema": node, "required": True}
    wrapper: Node = {"type": "typed-dict", "fields": {key: field}}
    validate = validator_of(join_definitions(wrapper, definitions))

    def unwrap(json: str | bytes, /, *, context: Any = None) -> object:
        return cast("dict[str, object]", validate(json, context=context))[key]

    return unwrap


@dataclass(frozen=True, slots=True)
class TextParser:
    """The parser of `str`: what the model said, without a leading thought and channel markers."""

    type: Any
    expected: str = "str"

    @property
    def schema_name(self) -> str:
        return "string"

    @property
    def strict(self) -> bool:
        return False

    @property
    def labels(self) -> None:
        return None

    def json_schema(self) -> None:
        return None

    def format_instructions(self) -> str:
        return ""

    def parse(self, text: str | None) -> str:
        if text is None:
            raise OutputParsingError(None, self.expected, (Problem("", "there is no answer"),))
        return spoken_text(text)

    def parse_partial(self, text: str) -> str | None:
        return self.partial_reader().feed(text)

    def partial_reader(self) -> TextReader:
        """A reader of one answer while it arrives."""
        return TextReader()

    def label_of(self, value: object) -> None:
        return None

    def render(self, value: str) -> str:
        return value


@dataclass(frozen=True, slots=True)
class DataParser:
    """The parser of everything that travels as JSON."""

    type: Any
    schema_name: str
    strict: bool
    _wire: Wire = field(repr=False)
    decoder: Decoder = field(repr=False)
    _schema: bytes = field(repr=False)
    _instructions: str = field(repr=False)
    _planner: Planner = field(repr=False)

    @property
    def labels(self) -> tuple[str, ...] | None:
        return self._wire.labels.texts if self._wire.labels else None

    def json_schema(self) -> dict[str, Any]:
        return cast("dict[str, Any]", from_json(self._schema))

    def format_instructions(self) -> str:
        return self._instructions

    def parse(self, text: str | None) -> Any:
        return self.decoder.decode(text)

    def parse_partial(self, text: str) -> object:
        return self.partial_reader().feed(text)

    def partial_reader(self) -> DataReader:
        """A reader of one answer while it arrives."""
        return DataReader(self._planner.answer())

    def finder(self) -> Finder:
        """What finds the items of one answer while it arrives, where the type is a list."""
        return Finder(self._wire, bare_words=self._planner.answer().arrays.place(0).bare_words)

    def label_of(self, value: object) -> str | None:
        return self._wire.labels.label_of(value) if self._wire.labels else None

    def render(self, value: Any) -> str:
        inner = wire_value(value)
        shown = inner if self._wire.shape is Shape.OBJECT else {self._wire.shape.value: inner}
        return to_json(shown).decode()

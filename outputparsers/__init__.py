"""From a type to what a model must be told, and from what it answers to a value of the type.

    parser = output_parser(list[Person])
    parser.json_schema()            what to send to models that take schemas
    parser.format_instructions()    what to tell those that do not
    parser.parse(answer)            list[Person], or OutputParsingError with problems that can be sent back

Usable alone: it knows types and texts, no models and no messages.
"""

from .contract import OutputParser
from .errors import AmbiguousUnionWarning, OutputParsingError, Problem, UnsupportedTypeError
from .items import ItemReader, item_reader
from .parser import output_parser, partial_reader
from .partials import PartialReader
from .registry import register_parser

__all__ = [
    "AmbiguousUnionWarning",
    "ItemReader",
    "OutputParser",
    "OutputParsingError",
    "PartialReader",
    "Problem",
    "UnsupportedTypeError",
    "item_reader",
    "output_parser",
    "partial_reader",
    "register_parser",
]

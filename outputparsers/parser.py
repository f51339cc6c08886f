"""The parser of a type: built once, then used for every answer."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pydantic_core import SchemaValidator, ValidationError

from . import instructions, schema
from .decoding import Decoder, Shape, validator_of
from .errors import AmbiguousUnionWarning, OutputParsingError, Problem
from .extracting import fenced_text, spoken_text
from .labels import Labels, boolean_labels, enum_labels, literal_labels
from .partials import growing, partial_json
from .reading import read_type
from .registry import registered_factory
from .rendering import wire_value
from .tolerating import tolerant
from .walking import Node, join_definitions, split_definitions

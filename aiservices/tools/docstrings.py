"""What a docstring says of a function: a summary for the model, and a text for each parameter."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from textwrap import indent
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from docstring_parser import Docstring
    from docstring_parser.google import GoogleParser

_KEYWORD_SECTIONS: Final = (
    "Keyword Args",
    "Keyword Arguments",
    "Keyword Parameters",
    "Other Args",
    "Other Arguments",
    "Other Parameters",
)
_SECTION: Final = re.compile(rf"(?:Args|Arguments|Params|Parameters|{'|'.join(_KEYWORD_SECTIONS)}):\s*")


@dataclass(frozen=True, slots=True)
class Documentation:
    """A docstring taken apart: the description without any section, and the parameters' texts."""

    summary: str
    parameters: Mapping[str, str]

    def warn_of_unknown(self, tool: str, names: Collection[str]) -> None:
        """Warn of documented parameters that the function does not have."""
        for name in self.parameters:
            if name not in names:
                warnings.warn(
                    f"the docstring of tool {tool!r} describes {name!r}, which is no parameter", stacklevel=4
                )


def read_docstring(text: str) -> Documentation:
    """Take a docstring apart; Google, NumPy, reST and Epydoc styles are told apart by what they contain."""
    if not text.strip():
        return Documentation("", {})
    begins_with_section = _SECTION.fullmatch(text.partition("\n")[0]) is not None
    parsed = _parsed(_with_summary(text) if begins_with_section else text)
    if parsed is None:
        return Documentation(text.strip(), {})
    between = "\n\n" if parsed.blank_after_short_description else "\n"
    pieces = [parsed.short_description, parsed.long_description]
    described = {
        name.strip().lstrip("*"): (item.description or "").strip()
        for item in parsed.params
        if item.args[:1] != ["attribute"]
        for name in item.arg_name.split(",")  # NumPy: `x, y : int`
    }
    summary = "" if begins_with_section else between.join(piece.strip() for piece in pieces if piece)
    return Documentation(summary, {name: text for name, text in described.items() if text})


def _parsed(text: str) -> Docstring | None:
    """The docstring as the style reads it that finds most in it."""
    from docstring_parser import DocstringStyle, ParseError, parse

    readings: list[Docstring] = []
    for style in (DocstringStyle.REST, DocstringStyle.GOOGLE, DocstringStyle.NUMPYDOC, DocstringStyle.EPYDOC):
        with suppress(ParseError):
            readings.append(
                _google().parse(text) if style is DocstringStyle.GOOGLE else parse(text, style=style)
            )
    return max(readings, key=lambda reading: len(reading.meta), default=None)


@cache
def _google() -> GoogleParser:
    """Google style with the sections that the parser does not know."""
    from docstring_parser.google import DEFAULT_SECTIONS, GoogleParser, Section, SectionType

    more = [Section(title, "param", SectionType.MULTIPLE) for title in _KEYWORD_SECTIONS]
    return GoogleParser([*DEFAULT_SECTIONS, *more])


def _with_summary(text: str) -> str:
    """A docstring that begins with a section, as if it began with a summary.

    Without one, what cleans a docstring takes the section's lines for text of no indentation.
    """
    first, _, rest = text.partition("\n")
    lines = [line for line in rest.splitlines() if line.strip()]
    indented = rest if lines and lines[0].startswith(" ") else indent(rest, "    ")
    return f"Summary.\n\n{first}\n{indented}"

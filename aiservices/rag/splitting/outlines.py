"""Where programs are cut: at definitions, then at blank lines, then at ends of lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Final

from .packing import Units, words
from .splitter import Span

_MODIFIERS: Final = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|override|async|partial"
    r"|export|default|declare|pub(?:\([^)\n]*\))?|unsafe|virtual|extern|inline|data|case|implicit)\s+)*"
)
_TYPES: Final = r"(?:class|interface|enum|struct|record|trait|object|namespace|module|union)\b"
# A function in the manner of C: what it gives, its name, its parameters, and no semicolon on the line.
_TYPED_FUNCTION: Final = r"(?!return\b|else\b|new\b|throw\b)[\w:<>,\[\]*&?~]+[ \t][^=;\n]*\([^;\n]*$"
_SCRIPT: Final = (
    r"(?:function\b|class\b|interface\b|enum\b|type\b|namespace\b|(?:const|let|var)\s+\w+\s*[:=])"
)

# What the first line of a definition begins with, after its indentation.
DEFINITIONS: Final = {
    "c": rf"(?:{_MODIFIERS}(?:typedef\b|{_TYPES}|{_TYPED_FUNCTION}))",
    "cpp": rf"(?:template\b|{_MODIFIERS}(?:typedef\b|using\b|{_TYPES}|{_TYPED_FUNCTION}))",
    "csharp": rf"{_MODIFIERS}(?:{_TYPES}|{_TYPED_FUNCTION})",
    "go": r"(?:func|type|var|const)\b",
    "java": rf"{_MODIFIERS}(?:{_TYPES}|{_TYPED_FUNCTION})",
    "javascript": rf"{_MODIFIERS}{_SCRIPT}",
    "kotlin": rf"{_MODIFIERS}(?:fun\b|{_TYPES})",
    "php": rf"{_MODIFIERS}(?:function\b|{_TYPES})",
    "python": r"(?:async[ \t]+def|def|class)\b",
    "ruby": r"(?:def|class|module)\b",
    "rust": rf"{_MODIFIERS}(?:fn|impl|mod|macro_rules!|type|const|static|{_TYPES})",
    "scala": rf"{_MODIFIERS}(?:def\b|{_TYPES})",
    "sql": r"(?i:create|alter|insert|update|delete|select|with|drop)\b",
    "swift": rf"{_MODIFIERS}(?:func|extension|protocol|actor|{_TYPES})",
    "typescript": rf"{_MODIFIERS}{_SCRIPT}",
}
# Comments, decorators and attributes right above a definition belong to it.
_ABOVE: Final = r"(?:^{indent}(?:@|#|//|/?\*|--)[^\n]*\n){{0,40}}"
_BLANK: Final = re.compile(r"\n[^\S\n]*\n")
_LINE: Final = re.compile(r"\n")
_LEADING: Final = re.compile(r"(?:[^\S\n]*\n)*")


def outline(language: str) -> tuple[Units, ...]:
    """The kinds of units of a language, the largest first. Raises `ValueError` for one that is not known."""
    if language not in DEFINITIONS:
        raise ValueError(f"no outline of {language!r} is known: give one of {', '.join(DEFINITIONS)}")
    starts = (_definition(language, indent) for indent in ("", r"[ \t]*"))
    return (*(partial(_cut_at, pattern) for pattern in (*starts, _BLANK, _LINE)), words)


def _definition(language: str, indent: str) -> re.Pattern[str]:
    above = _ABOVE.format(indent=indent)
    return re.compile(rf"{above}^{indent}{DEFINITIONS[language]}", re.MULTILINE)


def _cut_at(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    """What begins at each match, without blank lines before it and white space behind it."""
    starts = (0, *(found.start() for found in pattern.finditer(text)), len(text))
    for start, end in pairwise(starts):
        leading = _LEADING.match(text, start, end)
        start = leading.end() if leading else start  # noqa: PLW2901 - the indentation stays
        end = start + len(text[start:end].rstrip())  # noqa: PLW2901
        if start < end:
            yield start, end

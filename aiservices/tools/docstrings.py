"""What a docstring says of a function: a summary for the model, and a text for each parameter."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass


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
    """Take a docstring apart; Google, NumPy and reST styles are told apart by what they contain."""
    if not text.strip():
        return Documentation("", {})
    from docstring_parser import DocstringStyle, parse
    from docstring_parser.common import ParseError

    try:
        parsed = parse(text, style=DocstringStyle.AUTO)
    except ParseError:
        return Documentation(text.strip(), {})
    pieces = [parsed.short_description, parsed.long_description]
    summary = "\n\n".join(piece.strip() for piece in pieces if piece)
    parameters = {item.arg_name.lstrip("*"): (item.description or "").strip() for item in parsed.params}
    return Documentation(summary, {name: described for name, described in parameters.items() if described})

"""The head of a SKILL.md: YAML between two lines of dashes."""

from __future__ import annotations

import re
from typing import Any, Final

from ..errors import ConfigurationError, MissingExtraError

_HEAD: Final = re.compile(r"\s*---[ \t]*\n(?P<head>.*?)^---[ \t]*$\n?", re.DOTALL | re.MULTILINE)


def read_front_matter(text: str, where: str) -> tuple[dict[str, Any], str]:
    """The fields and the text below them. Raises `ConfigurationError` beginning with `where`."""
    found = _HEAD.match(text)
    if found is None:
        raise ConfigurationError(
            f"{where} has no front matter: begin it with a line ---, then `name: ...` and "
            "`description: ...`, then another line ---"
        )
    fields = _yaml(found["head"], where)
    if not isinstance(fields, dict):
        raise ConfigurationError(f"{where}: the front matter is no mapping: write `name: ...`, line by line")
    return fields, text[found.end() :]


def _yaml(head: str, where: str) -> Any:
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError("reading SKILL.md files", extra="skills") from error
    try:
        return yaml.safe_load(head)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # values are read too: dates, numbers
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 2}" if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise ConfigurationError(f"{where}: the front matter is no YAML{line}: {problem}") from error

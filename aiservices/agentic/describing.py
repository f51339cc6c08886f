"""Conditions in a few words, for those who draw it."""

from __future__ import annotations

import ast
import linecache
from functools import partial
from types import CodeType
from typing import Any, Final

from .topology import Branches, Rounds, Told

_LONGEST: Final = 60


def in_words(told: Told, otherwise: str = "condition") -> str:
    """The first line of the docstring, or the name; of a lambda its expression, where that can be read."""
    function: Any = told
    if isinstance(function, str):
        return shortened(function) or otherwise
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", None)
    if name is None:
        name = type(function).__name__
    elif name == "<lambda>":
        return shortened(_expression(getattr(function, "__code__", None))) or otherwise
    elif isinstance(function.__doc__, str) and function.__doc__.strip():
        return shortened(function.__doc__.strip().splitlines()[0])
    return shortened(str(name).replace("_", " ")) or otherwise


def told_rounds(rounds: Rounds) -> list[str]:
    """When a loop ends, in words."""
    most = "1 round" if rounds.most == 1 else f"{rounds.most} rounds"
    if rounds.until is None:
        return [most]
    asked = "asked after each agent" if rounds.each_agent else "asked after each round"
    return [f"until {in_words(rounds.until)}", asked, f"at most {most}"]


def told_branches(branches: Branches, agents: int) -> list[str]:
    """The condition of each agent, in words."""
    words = ["always" if each is None else in_words(each) for each in branches.conditions]
    return [*words, *["otherwise"] * (agents - len(words))]


def shortened(words: str, longest: int = _LONGEST) -> str:
    """The words on one line, cut to a length."""
    line = " ".join(words.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def _expression(code: CodeType | None) -> str:
    """The expression of a lambda; empty where its source is not at hand or does not say which one it is."""
    if code is None:
        return ""
    spans = [
        (line, column)
        for line, _, column, end in code.co_positions()
        if line is not None and column is not None and end is not None and end > column
    ]
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except SyntaxError:
        return ""
    found = [
        node.body
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno and _holds(node.body, spans)
    ]
    return ast.unparse(found[-1]) if found else ""  # the innermost comes last


def _holds(body: ast.expr, spans: list[tuple[int, int]]) -> bool:
    start, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    return bool(spans) and all(start <= span < end for span in spans)

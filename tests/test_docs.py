"""The README and every page of the documentation run as they stand.

The Python blocks of a page run one after another in one namespace. A line `expression  # => value` is
checked against the value's repr. A comment `<!-- model: "first reply", "second" -->` above a block makes
`model` a scripted model with these replies, all of which the block must use.
"""

from __future__ import annotations

import ast
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from aiservices import ToolCall
from aiservices.testing import ScriptedChatModel

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"(?:<!-- model: (?P<replies>.*?) -->\n+)?```python\n(?P<code>.*?)```", re.DOTALL)
CHECKED = re.compile(r"#\s*=>\s*(?P<expected>.*)$")


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_a_page_runs_and_shows_what_really_comes_out(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    module = types.ModuleType(f"docs_{page.stem.replace('-', '_')}")
    sys.modules[module.__name__] = module  # where annotations look for their names
    try:
        blocks = list(BLOCK.finditer(text))
        assert blocks, f"{page.name} shows no code"
        for block in blocks:
            _run(block, module.__dict__, page, text.count("\n", 0, block.start("code")))
    finally:
        del sys.modules[module.__name__]


def _run(block: re.Match[str], names: dict[str, Any], page: Path, line: int) -> None:
    replies = block["replies"]
    if replies is None:
        _execute(block["code"], names, page, line)
        return
    script = eval(f"[{replies}]", {"ToolCall": ToolCall})
    with ScriptedChatModel(*script) as names["model"]:
        _execute(block["code"], names, page, line)


def _execute(code: str, names: dict[str, Any], page: Path, line: int) -> None:
    lines = code.splitlines()
    for statement in ast.parse("\n" * line + code, filename=str(page)).body:
        last = lines[(statement.end_lineno or 0) - line - 1]
        checked = CHECKED.search(last)
        if checked and isinstance(statement, ast.Expr):
            value = eval(compile(ast.Expression(statement.value), str(page), "eval"), names)
            assert repr(value) == checked["expected"].strip(), f"{page.name}, line {statement.lineno}"
        else:
            exec(compile(ast.Module([statement], []), str(page), "exec"), names)


def test_every_page_of_the_documentation_is_reached_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [page.name for page in PAGES[1:] if f"docs/{page.name}" not in readme]
    assert not missing

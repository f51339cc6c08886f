"""The names of the package: the same at run time, for type checkers and for a star import."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import aiservices

STUB = Path(aiservices.__file__).with_suffix(".pyi")
NOT_STARRED = {"OpenAiChatModel", "RedisStore", "SqlStore"}
"""A star import must not load an SDK, nor ask for what is not installed."""


def names_of_the_stub() -> list[str]:
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    aliases = [alias for node in imports for alias in node.names]
    assert all(alias.name == alias.asname for alias in aliases), "`x as x` is what makes a name public"
    return [alias.name for alias in aliases]


def test_type_checkers_and_python_see_the_same_names() -> None:
    assert set(names_of_the_stub()) == {*aiservices.__all__, *NOT_STARRED}
    assert all(hasattr(aiservices, name) for name in NOT_STARRED)
    assert len(set(aiservices.__all__)) == len(aiservices.__all__)


@pytest.mark.parametrize("name", aiservices.__all__)
def test_a_public_name_resolves_to_what_the_stub_imports(name: str) -> None:
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    (home,) = [
        node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and name in [alias.name for alias in node.names]
    ]
    module = __import__(f"aiservices.{home}", fromlist=[name])
    assert getattr(aiservices, name) is getattr(module, name)


def test_what_a_model_is_can_be_imported_from_the_root() -> None:
    """The names of sections 1 to 4, 10 and 11 are importable from `aiservices`."""
    kinds = {"ChatModel", "EmbeddingModel", "ModerationModel", "ModerationResult", "ScoringModel"}
    assert kinds <= set(aiservices.__all__)


def test_what_belongs_to_tools_can_be_imported_from_the_room_that_the_page_names() -> None:
    """The page of tools is headed `aiservices.tools`."""
    from aiservices import tools

    named = {"Allow", "Approval", "Deny", "RateLimit", "RetryCalls", "TimeLimit", "ToolContext", "ToolError"}
    assert named <= set(tools.__all__)
    assert all(getattr(tools, name) is getattr(aiservices, name) for name in named)


def test_a_star_import_brings_all_of_them() -> None:
    namespace: dict[str, object] = {}
    exec("from aiservices import *", namespace)
    assert namespace.keys() - {"__builtins__"} == set(aiservices.__all__)


def test_dir_lists_them_and_an_unknown_name_is_an_attribute_error() -> None:
    assert {*aiservices.__all__, *NOT_STARRED} <= set(dir(aiservices))
    assert not hasattr(aiservices, "nope")
    with pytest.raises(ImportError, match="cannot import name 'nope' from 'aiservices'"):
        exec("from aiservices import nope")


def test_names_are_imported_when_they_are_used() -> None:
    program = (
        "import sys, aiservices\n"
        "before = set(sys.modules)\n"
        "aiservices.system_message\n"
        "print(sorted(name for name in before if name.startswith('aiservices.')))\n"
        "print({'openai', 'jinja2', 'pydantic'} & before)\n"
        "aiservices.create\n"
        "print({'openai', 'jinja2'} & set(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True, encoding="utf-8"
    )
    assert done.stdout.splitlines() == ["[]", "set()", "set()"]


def test_the_package_is_marked_as_typed() -> None:
    assert STUB.with_name("py.typed").is_file()

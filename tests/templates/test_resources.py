"""Templates in files: beside the module that declares them, UTF-8 on every machine."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import aiservices
from aiservices import ConfigurationError
from aiservices.templates import TemplateError, read_resource
from aiservices.testing import ScriptedChatModel
from tests.declarations import system_text, user_text

SERVICE = """
from typing import Protocol
from aiservices import system_message, user_message

@system_message(resource={resource!r})
class Asker(Protocol):
    def ask(self, name: str) -> str: ...
"""
GREETING = "\ufeffGrüße 日本\r\nZeile {{name}}\r\n".encode()

Importer = Callable[..., ModuleType]


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Importer:
    """Writes files below a folder of `sys.path` and imports the module of that name."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def load(name: str, files: dict[str, str | bytes]) -> ModuleType:
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(text if isinstance(text, bytes) else text.encode())
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield load
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("module", "source", "resource"),
    [
        ("lonely", "lonely.py", "sys.txt"),
        ("lonely", "lonely.py", "prompts/sys.txt"),
        ("pack.deep.mod", "pack/deep/mod.py", "sys.txt"),
        ("pack.deep.mod", "pack/deep/mod.py", "prompts/sys.txt"),
        ("pack", "pack/__init__.py", "prompts/sys.txt"),
        ("loose.mod", "loose/mod.py", "prompts/sys.txt"),
    ],
)
def test_a_resource_is_found_beside_its_module(
    imported: Importer, module: str, source: str, resource: str
) -> None:
    """PKG-08: no byte order mark, single newlines, no line end after the last line."""
    files: dict[str, str | bytes] = {source: SERVICE.format(resource=resource)}
    files[str(Path(source).parent / resource)] = GREETING
    if source.startswith("pack/"):
        files |= {"pack/__init__.py": files.get("pack/__init__.py", ""), "pack/deep/__init__.py": ""}
    assert system_text(imported(module, files).Asker, "Ana") == "Grüße 日本\nZeile Ana"


def test_a_resource_of_a_parent_is_looked_up_beside_the_parent(imported: Importer) -> None:
    parent = """
from typing import Protocol
from aiservices import system_message, user_message

@system_message(resource="class.md")
class Parent(Protocol):
    @user_message(resource="method.md")
    def ask(self, name: str) -> str: ...
"""
    child = """
from typing import Protocol
from aiservices import system_message
from one.parent import Parent

class Child(Parent, Protocol):
    def other(self, name: str) -> str: ...

@system_message(resource="child.md")
class Sister(Parent, Protocol):
    pass
"""
    files: dict[str, str | bytes] = {
        "one/__init__.py": "",
        "one/parent.py": parent,
        "one/class.md": "of the parent",
        "one/method.md": "{{ name }}!",
        "two/__init__.py": "",
        "two/child.py": child,
        "two/child.md": "of the child",
    }
    module = imported("two.child", files)
    assert system_text(module.Child, "Ana") == "of the parent"
    assert system_text(module.Child, "Ana", method="other") == "of the parent"
    assert system_text(module.Sister, "Ana") == "of the child"
    assert user_text(module.Sister, "Ana") == "Ana!"


def test_a_test_module_has_resources_too() -> None:
    assert read_resource(__name__, "../typing/README.md").startswith("# ")


@pytest.mark.parametrize("run", ["script.py", "-m pack.mod"])
def test_a_script_has_resources_beside_it(tmp_path: Path, run: str) -> None:
    for folder in (tmp_path, tmp_path / "pack"):
        folder.mkdir(exist_ok=True)
        (folder / "sys.txt").write_bytes(GREETING)
    program = SERVICE.format(resource="sys.txt") + _RUN
    (tmp_path / "script.py").write_text(program, encoding="utf-8")
    (tmp_path / "pack" / "__init__.py").touch()
    (tmp_path / "pack" / "mod.py").write_text(program, encoding="utf-8")
    assert _run(run.split(), tmp_path) == ascii("Grüße 日本\nZeile Ana")


_RUN = """
import aiservices
from aiservices.testing import ScriptedChatModel

model = ScriptedChatModel("ok")
aiservices.create(Asker, chat_model=model).ask("Ana")
print(ascii(model.request.messages[0].text))
"""


def _run(arguments: list[str], folder: Path, **environment: str) -> str:
    root = str(Path(aiservices.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-W", "error", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": root, **environment},
        check=False,
        capture_output=True,
    )
    assert done.stderr == b""
    return done.stdout.decode("ascii").strip()


def test_a_machine_with_another_encoding_reads_the_same_text(tmp_path: Path) -> None:
    """PKG-08: with `-X warn_default_encoding`, no EncodingWarning comes from the library."""
    (tmp_path / "sys.txt").write_bytes(GREETING)
    (tmp_path / "script.py").write_text(SERVICE.format(resource="sys.txt") + _RUN, encoding="utf-8")
    sent = _run(["script.py"], tmp_path, PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", LC_ALL="C", LANG="C")
    assert sent == ascii("Grüße 日本\nZeile Ana")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"gr\xfc\xdfe", "resource 'sys.txt' is not UTF-8 at byte 2"),
        (b"\xef\xbb\xbfgr\xfc", "resource 'sys.txt' is not UTF-8 at byte 5"),
        ("text".encode("utf-16"), "resource 'sys.txt' is not UTF-8 at byte 0"),
        (None, "resource 'sys.txt' cannot be read beside module 'lonely'"),
        (b" \r\n ", "the text is empty"),
        (b"{{ nope }}", "the template uses 'nope'"),
    ],
    ids=["latin-1", "after the mark", "utf-16", "missing", "empty", "unknown variable"],
)
def test_a_resource_that_cannot_be_used_is_named_at_create(
    imported: Importer, content: bytes | None, why: str
) -> None:
    files: dict[str, str | bytes] = {"lonely.py": SERVICE.format(resource="sys.txt")}
    if content is not None:
        files["sys.txt"] = content
    module = imported("lonely", files)
    with pytest.raises(ConfigurationError, match=f"Asker.ask: system message: {why}"):
        aiservices.create(module.Asker, chat_model=ScriptedChatModel())


@pytest.mark.parametrize("path", [".", "nope/x.md", "\0", ""])
def test_a_path_that_is_no_file_is_an_error_of_the_template(path: str) -> None:
    with pytest.raises(TemplateError, match="cannot be read beside module"):
        read_resource(__name__, path)


def test_a_module_without_a_file_says_so() -> None:
    with pytest.raises(TemplateError, match="no file to look beside"):
        read_resource("made_up_in_a_notebook", "x.md")


def test_old_line_ends_become_newlines_too(imported: Importer) -> None:
    imported("lonely", {"lonely.py": "", "a.md": b"a\rb\r\nc\n\n"})
    assert read_resource("lonely", "a.md") == "a\nb\nc\n"

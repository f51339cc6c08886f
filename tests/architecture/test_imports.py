"""What an import does: little, alone, in any order, and nothing that it was not asked for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.sources import PACKAGES

ROOT = Path(__file__).parents[2]
HERE = [package for package in PACKAGES if (ROOT / package).is_dir()]
STRICT = ("-X", "dev", "-W", "error")
IMPORTS_ALONE = ROOT / "scripts" / "imports_alone.py"

# fmt: off
NOT_LOADED_BY_THE_ROOT = (
    "anthropic", "google.genai", "httpx", "httpx2", "jinja2", "jsonschema", "litellm", "mcp", "numpy",
    "onnxruntime", "openai", "opentelemetry", "redis", "sqlalchemy", "starlette", "uvicorn", "xllamacpp",
)
# fmt: on


def python(*arguments: str | Path, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter that finds packages in `folder`."""
    command = [sys.executable, *STRICT, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def loaded_by(statement: str, folder: Path = ROOT) -> set[str]:
    done = python("-c", f"import sys; {statement}; print(*sys.modules)", folder=folder)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_importing_the_root_loads_no_sdk_no_web_framework_and_no_numpy() -> None:
    """PKG-01: what needs an extra says so when it is used, which each such feature's tests show."""
    assert loaded_by("import aiservices").isdisjoint(NOT_LOADED_BY_THE_ROOT)


def test_that_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "eager.py").write_text("import jinja2")
    assert not loaded_by("import eager", tmp_path).isdisjoint(NOT_LOADED_BY_THE_ROOT)


def test_every_module_imports_alone_without_a_warning_and_has_what_it_exports() -> None:
    """PKG-03, and PKG-06 for imports: none of them may reach for the network."""
    done = python(IMPORTS_ALONE, *HERE)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("import house.second", "partially initialized module"),
        ("import warnings; warnings.warn('old', DeprecationWarning)", "DeprecationWarning: old"),
        ("__all__ = ['missing']", "__all__ names what is not there: missing"),
        ("import socket; socket.getaddrinfo('localhost', 80)", "reached for the network"),
        ("raise ImportError('pip install aiservices[local]')", "aiservices[local]"),
    ],
)
def test_a_module_that_cannot_be_imported_alone_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    house = tmp_path / "house"
    house.mkdir()
    (house / "__init__.py").touch()
    (house / "first.py").write_text(text)
    (house / "second.py").write_text("from house.first import name")
    done = python(IMPORTS_ALONE, "house", folder=tmp_path)
    assert done.returncode == 1
    assert "house.first does not import alone" in done.stderr
    assert complaint in done.stderr


@pytest.mark.parametrize("package", HERE)
def test_a_star_import_gives_exactly_what_all_names(package: str) -> None:
    statement = f"names = {{}}; exec('from {package} import *', names); import {package}; "
    compared = f"sys.exit(sorted(set(names) - {{'__builtins__'}}) != sorted({package}.__all__))"
    done = python("-c", f"import sys; {statement}{compared}")
    assert done.returncode == 0, done.stderr

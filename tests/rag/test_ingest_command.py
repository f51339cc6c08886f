"""The command `aiservices ingest`, with the embedded model and a file of SQLite."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aiservices.cli import main
from aiservices.models.local import LocalEmbeddingModel
from aiservices.rag import SqlEmbeddingStore
from tests.programs import complaints

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "handbook"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nBees make honey.", encoding="utf-8")
    (root / "cats.txt").write_text("Cats sleep most of the day.", encoding="utf-8")
    return root


def found(file: Path, question: str) -> list[str]:
    with SqlEmbeddingStore(file) as store:
        (vector,) = LocalEmbeddingModel().embed([question]).vectors
        return [match.segment.text for match in store.search(vector, max_results=9)]


def test_a_folder_is_ingested_and_again_costs_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ingest", str(folder)]) == 0
    said = capsys.readouterr()
    assert (
        said.out
        == "knowledge.db: 2 added, 0 updated, 0 unchanged, 0 removed, 0 failed (2 segments written)\n"
    )
    assert said.err == ""
    assert found(folder.parent / "knowledge.db", "Who sleeps?")[0] == "Cats sleep most of the day."
    assert main(["ingest", str(folder)]) == 0
    assert "0 added, 0 updated, 2 unchanged" in capsys.readouterr().out


def test_a_file_follows_its_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    into = folder.parent / "own.db"
    assert main(["ingest", str(folder), "--into", str(into), "--glob", "*.md"]) == 0
    (folder / "bees.md").unlink()
    assert main(["ingest", str(folder), "--into", str(into)]) == 0
    assert "1 added, 0 updated, 0 unchanged, 0 removed" in capsys.readouterr().out
    assert main(["ingest", str(folder), "--into", str(into), "--remove-missing"]) == 0
    assert "0 added, 0 updated, 1 unchanged, 1 removed" in capsys.readouterr().out
    assert found(into, "bees") == ["Cats sleep most of the day."]


def test_a_single_file_is_a_document(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", str(folder / "bees.md")]) == 0
    assert "1 added" in capsys.readouterr().out


def test_what_cannot_be_read_is_told_and_the_rest_goes_on(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.txt").write_bytes(b"\xff")
    assert main(["ingest", str(folder)]) == 1
    said = capsys.readouterr()
    assert "2 added, 0 updated, 0 unchanged, 0 removed, 1 failed" in said.out
    assert "bad.txt is not utf-8 at byte 0" in said.err
    (folder / "bees.md").write_bytes(b"\xff")
    assert main(["ingest", str(folder), "--remove-missing"]) == 1
    assert "0 added, 0 updated, 1 unchanged, 0 removed, 2 failed" in capsys.readouterr().out


def test_what_cannot_be_read_is_told_once(folder: Path) -> None:
    """Outside of pytest, where nobody listens to the log."""
    (folder / "bad.txt").write_bytes(b"\xff")
    ran = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-m", "aiservices.cli", "ingest", str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert complaints(ran.stderr).count("bad.txt is not utf-8 at byte 0") == 1


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (["nowhere"], "nowhere cannot be read: No such file"),
        (["http://127.0.0.1:9/"], "http://127.0.0.1:9/ cannot be fetched"),
        (["handbook/bees.md", "--remove-missing"], "--remove-missing is for a folder, or needs --source"),
        (["handbook", "--glob", "../*"], "glob='../*' is no pattern inside of the folder"),
        (["handbook", "--source", " "], "--source is blank"),
        (["handbook", "--into", ""], "--into is blank"),
        ([""], "PATH is blank"),
    ],
)
def test_a_failure_is_one_line_on_standard_error(
    folder: Path, capsys: pytest.CaptureFixture[str], line: list[str], complaint: str
) -> None:
    assert main(["ingest", *line]) == 1
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1
    assert not (folder.parent / "knowledge.db").exists()

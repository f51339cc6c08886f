"""`aiservices ask`: answers from a file of knowledge, with sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from aiservices.asking import said
from aiservices.cli import main
from aiservices.messages import AiMessage, ChatResponse, FinishReason
from aiservices.models.local import LocalEmbeddingModel
from aiservices.rag import SqlEmbeddingStore, TextSegment

PASSAGES = {
    "sea.txt": "An octopus has three hearts and blue blood.",
    "e41.md": "Error E41 on the dishwasher means that water does not run off.",
    "e42.md": "Error E42 on the dishwasher means that the door is not locked." + " Push it." * 20,
}


@pytest.fixture
def knowledge(tmp_path: Path) -> Path:
    """A file as `aiservices ingest` makes it."""
    segments = [TextSegment(text, {"file_name": name}) for name, text in PASSAGES.items()]
    with SqlEmbeddingStore(tmp_path / "knowledge.db") as store:
        store.add(LocalEmbeddingModel().embed([each.text for each in segments]).vectors, segments)
    return tmp_path / "knowledge.db"


def test_a_question_is_answered_with_its_sources(knowledge: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "How many hearts does an octopus have?", "--from", str(knowledge)]) == 0
    said = capsys.readouterr().out
    assert "three hearts" in said.split("Sources:")[0]
    assert said.splitlines()[-1] == f"  [1] sea.txt: {PASSAGES['sea.txt']}"


def test_the_file_of_this_folder_is_the_default_and_codes_are_found(
    knowledge: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(knowledge.parent)
    assert main(["ask", "E42", "--results", "2"]) == 0
    sources = capsys.readouterr().out.split("Sources:\n")[1].splitlines()
    assert [line.split(":")[0] for line in sources] == ["  [1] e42.md", "  [2] e41.md"]
    assert sources[0].endswith(" Push it...")


def test_a_file_without_knowledge_is_not_asked_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "empty.db"
    with SqlEmbeddingStore(file) as store:
        store.add([], [])
    file.touch()
    assert main(["ask", "anything?", "--from", str(file)]) == 0
    assert capsys.readouterr().out == f"There is nothing in {file}.\n"


def test_an_answer_without_an_end_is_shown_as_far_as_it_goes() -> None:
    """The embedded model is so small that it does not always find one."""
    response = ChatResponse(AiMessage("on and on"), finish_reason=FinishReason.LENGTH)
    assert said(response) == "on and on ... (cut off)"
    assert said(ChatResponse(AiMessage(" "))) == "(The model said nothing.)"


def test_a_missing_file_is_told_how_to_make_and_is_not_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "none.db"
    assert main(["ask", "anything?", "--from", str(file)]) == 1
    assert f"there is no file {file}: `aiservices ingest PATH --into {file}`" in capsys.readouterr().err
    assert not file.exists()


def test_a_blank_question_is_refused(knowledge: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", " ", "--from", str(knowledge)]) == 1
    assert capsys.readouterr().err == "aiservices: the question is blank\n"


def test_a_number_of_results_that_makes_no_sense_is_refused(
    knowledge: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", "anything?", "--from", str(knowledge), "--results", "0"]) == 1
    assert "--results is 0: give 1 or more" in capsys.readouterr().err

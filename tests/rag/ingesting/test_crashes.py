"""A process that ingests is killed at each step of its work, and the next run brings everything in order."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from aiservices.rag import F, SqlEmbeddingStore
from tests.mortals import Run, children_of

from .crashing import DOCUMENTS, ingest

KINDS: Final = ("blocking", "asynchronous")
STEPS: Final = ("embed", "intend", "add", "remove", "done")


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Ingests in a process of its own and gives how that ended."""
    with children_of("tests.rag.ingesting.crashing") as perform:
        yield perform


def texts(folder: Path, name: str) -> list[str]:
    """What the store holds of a document, in order."""
    with SqlEmbeddingStore(str(folder / "knowledge.db")) as store:
        found = store.search([1.0], max_results=100, filter=F("document_id") == name)
    return [each.segment.text for each in sorted(found, key=lambda each: str(each.segment.metadata["index"]))]


def embedded(folder: Path) -> list[str]:
    """The first words of the documents, in the order in which they were embedded."""
    lines = (folder / "embedded.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)[0] for line in lines]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("what", STEPS)
def test_changed_documents(run: Run, tmp_path: Path, kind: str, name: str, what: str) -> None:
    assert run(tmp_path, kind, "old") == 0
    assert run(tmp_path, kind, "new", f"{what} {name}") == -signal.SIGKILL
    for each in DOCUMENTS:
        old, new = [f"old-{each}", f"kept-{each}"], [f"new-{each}", f"kept-{each}"]
        if each == name and what in ("remove", "done"):
            assert set(texts(tmp_path, each)) in ({*old, *new}, {*new})
        else:
            assert texts(tmp_path, each) == (new if each < name else old)

    report = ingest(tmp_path, kind, "new")
    finished = DOCUMENTS.index(name)
    assert report.unchanged == finished
    assert report.failed == ()
    for each in DOCUMENTS:
        assert texts(tmp_path, each) == [f"new-{each}", f"kept-{each}"]
    again = 0 if what == "embed" else 1
    assert len(embedded(tmp_path)) == 2 * len(DOCUMENTS) + again
    assert embedded(tmp_path).count(f"new-{name}") == 1 + again


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["embed", "intend", "add", "done"])
def test_new_documents(run: Run, tmp_path: Path, kind: str, what: str) -> None:
    assert run(tmp_path, kind, "new", f"{what} b") == -signal.SIGKILL
    assert texts(tmp_path, "a") == ["new-a", "kept-a"]
    assert texts(tmp_path, "b") == (["new-b", "kept-b"] if what == "done" else [])
    assert texts(tmp_path, "c") == []
    report = ingest(tmp_path, kind, "new")
    assert (report.unchanged, report.added) == (1, 2)
    assert [texts(tmp_path, each) for each in DOCUMENTS] == [
        [f"new-{each}", f"kept-{each}"] for each in "abc"
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["intend", "add", "remove", "done"])
def test_a_document_that_was_being_changed_changes_again(
    run: Run, tmp_path: Path, kind: str, what: str
) -> None:
    assert run(tmp_path, kind, "old") == 0
    assert run(tmp_path, kind, "new", f"{what} b") == -signal.SIGKILL
    assert ingest(tmp_path, kind, "newer").failed == ()
    assert texts(tmp_path, "b") == ["newer-", "b", "kept-b"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["intend a", "remove ", "forget"])
def test_removed_documents(run: Run, tmp_path: Path, kind: str, what: str) -> None:
    assert run(tmp_path, kind, "old") == 0
    assert run(tmp_path, kind, "gone", what) == -signal.SIGKILL
    assert ingest(tmp_path, kind, "gone").failed == ()
    assert [texts(tmp_path, each) for each in DOCUMENTS] == [[], [], ["old-c", "kept-c"]]
    assert ingest(tmp_path, kind, "old").added == 2
    assert texts(tmp_path, "a") == ["old-a", "kept-a"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["intend a", "remove ", "forget"])
def test_a_document_that_was_being_removed_is_back(run: Run, tmp_path: Path, kind: str, what: str) -> None:
    assert run(tmp_path, kind, "old") == 0
    assert run(tmp_path, kind, "gone", what) == -signal.SIGKILL
    ingest(tmp_path, kind, "old")
    assert [texts(tmp_path, each) for each in DOCUMENTS] == [
        [f"old-{each}", f"kept-{each}"] for each in "abc"
    ]

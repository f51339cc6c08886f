"""The bar that tells how far an ingestor is."""

from __future__ import annotations

import io

import pytest

from aiservices.rag import IngestionProgress
from aiservices.rag.progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")


def test_a_terminal_shows_how_many_documents_are_done() -> None:
    terminal = Terminal()
    with progress_bar("pages", file=terminal) as show:
        for done in range(1, 4):
            show(IngestionProgress(done, 3))
    assert "pages" in terminal.getvalue()
    assert "3/3" in terminal.getvalue()


def test_how_many_there_are_need_not_be_known() -> None:
    terminal = Terminal()
    with progress_bar(file=terminal) as show:
        show(IngestionProgress(7, None))
    assert "7/?" in terminal.getvalue()


def test_where_nobody_watches_nothing_is_shown() -> None:
    file = io.StringIO()
    with progress_bar(file=file) as show:
        show(IngestionProgress(1, 2))
    assert file.getvalue() == ""

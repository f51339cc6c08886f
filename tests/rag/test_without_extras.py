"""Retrieval where only the package itself is installed, in a process where nothing else can be imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
ALONE = """\
import sys

EXTRAS = "markitdown numpy onnxruntime pgvector psycopg pypdf qdrant_client rich semantic_text_splitter"
for name in (*EXTRAS.split(), "sqlalchemy", "trafilatura"):
    sys.modules[name] = None
"""


def said_alone(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", ALONE + dedent(program), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_needs_no_extra_works(tmp_path: Path) -> None:
    (tmp_path / "bees.md").write_text("# Bees\n\nBees make honey.", encoding="utf-8")
    ran = said_alone(
        """
        from typing import Protocol
        from aiservices import Result, create
        from aiservices.rag import EmbeddingStore, Ingestor, KeywordIndex, KeywordRetriever
        from aiservices.rag import RetrievalAugmentor, by_line, load_directory
        from aiservices.testing import ScriptedChatModel

        class Helper(Protocol):
            def answer(self, question: str) -> Result[str]: ...

        class Nowhere(EmbeddingStore):
            def add(self, vectors, segments, *, ids=None): return list(ids)
            def search(self, vector, **options): return []
            def remove(self, ids=None, **options): return 0

        index = KeywordIndex()
        ingestor = Ingestor(
            embedding_model=lambda texts: [[1.0]] * len(texts),
            embedding_store=Nowhere(),
            keyword_index=index,
            splitter=by_line(500),
        )
        assert ingestor.ingest(load_directory(sys.argv[1])).added == 1
        augmentor = RetrievalAugmentor(retrievers=[KeywordRetriever(keyword_index=index)])
        helper = create(Helper, chat_model=ScriptedChatModel("honey"), retrieval_augmentor=augmentor)
        print([source.metadata["file_name"] for source in helper.answer("What do bees make?").sources])
        """,
        str(tmp_path),
    )
    assert ran.stderr == ""
    assert ran.stdout == "['bees.md']\n"


def test_what_needs_an_extra_names_it() -> None:
    ran = said_alone(
        """
        import aiservices.rag as rag
        from aiservices.errors import MissingExtraError

        document = rag.Document("one two")
        for use in (
            lambda: rag.InMemoryEmbeddingStore(),
            lambda: rag.recursive(9),
            lambda: rag.by_sentence(9).split(document),
            lambda: rag.SqlEmbeddingStore,
            lambda: rag.PgVectorEmbeddingStore,
            lambda: rag.QdrantEmbeddingStore,
        ):
            try:
                use()
            except MissingExtraError as missing:
                print(missing.extra)
        """
    )
    assert ran.stderr == ""
    assert ran.stdout.split() == ["rag", "rag", "rag", "sql", "pgvector", "qdrant"]


def test_the_commands_name_all_extras_at_once(tmp_path: Path) -> None:
    (tmp_path / "knowledge.db").touch()
    for line, extras in (
        (("ingest", str(tmp_path)), "documents,local,rag,sql"),
        (("ask", "What do bees make?", "--from", str(tmp_path / "knowledge.db")), "local,rag,sql"),
    ):
        ran = said_alone("from aiservices.cli import main; sys.exit(main(sys.argv[1:]))", *line)
        said = f"`aiservices {line[0]}` needs more to be installed: pip install 'aiservices[{extras}]'"
        assert (ran.returncode, ran.stderr) == (1, f"aiservices: {said}\n")

"""Segments are found by their words, and a question is only text."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiservices.driving import run_in_background, run_in_worker
from aiservices.errors import ConfigurationError, StoreError
from aiservices.rag import F, KeywordIndex, TextSegment
from aiservices.rag.keyword_index import prepare
from aiservices.rag.words import query_for
from aiservices.testing.embedding_stores.keeping import METADATA, TEXTS

from .strategies import filters, metadata


@pytest.fixture(params=["in memory", "in a file"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KeywordIndex]:
    with KeywordIndex() if request.param == "in memory" else KeywordIndex(tmp_path / "words.db") as made:
        yield made


def filled(index: KeywordIndex, *texts: str) -> KeywordIndex:
    index.add([TextSegment(text) for text in texts], ids=[str(number) for number in range(len(texts))])
    return index


def found(index: KeywordIndex, text: str, **options: Any) -> list[str]:
    return [match.id for match in index.search(text, **({"max_results": 100} | options))]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("The router resets.", "RESETTING a router"),
        ("café au lait", "CAFE"),
        ("cafe", "café"),
        ("e\u0301clair", "éclair"),
        ("日本語の文章を書く", "文章とは"),
        ("東京 Tokyo", "東京"),
        ("東", "東"),
        ("party 😀 time", "😀"),
        ("हिन्दी भाषा", "भाषा"),
        ("error E-4711x", "what is e-4711X?"),
        ("snake_case name", "case"),
        ("don't panic", "don't"),
        ("Straße", "STRASSE straße"),
        ("a\0b", "b"),
        ("half \ud800 a pair", "pair \udfff"),
        ("NOT here", "not"),
        ("x" * 3000, "x" * 3000),
        ("last", " ".join(f"w{number}" for number in range(400)) + " last"),
    ],
)
def test_a_segment_is_found_by_a_word_of_it(index: KeywordIndex, text: str, question: str) -> None:
    filled(index, "something else", text)
    assert found(index, question) == ["1"]


@pytest.mark.parametrize(
    "question",
    [
        *(
            '"',
            '""',
            "'",
            '"unclosed',
            "*",
            "word*",
            "^word",
            "a AND",
            "AND",
            "NEAR(a b, 2)",
            "NOT",
            "( )",
            ")",
        ),
        *(
            "words: a",
            "-a",
            "+",
            "{a b}",
            "a\\b",
            "%",
            ";",
            "--",
            "\0",
            "\ud800",
            "",
            " ",
            "?",
            "本日",
            "a" * 10_000,
        ),
    ],
)
def test_a_question_is_only_text(index: KeywordIndex, question: str) -> None:
    filled(index, "nothing of that kind", "日本")
    assert found(index, question) == []


@given(st.text())
def test_any_question_is_answered(question: str) -> None:
    filled(SHARED, "some words")
    found(SHARED, question)


# Letters that are younger than the Unicode of SQLite are no letters to it.
LETTERS = (
    "aZ09_ .,'\"*-()éßİıǅ\u0301ΩжשלहिกĐ日本語のア가😀👩\u200d\ufe0f"
    "\U00020000\U0002ebe1½²\u00b8\u0345\0\ud800\n"
)


@given(st.text(st.sampled_from(LETTERS) | st.characters(codec="latin-1"), min_size=1))
def test_any_text_with_words_is_found_by_itself(text: str) -> None:
    SHARED.remove(["1"])
    filled(SHARED, "some words", text)
    if query_for(text):
        assert "1" in found(SHARED, text)


SHARED = KeywordIndex()


@given(st.lists(metadata(), max_size=6), filters())
def test_filters_leave_the_rows_that_the_reference_leaves(rows: list[dict[str, Any]], filter: Any) -> None:
    SHARED.remove(filter=F("no such key") != 0)
    segments = [TextSegment("word", row) for row in rows]
    SHARED.add(segments, ids=[str(number) for number in range(len(rows))])
    expected = [str(n) for n, segment in enumerate(segments) if filter.matches(segment.metadata)]
    assert found(SHARED, "word", filter=filter) == expected
    assert found(SHARED, "word", filter=filter, max_results=2) == expected[:2]
    assert SHARED.remove(filter=filter) == len(expected)
    assert len(SHARED) == len(rows) - len(expected)


def test_rare_words_count_more_and_the_best_comes_first(index: KeywordIndex) -> None:
    filled(index, "the cat and the dog", "the dog and the horse", "the zebra and the dog", "no animals here")
    matches = index.search("dog zebra", max_results=9)
    assert [match.id for match in matches] == ["2", "0", "1"]
    assert matches[0].score > matches[1].score > 0
    assert matches[1].score == matches[2].score
    assert len(index.search("dog")) == 3
    assert found(index, "dog", max_results=1) == ["0"]


def test_what_is_added_again_is_replaced_and_what_is_removed_is_not_found(index: KeywordIndex) -> None:
    filled(index, "old words", "other words")
    assert index.add([TextSegment("first"), TextSegment("new")], ids=["0", "0"]) == ["0", "0"]
    assert found(index, "old") == found(index, "first") == []
    assert found(index, "new") == ["0"]
    assert index.remove(["0", "0", "unknown"]) == 1
    assert found(index, "new words") == ["1"]
    assert index.remove([]) == index.remove(["0"]) == 0
    assert len(index) == 1


def test_segments_come_back_equal(index: KeywordIndex) -> None:
    segments = [TextSegment(f"word {text}", METADATA, 1, 2) for text in TEXTS]
    index.add(segments)
    assert {match.segment.text for match in index.search("word", max_results=99)} == {
        each.text for each in segments
    }
    assert all(match.segment in segments for match in index.search("word", max_results=99))


def test_new_ids_are_different(index: KeywordIndex) -> None:
    ids = index.add([TextSegment("same"), TextSegment("same")])
    assert len(set(ids)) == 2
    assert found(index, "same") == ids
    assert index.add([]) == []


def test_wrong_arguments_are_refused(index: KeywordIndex) -> None:
    refused: list[tuple[type[Exception], Callable[[], object]]] = [
        (ValueError, lambda: index.search("a", max_results=0)),
        (ValueError, index.remove),
        (ValueError, lambda: index.add([TextSegment("a")], ids=[])),
        (ValueError, lambda: index.add([TextSegment("a")], ids=[" "])),
        (TypeError, lambda: index.remove("a")),
        (TypeError, lambda: index.search("a", filter={"k": 1})),  # type: ignore[arg-type]
        (TypeError, lambda: index.add(["a"])),  # type: ignore[list-item]
    ]
    for kind, use in refused:
        with pytest.raises(kind):
            use()
    with pytest.raises(TypeError, match="the words of a text, not of a NoneType"):
        index.search(None)  # type: ignore[arg-type]


def test_threads_and_both_halves_share_an_index(index: KeywordIndex) -> None:
    def work(number: int) -> None:
        index.add([TextSegment(f"word{number}", {"n": number})], ids=[str(number)])
        assert found(index, f"word{number}") == [str(number)]

    for future in [run_in_worker(partial(work, number)) for number in range(8)]:
        future.result()

    async def use() -> None:
        assert await index.aadd([TextSegment("asynchronous")], ids=["a"]) == ["a"]
        assert [match.id for match in await index.asearch("asynchronous")] == ["a"]
        assert await index.aremove(filter=F("n") < 4) == 4
        assert await index.aremove(["a"]) == 1

    run_in_background(use())
    assert len(index) == 4


def test_a_file_is_shared_and_found_again(tmp_path: Path) -> None:
    with KeywordIndex(tmp_path / "words.db") as index, KeywordIndex(tmp_path / "words.db") as other:
        filled(index, "some words")
        assert found(other, "words") == ["0"]
        index.close()
        assert found(index, "words") == ["0"]
    with KeywordIndex(tmp_path / "words.db") as again:
        assert found(again, "words") == ["0"]


def test_a_file_that_is_no_database_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database " * 1000)
    with KeywordIndex(tmp_path / "text") as index, pytest.raises(StoreError, match="not a database"):
        index.search("a")


def test_an_sqlite_without_full_text_search_is_named() -> None:
    class WithoutFts5(sqlite3.Connection):
        def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
            if "fts5" in sql:
                raise sqlite3.OperationalError("no such module: fts5")
            return super().execute(sql, *args)

    connection = sqlite3.connect(":memory:", isolation_level=None, factory=WithoutFts5)
    with pytest.raises(ConfigurationError, match="FTS5"):
        prepare(connection)
    connection.close()

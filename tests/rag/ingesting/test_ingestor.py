"""Ingesting: what is stored, and what is told of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from aiservices import TokenUsage
from aiservices.rag import (
    Document,
    IngestionProgress,
    IngestionReport,
    TextSegment,
    by_word,
)
from aiservices.stores import InMemoryStore

from .keeping import Lengths, Rows, Words, documents

Invoke = Callable[..., IngestionReport]


def test_documents_are_split_embedded_together_and_stored(
    make: Any, store: Rows, model: Lengths, invoke: Invoke
) -> None:
    """I2"""
    report = invoke(make(), "ingest", documents(a="one two three", b="four"))
    assert model.batches == [["one", "two", "three", "four"]]
    assert store.adds == [4]
    assert store.texts() == ["one", "two", "three", "four"]
    assert report == IngestionReport(tuple(store.rows), added=2, usage=TokenUsage(4))
    (_, segment) = store.rows[report.ids[1]]
    assert segment == TextSegment("two", {"index": 1, "document_id": "a"}, 4, 7)


def test_any_function_of_texts_is_an_embedding_model(make: Any, store: Rows, invoke: Invoke) -> None:
    invoke(
        make(embedding_model=lambda texts: [[float(len(text))] for text in texts]),
        "ingest",
        documents(a="one"),
    )
    assert [vector for vector, _ in store.rows.values()] == [[3.0]]


def test_without_a_splitter_a_document_is_one_segment(make: Any, store: Rows, invoke: Invoke) -> None:
    """I3, S30"""
    given = [Document("one two", {"page": 7}, id="a"), Document("three", {"index": 9}, id="b")]
    invoke(make(splitter=None), "ingest", given)
    assert [segment for _, segment in store.rows.values()] == [
        TextSegment("one two", {"index": 0, "page": 7, "document_id": "a"}, 0, 7),
        TextSegment("three", {"index": 9, "document_id": "b"}, 0, 5),
    ]


def test_again_costs_nothing_and_what_changed_takes_the_old_ones_place(
    make: Any, store: Rows, model: Lengths, invoke: Invoke
) -> None:
    ingestor = make()
    first = invoke(ingestor, "ingest", documents(a="one two", b="three four"))
    again = invoke(ingestor, "ingest", documents(a="one two", b="three four"))
    assert again == IngestionReport(unchanged=2)
    assert len(model.batches) == 1
    changed = invoke(ingestor, "ingest", documents(a="one", b="three four"))
    assert (changed.updated, changed.unchanged, changed.removed) == (1, 1, 0)
    assert changed.ids == first.ids[:1]
    assert store.texts() == ["one", "three", "four"]


def test_metadata_splitter_and_model_are_part_of_the_content(
    make: Any, store: Rows, model: Lengths, invoke: Invoke
) -> None:
    ledger = InMemoryStore()
    given = documents(a="one two")
    invoke(make(ledger=ledger), "ingest", given)
    assert invoke(make(ledger=ledger), "ingest", given).unchanged == 1
    other = Lengths()
    other.model_name = "others"
    for differing in (
        invoke(make(ledger=ledger, splitter=by_word(9)), "ingest", given),
        invoke(make(ledger=ledger, splitter=by_word(9), embedding_model=other), "ingest", given),
        invoke(make(ledger=ledger), "ingest", [Document("one two", {"page": 1}, id="a")]),
    ):
        assert differing.updated == 1
    assert store.texts() == ["one", "two"]
    assert invoke(make(ledger=ledger, namespace="other"), "ingest", given).added == 1


def test_functions_and_dimensions_tell_models_apart(make: Any, invoke: Invoke) -> None:
    def one(texts: list[str]) -> list[list[float]]:
        return [[1.0] for _ in texts]

    def other(texts: list[str]) -> list[list[float]]:
        return [[2.0] for _ in texts]

    class Sized(Lengths):
        dimensions = 8

    class Shorter(Sized):
        dimensions = 4

    Shorter.__qualname__ = Sized.__qualname__
    ledger, given = InMemoryStore(), documents(a="one two")
    for model in (one, partial(other), Sized(), Shorter()):
        ingestor = make(ledger=ledger, embedding_model=model)
        assert invoke(ingestor, "ingest", given).unchanged == 0
        assert invoke(ingestor, "ingest", given).unchanged == 1


def test_a_document_keeps_a_source_of_its_own_where_the_run_names_none(
    make: Any, store: Rows, invoke: Invoke
) -> None:
    given = [Document("one", {"source": "handbook.pdf"}, id="a")]
    invoke(make(), "ingest", given)
    invoke(make(), "ingest", given, source="handbooks")
    assert [each.metadata["source"] for _, each in store.rows.values()] == ["handbook.pdf", "handbooks"]


def test_transformers_change_and_drop(make: Any, store: Rows, model: Lengths, invoke: Invoke) -> None:
    """I1"""

    class Shouting:
        async def transform(self, segment: TextSegment) -> TextSegment | None:
            return None if segment.text == "two" else replace(segment, text=segment.text.upper())

    def shorten(document: Document) -> Document | None:
        return None if document.id == "b" else Document(document.text[4:], {"short": True})

    ingestor = make(document_transformer=shorten, segment_transformer=Shouting())
    report = invoke(ingestor, "ingest", documents(a="one two three", b="four"))
    assert model.batches == [["THREE"]]
    assert (report.added, report.removed) == (1, 0)
    ((_, segment),) = store.rows.values()
    assert segment == TextSegment("THREE", {"short": True, "index": 1, "document_id": "a"}, 4, 9)


@pytest.mark.parametrize("wrong", ["upper", Any])
@pytest.mark.parametrize(
    ("option", "wanted"),
    [
        ("document_transformer", "a function of a Document, or an object with `transform`"),
        ("embedding_store", "an EmbeddingStore"),
        ("splitter", "an object with `split"),
        ("ledger", "a Store, such as SqlStore"),
        ("on_progress", "a function of an IngestionProgress"),
    ],
)
def test_parts_that_cannot_work_are_refused_at_once(make: Any, option: str, wanted: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match=f"{option} is .*: give {wanted}"):
        make(**{option: wrong})


@pytest.mark.parametrize("given", ["text", ["text"], [None]])
def test_what_is_no_document_is_refused(make: Any, given: Any, invoke: Invoke) -> None:
    with pytest.raises(TypeError, match=r"there is (a str|None) among the documents: give Documents"):
        invoke(make(), "ingest", given)


@pytest.mark.parametrize("emptied", ["", "dropped"])
def test_a_document_of_which_nothing_is_left_is_removed(
    make: Any, store: Rows, emptied: str, invoke: Invoke
) -> None:
    ingestor = make(document_transformer=lambda each: None if each.text == "dropped" else each)
    invoke(ingestor, "ingest", documents(a="one two", b="three"))
    report = invoke(ingestor, "ingest", documents(a=emptied, b="three"))
    assert (report.removed, report.unchanged) == (1, 1)
    assert store.texts() == ["three"]
    assert invoke(ingestor, "ingest", documents(a=emptied)) == IngestionReport()
    assert invoke(ingestor, "ingest", documents(a="one two")).added == 1


def test_what_left_a_source_is_removed_and_other_sources_stay(make: Any, store: Rows, invoke: Invoke) -> None:
    ingestor = make()
    invoke(ingestor, "ingest", documents(a="one", b="two"), source="left")
    invoke(ingestor, "ingest", documents(a="three"), source="right")
    invoke(ingestor, "ingest", documents(a="four"))
    assert store.texts("a") == ["one", "three", "four"]
    report = invoke(ingestor, "ingest", documents(b="two"), source="left", remove_missing=True)
    assert (report.removed, report.unchanged) == (1, 1)
    assert sorted(store.texts()) == ["four", "three", "two"]
    (source,) = [each.metadata["source"] for _, each in store.rows.values() if each.text == "three"]
    assert source == "right"


def test_removing_what_is_missing_needs_a_source(make: Any, invoke: Invoke) -> None:
    with pytest.raises(ValueError, match="remove_missing needs a source"):
        invoke(make(), "ingest", documents(a="one"), remove_missing=True)
    with pytest.raises(TypeError, match="source is a int"):
        invoke(make(), "ingest", documents(a="one"), source=3)
    with pytest.raises(ValueError, match="source is blank"):
        invoke(make(), "ingest", documents(a="one"), source=" ")


def test_batches_have_at_most_so_many_segments_and_go_over_ends_of_documents(
    make: Any, store: Rows, model: Lengths, invoke: Invoke
) -> None:
    report = invoke(
        make(batch_size=3), "ingest", documents(a="111 2222", b="33333 444 55555 666 7777", c="88")
    )
    assert sorted(map(len, model.batches)) == [2, 3, 3]
    assert store.texts() == ["111", "2222", "33333", "444", "55555", "666", "7777", "88"]
    assert all(list(vector) == [len(segment.text)] for vector, segment in store.rows.values())
    assert report.usage == TokenUsage(8)


def test_progress_is_told_for_every_document(make: Any, invoke: Invoke) -> None:
    told: list[IngestionProgress] = []
    given = documents(a="one", b="bad!", c="", d="two")
    ingestor = make(on_progress=told.append)
    invoke(ingestor, "ingest", given)
    assert told == [IngestionProgress(done, 4) for done in (1, 2, 3, 4)]
    told.clear()
    invoke(ingestor, "ingest", (each for each in given))
    assert told == [IngestionProgress(done, None) for done in (1, 2, 3, 4)]

    async def stop(progress: IngestionProgress) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        invoke(make(on_progress=stop), "ingest", given)


def test_documents_come_from_any_iterable_and_are_read_as_they_are_needed(
    make: Any, store: Rows, model: Lengths, invoke: Invoke
) -> None:
    read: list[int] = []
    most = 0

    def many() -> Iterator[Document]:
        nonlocal most
        for number in range(100):
            read.append(number)
            most = max(most, len(read) - len(store.rows))
            yield Document(f"{number:05}", id=str(number))

    ingestor = make(batch_size=3, parallel=2)
    assert invoke(ingestor, "ingest", many()).added == 100
    assert most <= 7
    assert max(map(len, model.batches)) == 3

    async def asynchronously() -> AsyncIterator[Document]:
        for number in range(100):
            yield Document(f"{number:05}", id=str(number))

    assert invoke(ingestor, "ingest", asynchronously()).unchanged == 100
    assert invoke(ingestor, "ingest", Document("one", id="7")).updated == 1


def test_a_keyword_index_holds_the_same_segments(make: Any, store: Rows, invoke: Invoke) -> None:
    words = Words()
    ingestor = make(keyword_index=words)
    invoke(ingestor, "ingest", documents(a="one two", b="three"), source="s")
    invoke(ingestor, "ingest", documents(a="one four"), source="s", remove_missing=True)
    assert words.rows == {id: segment for id, (_, segment) in store.rows.items()}
    assert store.texts() == ["one", "four"]


def test_ids_are_the_same_everywhere(make: Any, store: Rows) -> None:
    (first,) = make().ingest(documents(a="one")).ids
    assert first == "0cd1c9feaacea79f55325c4cfae009a3"
    other = Rows()
    assert make(embedding_store=other).ingest(documents(a="one")).ids == (first,)
    assert make().ingest(documents(b="one")).ids != (first,)
    assert make().ingest(documents(a="one"), source="s").ids != (first,)


def test_any_text_can_be_an_id(make: Any, store: Rows, invoke: Invoke) -> None:
    ingestor = make()
    given = [Document("one", id=id) for id in ("x" * 5000, "a\0b", "../ü 🚀", "\udc80")]
    assert invoke(ingestor, "ingest", given).added == 4
    assert invoke(ingestor, "ingest", given).unchanged == 4


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"batch_size": 0}, "batch_size must be at least 1, not 0"),
        ({"parallel": 0}, "parallel must be at least 1, not 0"),
        ({"on_error": "ignore"}, "on_error is 'raise' or 'skip', not 'ignore'"),
    ],
)
def test_options_that_make_no_sense_are_refused(make: Any, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        make(**options)


@pytest.mark.parametrize("number", [True, 1.5, "3", None])
def test_sizes_are_whole_numbers(make: Any, number: Any) -> None:
    with pytest.raises(TypeError, match=r"batch_size is .*: give a whole number"):
        make(batch_size=number)

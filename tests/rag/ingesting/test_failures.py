"""What fails on the way in: it is named, and the others go on."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

import pytest

from aiservices import AuthenticationError, StoreError
from aiservices.models.embedding import EmbeddingResponse
from aiservices.rag import (
    Document,
    FailedDocument,
    IngestionError,
    IngestionReport,
    LoadingError,
)
from aiservices.stores import Entry, InMemoryStore

from .keeping import Lengths, Rows, documents

Invoke = Callable[..., IngestionReport]


def test_what_cannot_be_read_or_fails_is_not_missing(make: Any, store: Rows, invoke: Invoke) -> None:
    ingestor = make()
    invoke(ingestor, "ingest", documents(a="one", b="two"), source="s")
    error = LoadingError("a cannot be read", source="a")
    given = [FailedDocument("a", error), *documents(b="two!")]
    report = invoke(ingestor, "ingest", given, source="s", remove_missing=True)
    assert [each.id for each in report.failed] == ["a", "b"]
    assert report.failed[0].error is error
    assert store.texts() == ["one", "two"]


def test_a_failing_document_is_named_with_its_batch_and_the_others_go_on(
    make: Any, store: Rows, model: Lengths, invoke: Invoke
) -> None:
    given = documents(a="1111", b="2222 3333 bad!", c="4444")
    report = invoke(make(batch_size=2), "ingest", given)
    assert report.added == 2
    assert store.texts() == ["1111", "4444"]
    ((id, error),) = [(each.id, each.error) for each in report.failed]
    assert id == "b"
    assert isinstance(error, IngestionError)
    assert (error.document_id, error.batch) == ("b", 2)
    assert str(error) == (
        "document 'b' could not be embedded in batch 2: ConnectionError: it does not like this"
    )
    assert isinstance(error.__cause__, ConnectionError)


class Splits:
    def split(self, document: Document) -> Any:
        return [document.text]


@pytest.mark.parametrize(
    ("part", "complaint"),
    [
        (
            {"document_transformer": lambda each: each.text},
            "document_transformer gave a str: it gives Documents",
        ),
        (
            {"segment_transformer": lambda each: [each]},
            "segment_transformer gave a list: it gives TextSegments",
        ),
        ({"splitter": Splits()}, "splitter gave a str: it gives TextSegments"),
        ({"embedding_model": lambda texts: None}, "gave a NoneType: it gives a list of vectors"),
    ],
)
def test_a_part_that_gives_what_it_should_not_is_named(
    make: Any, part: dict[str, Any], complaint: str, invoke: Invoke
) -> None:
    (failed,) = invoke(make(**part), "ingest", documents(a="one")).failed
    assert complaint in str(failed.error)


def test_what_was_stored_of_a_failing_document_stays(make: Any, store: Rows, invoke: Invoke) -> None:
    ingestor = make()
    invoke(ingestor, "ingest", documents(a="one two"))
    assert [each.id for each in invoke(ingestor, "ingest", documents(a="one bad!")).failed] == ["a"]
    assert store.texts() == ["one", "two"]
    assert invoke(ingestor, "ingest", documents(a="one two")).unchanged == 1


def test_the_first_failure_can_end_the_run(make: Any, store: Rows, invoke: Invoke) -> None:
    given = documents(a="1111", b="bad!", c="2222", d="bad!")
    with pytest.raises(IngestionError, match="document 'b' could not be embedded in batch 1"):
        invoke(make(on_error="raise", batch_size=3, parallel=1), "ingest", given)
    assert store.texts() == ["1111", "2222"]
    with pytest.raises(LoadingError):
        invoke(make(on_error="raise"), "ingest", [FailedDocument("a", LoadingError("no", source="a"))])


def test_a_document_that_cannot_be_stored_does_not_take_others_with_it(
    make: Any, store: Rows, model: Lengths, invoke: Invoke
) -> None:
    store.poison = "2222"
    ingestor = make()
    report = invoke(ingestor, "ingest", documents(a="1111", b="2222", c="3333"))
    assert report.added == 2
    assert [str(each.error) for each in report.failed] == [
        "document 'b' could not be stored: OSError: the disk is full"
    ]
    assert len(model.batches) == 1
    store.poison = "\0"
    assert invoke(ingestor, "ingest", documents(a="1111", b="2222", c="3333")).added == 1
    assert store.texts() == ["1111", "2222", "3333"]


def test_what_fails_before_it_is_embedded_is_named(make: Any, store: Rows, invoke: Invoke) -> None:
    def fail(document: Document) -> Document:
        raise KeyError(document.text)

    report = invoke(make(document_transformer=fail), "ingest", documents(a="one"))
    assert [str(each.error) for each in report.failed] == [
        "document 'a' could not be prepared: KeyError: 'one'"
    ]


class Locked(Lengths):
    def embed(self, texts: Sequence[str]) -> EmbeddingResponse:
        super().embed(texts)
        raise AuthenticationError("the key is wrong")


class Few(Lengths):
    def embed(self, texts: Sequence[str]) -> EmbeddingResponse:
        return EmbeddingResponse(super().embed(texts).vectors[1:])


class Down(InMemoryStore):
    def get(self, namespace: str, key: str) -> Entry | None:
        raise StoreError("it is down", namespace=namespace)

    async def aget(self, namespace: str, key: str) -> Entry | None:
        return self.get(namespace, key)


def test_what_would_meet_every_document_ends_the_run(make: Any, store: Rows, invoke: Invoke) -> None:
    locked = Locked()
    given = documents(a="one", b="two")
    with pytest.raises(AuthenticationError, match="the key is wrong"):
        invoke(make(embedding_model=locked), "ingest", given)
    assert len(locked.batches) == 1
    with pytest.raises(StoreError, match="it is down"):
        invoke(make(ledger=Down()), "ingest", given)
    assert store.rows == {}


def test_vectors_that_are_missing_are_a_failure(make: Any, store: Rows, invoke: Invoke) -> None:
    report = invoke(make(embedding_model=Few()), "ingest", documents(a="one two"))
    assert "the model gave 1 vectors for 2 texts" in str(report.failed[0].error)
    assert store.rows == {}


def test_a_document_that_comes_twice_must_be_the_same(make: Any, store: Rows, invoke: Invoke) -> None:
    given = [*documents(a="one"), *documents(a="one"), *documents(a="two")]
    report = invoke(make(), "ingest", given)
    assert (report.added, report.unchanged) == (1, 1)
    assert [str(each.error) for each in report.failed] == [
        "document 'a' is refused: ValueError: another document of this run has the id"
    ]
    assert store.texts() == ["one"]


def test_a_source_is_closed_when_the_run_ends_early(make: Any, invoke: Invoke) -> None:
    closed: list[bool] = []

    def breaking() -> Generator[Document, None, None]:
        try:
            yield Document("bad!")
            yield Document("one")
            raise OSError("the network is gone")
        finally:
            closed.append(True)

    with pytest.raises(OSError, match="the network is gone"):
        invoke(make(), "ingest", breaking())
    source = breaking()
    with pytest.raises(IngestionError):
        invoke(make(on_error="raise", batch_size=1, parallel=1), "ingest", source)
    assert closed == [True, True]
    source.close()


def test_an_entry_of_somebody_else_in_the_ledger_is_a_store_error(make: Any) -> None:
    ledger = InMemoryStore()
    ingestor = make(ledger=ledger)
    ingestor.ingest(documents(a="one"))
    (key,) = ledger.keys("ingested")
    ledger.put("ingested", key, ["something else"])
    with pytest.raises(StoreError, match="is no record of an ingestor"):
        ingestor.ingest(documents(a="one"))

"""Retrievers that fail, alone and among others: RAG-17."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from aiservices import RetrievalError
from aiservices.driving import ASYNCHRONOUS
from aiservices.rag import Query, RetrievalAugmentor

from .looking_up import KINDS, QUERY, SOURCES, AsyncSource, Source, look_up, texts_of


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_failure_keeps_its_type_alone_and_in_parallel_and_names_the_retriever(
    kind: str, source: type[Source], count: int
) -> None:
    """RAG-17"""

    class Failing(source):  # type: ignore[valid-type, misc]
        def retrieve(self, query: Query) -> Any:
            raise ConnectionError("gone")

    others = [Source("a")] * (count - 1)
    with pytest.raises(ConnectionError, match="gone") as caught:
        look_up(kind, retrievers=[*others, Failing(name="R2")])
    assert caught.value.__notes__ == ["This comes from the retriever R2."]


@pytest.mark.parametrize("kind", KINDS)
def test_of_several_failures_the_first_in_order_is_raised(kind: str) -> None:
    def failing(error: Exception, after: threading.Event, then: threading.Event) -> Any:
        def retrieve(query: Query) -> Any:
            after.wait(60)
            then.set()
            raise error

        return retrieve

    now, later, done = threading.Event(), threading.Event(), threading.Event()
    now.set()
    first, second = failing(KeyError("1"), later, done), failing(ValueError("2"), now, later)
    with pytest.raises(KeyError):
        look_up(kind, retrievers=[first, second])


@pytest.mark.parametrize("kind", KINDS)
def test_a_failing_retriever_can_be_left_out(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    """RAG-17"""
    error = ConnectionError("gone")

    def R2(query: Query) -> Any:  # noqa: N802
        raise error

    result = look_up(kind, retrievers=[Source("A"), R2, AsyncSource("C")], on_retriever_error="skip")
    assert texts_of(result.contents) == ["A", "C"]
    (failure,) = result.failures
    assert (failure.retriever, failure.query, failure.error) == ("R2", "q", error)
    assert str(failure) == "R2: ConnectionError: gone"
    assert "the retriever R2 failed and is left out" in caplog.text


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_when_all_fail_it_is_an_error_all_the_same(kind: str, count: int) -> None:
    """RAG-17"""

    def failing(query: Query) -> Any:
        raise ConnectionError("gone")

    retrievers = [lambda query, index=index: failing(query) for index in range(count)]
    with pytest.raises(
        RetrievalError, match=r"every retriever failed: <lambda> \(ConnectionError\)"
    ) as caught:
        look_up(kind, retrievers=retrievers, on_retriever_error="skip")
    assert [type(failure.error) for failure in caught.value.failures] == [ConnectionError] * count
    assert caught.value.__cause__ is caught.value.failures[0].error


def test_a_cancelled_retrieval_is_not_taken_for_a_failing_retriever() -> None:
    """RAG-17: and nobody goes on retrieving"""
    states: list[str] = []
    begun: list[asyncio.Event] = []

    async def endless(query: Query) -> list[str]:
        states.append("began")
        begun[0].set()
        try:
            await asyncio.Event().wait()
        finally:
            states.append("ended")
        return []

    async def cancelling() -> None:
        begun.append(asyncio.Event())
        augmentor = RetrievalAugmentor(retrievers=[endless, Source("a")], on_retriever_error="skip")
        task = asyncio.create_task(ASYNCHRONOUS.run(augmentor.retrieval(ASYNCHRONOUS, QUERY)))
        await begun[0].wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(cancelling())
    assert states == ["began", "ended"]

"""A retriever that fails ends the call with its own error, or is left out; it is never "nothing found"."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import aiservices
from aiservices.rag import Query, RetrievalAugmentor
from tests.rag.looking_up import AsyncSource, Source

from .retrieving import question_of, remembering, service


def failing(query: Query) -> Any:
    raise ConnectionError("gone")


@pytest.mark.parametrize("others", [[], [Source("a")]])
def test_the_call_fails_of_the_same_error_and_nothing_is_sent(invoke: Any, others: Any) -> None:
    """RAG-17"""
    augmentor = RetrievalAugmentor(retrievers=[*others, failing])
    asked, model, memory = remembering(retrieval_augmentor=augmentor)
    with pytest.raises(ConnectionError, match="gone") as caught:
        invoke(asked, "ask", "hi")
    assert caught.value.__notes__ == ["This comes from the retriever failing."]
    assert (model.requests, memory.messages()) == ([], ())


def test_or_it_goes_on_and_the_result_says_so(invoke: Any) -> None:
    """RAG-17"""
    heard: list[Any] = []
    augmentor = RetrievalAugmentor(
        retrievers=[Source("A"), failing, AsyncSource("C")], on_retriever_error="skip"
    )
    asked, model = service("ok", retrieval_augmentor=augmentor, listeners=[heard.append])
    result = invoke(asked, "ask", "hi")
    assert [each.text for each in result.sources] == ["A", "C"]
    assert [failure.retriever for failure in result.retrieval_errors] == ["failing"]
    assert heard[1].errors == result.retrieval_errors
    assert "\nA\n\nC\n" in question_of(model.request)


def test_but_not_when_all_fail(invoke: Any) -> None:
    """RAG-17"""
    augmentor = RetrievalAugmentor(retrievers=[failing] * 2, on_retriever_error="skip")
    asked, model = service(retrieval_augmentor=augmentor)
    with pytest.raises(aiservices.RetrievalError, match=r"every retriever failed: failing"):
        invoke(asked, "ask", "hi")
    assert model.requests == []


@pytest.mark.parametrize("slot", ["query_transformer", "query_router", "content_aggregator"])
def test_other_slots_fail_with_their_own_error_too(invoke: Any, slot: str) -> None:
    options: Any = {slot: failing}
    asked, model = service(
        retrieval_augmentor=RetrievalAugmentor(retrievers=[Source("a")], on_retriever_error="skip", **options)
    )
    with pytest.raises(ConnectionError):
        invoke(asked, "ask", "hi")
    assert model.requests == []


def test_a_cancelled_call_is_cancelled() -> None:
    """RAG-17"""
    begun, ended = [], []

    async def endless(query: Query) -> list[str]:
        begun[0].set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(query.text)
        return []

    asked, model = service(
        retrieval_augmentor=RetrievalAugmentor(retrievers=[endless], on_retriever_error="skip")
    )

    async def cancelling() -> None:
        begun.append(asyncio.Event())
        task = asyncio.create_task(asked.aask("hi"))
        await begun[0].wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelling())
    assert (ended, model.requests) == (["hi"], [])

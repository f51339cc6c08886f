"""`on_empty`: where nothing is found, an answer that needs no model."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from aiservices import ChatResponse, UserMessage
from aiservices.messages import AiMessage
from aiservices.rag import Query, RetrievalAugmentor
from tests.declarations import problems_of
from tests.rag.looking_up import Source

from .retrieving import remembering, service


def empty(text: str, *contents: str, **slots: Any) -> RetrievalAugmentor:
    return RetrievalAugmentor(retrievers=[Source(*contents)], on_empty=text, **slots)


def test_the_text_is_the_answer_and_the_turn_is_remembered(invoke: Any) -> None:
    asked, model, memory = remembering(retrieval_augmentor=empty("I do not know."))
    result = invoke(asked, "ask", "hi")
    assert (result.content, result.sources, result.responses) == ("I do not know.", (), ())
    assert model.requests == []
    assert memory.messages() == (UserMessage("hi"), AiMessage("I do not know."))


@pytest.mark.parametrize(
    ("returns", "text", "value"),
    [
        (str, "none", "none"),
        (int, "0", 0),
        (bool, "no", False),
        (list[int], "[]", []),
        (AiMessage, "none", AiMessage("none")),
        (ChatResponse, "none", ChatResponse(AiMessage("none"))),
        (None, "none", None),
    ],
)
def test_it_is_read_as_the_return_type(invoke: Any, returns: Any, text: str, value: Any) -> None:
    asked, _ = service(returns=returns, retrieval_augmentor=empty(text))
    assert invoke(asked, "ask", "hi") == value


def test_a_text_that_is_no_answer_is_a_problem_of_the_declaration() -> None:
    class Counting(Protocol):
        def count(self, text: str) -> int: ...

    (found,) = problems_of(Counting, retrieval_augmentor=empty("none"))
    assert found.startswith("Counting.count: on_empty of the retrieval_augmentor is no answer")


def test_what_was_found_goes_to_the_model(invoke: Any) -> None:
    asked, _ = service("ok", retrieval_augmentor=empty("none", "A"))
    assert invoke(asked, "ask", "hi").content == "ok"


def test_nothing_is_left_after_aggregating_counts_as_nothing_found(invoke: Any) -> None:
    augmentor = empty("none", "A", content_aggregator=lambda results: [])
    asked, _ = service(retrieval_augmentor=augmentor)
    assert invoke(asked, "ask", "hi").content == "none"


def test_a_router_that_sends_the_query_nowhere_leaves_it_to_the_model(invoke: Any) -> None:
    asked, _ = service("ok", retrieval_augmentor=empty("none", query_router=lambda query: []))
    assert invoke(asked, "ask", "hi").content == "ok"


def test_a_failing_retriever_beside_an_empty_one_is_in_the_result(invoke: Any) -> None:
    def failing(query: Query) -> Any:
        raise ConnectionError("gone")

    augmentor = RetrievalAugmentor(retrievers=[Source(), failing], on_empty="none", on_retriever_error="skip")
    asked, _ = service(retrieval_augmentor=augmentor)
    result = invoke(asked, "ask", "hi")
    assert (result.content, len(result.retrieval_errors)) == ("none", 1)

"""A model chooses where to look: rows R1 to R5 of the facts."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiservices import ConfigurationError, RetrievalError
from aiservices.rag import ModelQueryRouter, Query
from aiservices.testing import ScriptedChatModel

from .looking_up import KINDS, Source, drive

DOCS, WEB = Source("d", name="docs"), Source("w", name="web")
BOTH = [DOCS, WEB]


def router(reply: Any, **options: Any) -> ModelQueryRouter:
    return ModelQueryRouter(ScriptedChatModel(reply), {DOCS: "the manual", WEB: "the web"}, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("reply", "chosen"),
    [
        ("2", [WEB]),
        ("1, 2", BOTH),
        ("2,1", [WEB, DOCS]),
        ("1 (docs), 2 (web)", BOTH),
        ("1 (docs) 2 (web)", BOTH),
        ('["1"]', [DOCS]),
        ("1, 1", [DOCS]),
        ("<think>2 or 1?</think>\n2.", [WEB]),
        ("As gpt-2 in v1 I say 1.5 times: **2**", [WEB]),
    ],
)
def test_numbers_are_found_in_what_the_model_says(kind: str, reply: str, chosen: list[Source]) -> None:
    """Rows R1, R2, RAG-16"""
    assert drive(kind, router(reply).drive, Query("q")) == chosen


@pytest.mark.parametrize("reply", ["I don't know", "", "7", "0", ConnectionError("down")])
@pytest.mark.parametrize("kind", KINDS)
def test_without_a_choice_the_fallback_decides(kind: str, reply: Any) -> None:
    """Rows R3, R4, R5, RAG-16"""
    assert drive(kind, router(reply).drive, Query("q")) == []
    assert drive(kind, router(reply, fallback="all").drive, Query("q")) == BOTH
    raised = ConnectionError if isinstance(reply, Exception) else RetrievalError
    with pytest.raises(raised):
        drive(kind, router(reply, fallback="raise").drive, Query("q"))


def test_an_unknown_number_is_left_out_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Row R5, where better than all or nothing is what can be used; RAG-16"""
    with caplog.at_level(logging.WARNING):
        assert router("1, 7").route(Query("q")) == [DOCS]
    assert "a model routes to 7, which is no number from 1 to 2" in caplog.text


def test_the_model_is_shown_numbered_descriptions_and_the_question() -> None:
    made = router("1")
    made.route(Query("{{ why }}?"))
    model = made.chat_model
    assert isinstance(model, ScriptedChatModel)
    prompt = model.request.messages[0].text or ""
    assert "1: the manual\n2: the web\n" in prompt
    assert prompt.rstrip().endswith("Question: {{ why }}?")


@given(st.text())
def test_no_answer_of_a_model_makes_routing_fail(reply: str) -> None:
    """RAG-16"""
    assert set(router(reply).route(Query("q"))) <= set(BOTH)


@pytest.mark.parametrize(
    ("retrievers", "problem"),
    [({}, "needs retrievers"), ([DOCS], "needs retrievers"), ({3: "three"}, "retriever 3 is neither")],
)
def test_a_router_without_retrievers_is_refused(retrievers: Any, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        ModelQueryRouter(ScriptedChatModel(), retrievers)


def test_an_unknown_fallback_is_refused() -> None:
    with pytest.raises(ValueError, match="fallback is 'some': give 'none', 'all' or 'raise'"):
        router("1", fallback="some")

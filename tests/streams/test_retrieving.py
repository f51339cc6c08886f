"""Knowledge in all four styles: the same requests, results, memory and events."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

import aiservices
from aiservices import PartialText, Result, Retrieved, ToolCall, tool
from aiservices.rag import RetrievalAugmentor
from aiservices.testing import ScriptedChatModel
from guardrails import Accept, GuardrailRequest, Reprompt, Rewrite, Verdict
from tests.rag.looking_up import AsyncSource, Source

from .styles import STYLES, Told, asker, call, read, streaming, tell


def failing(query: Any) -> Any:
    raise ConnectionError("gone")


def upper(request: GuardrailRequest[Any]) -> Verdict[Any]:
    return Rewrite(request.text.upper())


def grounded(request: GuardrailRequest[Any]) -> Verdict[Any]:
    return Rewrite(request.text) if "A" in request.text else Reprompt("not grounded", "Use the information.")


@tool
def look() -> str:
    """Look around."""
    return "nothing"


def skipping(*retrievers: Any, **options: Any) -> RetrievalAugmentor:
    return RetrievalAugmentor(retrievers=retrievers, on_retriever_error="skip", **options)


SCENARIOS: dict[str, tuple[Any, list[Any], dict[str, Any]]] = {
    "found": (str, ["ok"], {"content_retriever": Source("A")}),
    "stored": (str, ["ok"], {"content_retriever": AsyncSource("A"), "store_retrieved_content": True}),
    "rewritten": (str, ["ok"], {"content_retriever": Source("A"), "input_guardrails": [upper]}),
    "asked again": (int, ["?", "7"], {"content_retriever": Source("A")}),
    "judged": (str, ["no", "A!"], {"content_retriever": Source("A"), "output_guardrails": [grounded]}),
    "tools": (
        str,
        [ToolCall("c1", "look", "{}"), "ok"],
        {"content_retriever": AsyncSource("A"), "tools": [look]},
    ),
    "failed": (str, [], {"content_retriever": failing}),
    "skipped": (str, ["ok"], {"retrieval_augmentor": skipping(failing, Source("A"))}),
    "all failed": (str, [], {"retrieval_augmentor": skipping(failing, failing)}),
    "empty": (str, [], {"retrieval_augmentor": skipping(Source(), on_empty="none")}),
    "empty number": (int, [], {"retrieval_augmentor": skipping(Source(), on_empty="0")}),
}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_all_styles_do_the_same(scenario: str) -> None:
    kind, replies, options = SCENARIOS[scenario]
    told = [tell(style, kind, replies, **options) for style in STYLES]
    assert told == [told[0]] * len(STYLES)
    assert isinstance(told[0], Told)
    assert ("Retrieved" in told[0].heard) == (scenario not in ("failed", "all failed"))


@pytest.mark.parametrize("style", STYLES)
def test_the_result_has_the_sources(style: str) -> None:
    asked = aiservices.create(
        asker(str),
        chat_model=ScriptedChatModel("ok"),
        retrieval_augmentor=skipping(Source("A"), failing),
    )
    result = call(style, asked)
    assert [source.text for source in result.sources] == ["A"]
    assert [failure.retriever for failure in result.retrieval_errors] == ["failing"]


@pytest.mark.parametrize("kind", ["stream", "astream"])
def test_a_reader_is_told_before_anything_is_sent(kind: str) -> None:
    model = ScriptedChatModel("one two")
    asked = aiservices.create(asker(str), chat_model=model, content_retriever=Source("A"))
    events = read(getattr(asked, kind)("hi").events())
    names = [type(event).__name__ for event in events]
    assert names[:3] == ["CallStarted", "Retrieved", "RequestSent"]
    assert events[1].contents[0].text == "A"


def test_nothing_is_looked_up_before_the_first_step_and_the_request_waits_for_the_second() -> None:
    model, knowledge = ScriptedChatModel("one"), Source("A")
    asked = aiservices.create(asker(str), chat_model=model, content_retriever=knowledge)
    with asked.stream("hi") as stream:
        assert knowledge.queries == []
        for event in stream.events():
            if isinstance(event, Retrieved):
                break
        assert (knowledge.texts, model.requests) == (["hi"], [])


def test_a_reader_is_told_before_what_was_found_is_judged() -> None:
    judged: list[str] = []

    def judge(request: GuardrailRequest[Any]) -> Verdict[Any]:
        judged.append(request.text)
        return Accept()

    asked = aiservices.create(
        asker(str),
        chat_model=ScriptedChatModel("one"),
        content_retriever=Source("A"),
        input_guardrails=[judge],
    )
    with asked.stream("hi") as stream:
        for event in stream.events():
            if isinstance(event, Retrieved):
                break
        assert judged == []


@pytest.mark.parametrize("kind", ["stream", "astream"])
def test_an_answer_without_the_model_is_shown_like_one_of_the_model(kind: str) -> None:
    asked = aiservices.create(
        asker(str),
        chat_model=ScriptedChatModel(),
        retrieval_augmentor=skipping(Source(), on_empty="none"),
    )
    events = read(getattr(asked, kind)("hi").events())
    assert [event.text for event in events if isinstance(event, PartialText)] == ["none"]


@pytest.mark.parametrize(
    ("kind", "text", "given"),
    [(str, "none", ["none"]), (list[int], "[]", []), (list[int], "[1, 2]", [1, 2])],
)
def test_iterators_give_the_answer_that_needs_no_model(kind: Any, text: str, given: list[Any]) -> None:
    from collections.abc import AsyncIterator, Iterator

    item = str if kind is str else int
    for style in (Iterator[item], AsyncIterator[item]):  # type: ignore[valid-type]
        asked = aiservices.create(
            streaming(style),
            chat_model=ScriptedChatModel(),
            retrieval_augmentor=skipping(Source(), on_empty=text),
        )
        assert read(asked.ask("hi")) == given


@pytest.mark.parametrize("kind", ["stream", "astream"])
def test_partial_values_come_of_it_too(kind: str) -> None:
    asked = aiservices.create(
        asker(list[int]),
        chat_model=ScriptedChatModel(),
        retrieval_augmentor=skipping(Source(), on_empty="[1, 2]"),
    )
    assert read(getattr(asked, kind)("hi").partials())[-1] == [1, 2]


def test_an_answer_without_the_model_is_a_result_like_any_other() -> None:
    class Asker(Protocol):
        def ask(self, text: str) -> Result[str]: ...

    asked = aiservices.create(
        Asker,
        chat_model=ScriptedChatModel(),
        retrieval_augmentor=skipping(Source(), on_empty="none"),
    )
    result = asked.ask("hi")
    assert (result.content, result.message, result.usage.total) == ("none", result.message, 0)

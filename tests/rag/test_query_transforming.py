"""Questions that are rewritten before they are looked up: rows Q1 to Q4 of the facts."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import ConfigurationError
from aiservices.messages import AiMessage, ChatResponse, SystemMessage, TokenUsage, ToolCall, UserMessage
from aiservices.metering import metered
from aiservices.rag import (
    CompressingQueryTransformer,
    ExpandingQueryTransformer,
    ModelQueryRouter,
    Query,
    QueryContext,
)
from aiservices.testing import ScriptedChatModel

from .looking_up import KINDS, TOOL_TALK, Source, after, drive


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("query", [Query("q"), Query("q", QueryContext()), after(*TOOL_TALK[:3])])
def test_without_words_before_it_a_query_stays_and_nothing_is_asked(kind: str, query: Query) -> None:
    """Row Q1, RAG-15 (a)"""
    model = ScriptedChatModel()
    assert drive(kind, CompressingQueryTransformer(model).drive, query) == [query]


@pytest.mark.parametrize("kind", KINDS)
def test_a_query_becomes_one_that_stands_alone(kind: str) -> None:
    """Row Q2, RAG-15 (b)"""
    asking = AiMessage("Let me look.", (ToolCall("c0", "look", '{"secret": 0}'),))
    history = (SystemMessage("SYS"), UserMessage("Who sleeps?"), asking, *TOOL_TALK)
    query = after(*history, text="and in Rome?")
    with ScriptedChatModel(" cats in Rome\n") as model:
        (made,) = drive(kind, CompressingQueryTransformer(model).drive, query)
    assert (made.text, made.context) == ("cats in Rome", query.context)
    prompt = model.request.messages[-1].text or ""
    assert "User: Who sleeps?\nAI: x\n" in prompt
    assert "The user now: and in Rome?" in prompt
    assert not any(each in prompt for each in ("SYS", "secret", "Let me look", "result", "None"))


@pytest.mark.parametrize("reply", ["", "  \n", "<think>what could it be?</think>"])
def test_an_empty_answer_leaves_the_query_as_it_was(reply: str) -> None:
    """RAG-15 (b)"""
    query = after(AiMessage("x"))
    assert CompressingQueryTransformer(ScriptedChatModel(reply)).transform(query) == [query]
    assert ExpandingQueryTransformer(ScriptedChatModel(reply)).transform(query) == [query]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "reply", ["q1\nq2\nq3", "q1\n\nq2\n \nq3\n", "1. q1\n2) q2\n- q3", "* q1\nq2\nq3\nq4"]
)
def test_a_query_is_put_in_other_ways(kind: str, reply: str) -> None:
    """Row Q3, and better: no more than were asked for"""
    query = after()
    with ScriptedChatModel(reply) as model:
        made = drive(kind, ExpandingQueryTransformer(model).drive, query)
    assert [each.text for each in made] == ["q1", "q2", "q3"]
    assert all(each.context is query.context for each in made)


def test_the_number_of_queries_is_in_the_prompt() -> None:
    """Row Q4"""
    model = ScriptedChatModel("a")
    ExpandingQueryTransformer(model, n=5).transform(Query("q"))
    assert "Write 5 different search queries" in (model.request.messages[0].text or "")
    with pytest.raises(ValueError, match="n is 0: give 1 or more"):
        ExpandingQueryTransformer(model, n=0)


def test_prompts_can_be_replaced_and_what_is_put_into_them_is_not_rendered() -> None:
    model = ScriptedChatModel("a", "b")
    query = after(UserMessage("{{ n }}"), text="{% x %}")
    CompressingQueryTransformer(model, template="H:{{ history }} Q:{{ query }}").transform(query)
    ExpandingQueryTransformer(model, template="{{ query }}!").transform(query)
    assert [each.messages[0].text for each in model.requests] == ["H:User: {{ n }} Q:{% x %}", "{% x %}!"]


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: CompressingQueryTransformer("nobody:x"), "no model provider is called 'nobody'"),
        (
            lambda: ExpandingQueryTransformer(ScriptedChatModel(), template="{{ text }}"),
            "ExpandingQueryTransformer has the unknown variable 'text': there are query, n",
        ),
        (
            lambda: CompressingQueryTransformer(ScriptedChatModel(), template="{{ query }}"),
            r"CompressingQueryTransformer does not use \{\{ history \}\}",
        ),
    ],
)
def test_what_cannot_work_is_refused_at_once(make: Any, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        make()


@pytest.mark.parametrize("kind", KINDS)
def test_tokens_of_models_that_rewrite_and_route_count_for_agents_around_them(kind: str) -> None:
    reply = ChatResponse(AiMessage("1"), usage=TokenUsage(10, 1))
    model = ScriptedChatModel(reply, reply, reply)
    parts: list[Any] = [
        CompressingQueryTransformer(model),
        ExpandingQueryTransformer(model),
        ModelQueryRouter(model, {Source(): "texts"}),
    ]
    with metered() as meter:
        for part in parts:
            drive(kind, part.drive, after(*TOOL_TALK))
    assert meter.usage == TokenUsage(30, 3)

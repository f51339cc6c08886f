"""Tokens are counted for all that a call is a part of."""

from __future__ import annotations

import pytest

import aiservices
from aiservices import TokenUsage
from aiservices.metering import metered, spend
from aiservices.testing import ScriptedChatModel
from tests.asking import answer, asking


def test_meters_within_each_other_count_the_same_call() -> None:
    service = aiservices.create(asking(str), chat_model=ScriptedChatModel(answer("a"), answer("b")))
    with metered() as outer:
        service.ask("x")
        with metered() as inner:
            service.ask("y")
    spend(TokenUsage(100, 100))
    assert (outer.usage, inner.usage) == (TokenUsage(2, 4), TokenUsage(1, 2))


def test_what_a_failed_call_has_spent_counts() -> None:
    service = aiservices.create(
        asking(int), chat_model=ScriptedChatModel(answer("no"), answer("no")), parse_retries=1
    )
    with metered() as meter, pytest.raises(aiservices.OutputParsingError):
        service.ask("x")
    assert meter.usage == TokenUsage(2, 4)

"""What a conversation may be called, and who shares it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from aiservices import InMemoryStore, MessageWindowChatMemory, Store, StoreError
from aiservices.testing import ScriptedChatModel
from tests.memory.conversing import Counting, Elsewhere, chat, short


@pytest.mark.parametrize("store", [None, InMemoryStore(), Elsewhere()], ids=["own", "shared", "elsewhere"])
def test_ids_with_the_same_text_name_the_same_conversation(store: Store | None) -> None:
    """MEM-18: normalised, alike in the process and in every store"""
    model = ScriptedChatModel("a", "b", "c", "d", "e")
    service = chat(model, Counting(store))
    for id, text in ((1, "U1"), ("1", "U2"), (True, "U3"), (1.0, "U4"), (" 1", "U5")):
        service.say(id, text)
    asked = [short(request.messages) for request in model.requests]
    assert asked == ["U1", "U1 a U2", "U3", "U4", "U5"]


class Plain:
    """Has no text of its own."""


@pytest.mark.parametrize("id", [None, "", " \n", b"ann", b"", Plain(), object()])
def test_an_id_by_which_users_could_share_a_conversation_is_refused(invoke: Any, id: Any) -> None:
    """MEM-18, rows 412 and 413 (which accepts blanks)"""
    provider = Counting()
    service = chat([], provider)
    with pytest.raises(ValueError, match="the memory id is"):
        invoke(service, "say", id, "hi")
    assert not provider.made
    with pytest.raises(ValueError, match="the memory id is"):
        MessageWindowChatMemory(9, id)


@pytest.mark.parametrize("id", ["ann", 7, ("tenant", 7), UUID(int=7), ["a", "list"], "日本" * 100])
def test_an_id_may_be_anything_with_a_text(id: Any) -> None:
    service = chat(["a", "b"], Counting())
    service.say(id, "U1")
    service.say(id, "U2")


def test_what_cannot_be_a_key_is_an_error_before_the_model_is_asked(invoke: Any) -> None:
    model = ScriptedChatModel("never")
    service = chat(model, Counting(InMemoryStore()))
    with pytest.raises(StoreError):
        invoke(service, "say", "x" * 600, "hi")
    assert not model.requests

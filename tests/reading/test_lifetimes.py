"""A class that is made in a function goes when the function is done with it."""

from __future__ import annotations

import gc
import time
import weakref
from typing import Any, Protocol

from pydantic import BaseModel

import aiservices
from aiservices import ai_service, system_message, user_message
from aiservices.messages import ResponseFormat
from aiservices.models import Capability
from aiservices.testing import ScriptedChatModel

ROUNDS = 100


def handled(number: int, alive: list[weakref.ref[Any]]) -> tuple[Any, ResponseFormat | None]:
    """Declares its answer and its service anew, like a web handler written in a hurry."""

    class R(BaseModel):
        a: int

    if number % 2:

        class R(BaseModel):  # type: ignore[no-redef]
            b: str

    @ai_service(name=f"service {number % 2}")
    @system_message("Be brief.")
    class S(Protocol):
        @user_message("Round {{ t }}")
        def ask(self, t: str) -> R: ...

    reply = '{"b":"x"}' if number % 2 else '{"a":1}'
    model = ScriptedChatModel(reply, capabilities={Capability.JSON_SCHEMA})
    service = aiservices.create(S, chat_model=model)
    answer = service.ask(str(number))
    assert type(answer) is R
    alive.extend(weakref.ref(item) for item in (R, S, type(service)))
    return answer, model.request.response_format


def test_services_of_short_lived_classes_leave_nothing_behind() -> None:
    """SCH-33: each call has the schema of its own class, and no class outlives its call."""
    alive: list[weakref.ref[Any]] = []
    for number in range(ROUNDS):
        _, sent = handled(number, alive)
        assert sent is not None
        assert list(sent.schema["properties"]) == (["b"] if number % 2 else ["a"])
    gc.collect()
    assert len(alive) == 3 * ROUNDS
    assert sum(reference() is not None for reference in alive) <= 3, "at most the last round is still held"


def test_making_a_service_does_not_get_slower() -> None:
    """SCH-33: flat, and far below what a request takes."""

    def seconds() -> float:
        start = time.perf_counter()
        for number in range(20):
            handled(number, [])
        return (time.perf_counter() - start) / 20

    seconds()
    first = min(seconds() for _ in range(3))
    for number in range(ROUNDS):
        handled(number, [])
    assert min(seconds() for _ in range(3)) < max(3 * first, 0.02)

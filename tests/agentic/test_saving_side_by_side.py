"""What is saved while agents run side by side is whole at every moment."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any

import pytest
from pydantic import BaseModel, field_serializer

from aiservices import InMemoryStore
from aiservices.agentic import agent, parallel, sequence
from aiservices.agentic.records import RUNS

from .styles import value_of


class Slow(BaseModel):
    """A number that is slow to save, one of the times that it is."""

    number: int

    @field_serializer("number")
    def written(self, number: int) -> int:
        if next(_times) == 0:
            _saving.set()
            _saved.wait(0.05)
        return number


_times: Iterator[int] = iter(())
_saving, _saved = threading.Event(), threading.Event()


@pytest.mark.parametrize("time", range(4))
def test_an_agent_that_has_finished_is_saved_whole_while_others_are(time: int) -> None:
    """AGT-06, AGT-13"""
    global _times  # noqa: PLW0603 - a serializer sees nothing else
    _times = count(-time)
    _saving.clear()
    _saved.clear()

    @agent(output_key="slow")
    def add(slow: Slow | None = None) -> Slow:
        return Slow(number=1 if slow is None else slow.number + 1)

    def quick() -> str:
        assert _saving.wait(5)
        return "quick"

    store = Remembering()
    beside = sequence(agent(output_key="soon")(quick))
    system = partial(parallel, sequence(add), beside, output=lambda scope: scope.read("slow"))
    assert system(store=store).invoke(memory_id="m") == Slow(number=1)
    for form in store.forms:
        before = InMemoryStore()
        before.put(RUNS, "parallel/m", form)
        assert value_of(system(store=before).resume("m")) == Slow(number=1)


class Remembering(InMemoryStore):
    """Keeps each form of a run that was saved."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Any] = []

    def put(self, namespace: str, key: str, value: Any, **options: Any) -> int:
        if namespace == RUNS:
            self.forms.append(json.loads(json.dumps(value)))
            if "1.0" in value["invocations"]:
                _saved.set()
        return super().put(namespace, key, value, **options)

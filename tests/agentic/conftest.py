"""Both styles of use, stores, and a log of what ran."""

from __future__ import annotations

import pytest

from aiservices import InMemoryStore

from .styles import Log, Style


@pytest.fixture(params=["blocking", "asynchronous"])
def style(request: pytest.FixtureRequest) -> Style:
    return Style(request.param)


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def store() -> InMemoryStore:
    return InMemoryStore()

"""Both styles of use, stores, and a log of what ran."""

from __future__ import annotations

import pytest

from aiservices import InMemoryStore
from aiservices.agentic import Monitor

from ..stores.conftest import folder, postgresql_url
from .styles import Log, Style

__all__ = ["folder", "postgresql_url"]


@pytest.fixture(params=["blocking", "asynchronous"])
def style(request: pytest.FixtureRequest) -> Style:
    return Style(request.param)


@pytest.fixture
def monitor() -> Monitor:
    return Monitor()


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def store() -> InMemoryStore:
    return InMemoryStore()

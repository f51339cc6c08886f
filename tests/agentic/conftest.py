"""Both styles of use, stores, and a log of what ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from aiservices import InMemoryStore
from aiservices.agentic import Monitor, agent

from .styles import Log, Style


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


@pytest.fixture
def accounts() -> dict[str, int]:
    return {"Ann": 100, "Bob": 20}


@pytest.fixture
def bank(accounts: dict[str, int]) -> list[Callable[..., Any]]:
    @agent(output_key="credited")
    def credit(user: str, amount: int) -> str:
        """Puts an amount on the account of a user."""
        accounts[user] += amount
        return f"{user} has {accounts[user]}"

    @agent(output_key="debited")
    def debit(user: str, amount: int) -> str:
        """Takes an amount from the account of a user."""
        accounts[user] -= amount
        return f"{user} has {accounts[user]}"

    return [credit, debit]

"""A server to ask, and a script for each test."""

from collections.abc import Iterator

import pytest

from tests.models.fake_server import FakeServer, Script, running_server


@pytest.fixture(scope="session")
def server() -> Iterator[FakeServer]:
    with running_server() as running:
        yield running


@pytest.fixture
def script(server: FakeServer) -> Script:
    return server.script()

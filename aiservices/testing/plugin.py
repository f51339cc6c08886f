"""The pytest plugin: it comes with the package and is on by itself."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..models import Capability
    from .scripted import Reply, ScriptedChatModel

_failed = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note for the fixture whether the test itself failed."""
    report = yield
    if call.when == "call":
        item.stash[_failed] = call.excinfo is not None
    return report


@pytest.fixture
def scripted_chat_model(request: pytest.FixtureRequest) -> Iterator[Callable[..., ScriptedChatModel]]:
    """Makes scripted models; a test fails at its end where one was asked too often or too seldom.

    One that has failed already is left alone.
    """
    from .scripted import ScriptedChatModel

    made: list[ScriptedChatModel] = []

    def make(*replies: Reply, capabilities: Iterable[Capability] = ()) -> ScriptedChatModel:
        made.append(ScriptedChatModel(*replies, capabilities=capabilities))
        return made[-1]

    yield make
    if not request.node.stash.get(_failed, False):
        for model in made:
            model.assert_all_used()

"""The pytest plugin: it comes with the package and is on by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from .scripted import ScriptedChatModel


@pytest.fixture
def scripted_chat_model() -> Iterator[Callable[..., ScriptedChatModel]]:
    """Makes scripted models; a test that leaves replies of one unused fails."""
    made: list[ScriptedChatModel] = []

    def make(*replies: object, **options: object) -> ScriptedChatModel:
        made.append(ScriptedChatModel(*replies, **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for model in made:
        model.assert_all_used()

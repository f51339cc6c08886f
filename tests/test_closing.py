"""A block lets go of what holds something open."""

from __future__ import annotations

import asyncio

import pytest

from aiservices.closing import Closable
from aiservices.models.local import LocalChatModel, LocalEmbeddingModel
from aiservices.models.openai import OpenAiChatModel, OpenAiEmbeddingModel, OpenAiModerationModel
from aiservices.rag import EmbeddingStore, KeywordIndex
from aiservices.stores import Store


class Line(Closable):
    """A line that is open until it is closed."""

    is_open = True

    def close(self) -> None:
        self.is_open = False


def tear(line: Line) -> None:
    assert line.is_open
    raise OSError("torn")


def test_a_block_closes_it_at_its_end_and_lets_errors_through() -> None:
    line = Line()
    with pytest.raises(OSError, match="torn"), line:
        tear(line)
    assert not line.is_open


def test_an_asynchronous_block_does_all_that_a_blocking_one_does() -> None:
    async def use() -> Line:
        async with Line() as line:
            assert line.is_open
        return line

    assert not asyncio.run(use()).is_open


@pytest.mark.parametrize(
    "kind",
    [
        Store,
        EmbeddingStore,
        KeywordIndex,
        OpenAiChatModel,
        OpenAiEmbeddingModel,
        OpenAiModerationModel,
        LocalChatModel,
        LocalEmbeddingModel,
    ],
)
def test_whatever_holds_something_open_can_stand_in_a_block(kind: type) -> None:
    assert issubclass(kind, Closable)

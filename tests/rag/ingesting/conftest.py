"""An ingestor whose store and model can be looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from aiservices.rag import Ingestor, by_word

from .keeping import Lengths, Rows


@pytest.fixture
def store() -> Rows:
    return Rows()


@pytest.fixture
def model() -> Lengths:
    return Lengths()


@pytest.fixture
def make(store: Rows, model: Lengths) -> Callable[..., Ingestor]:
    def ingestor(**options: Any) -> Ingestor:
        return Ingestor(
            **{"embedding_model": model, "embedding_store": store, "splitter": by_word(5), **options}
        )

    return ingestor

"""What the tests of agents share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aiservices import InMemoryStore, SqlStore


@pytest.fixture(params=["process", "memory", "sqlite"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """The option that says where threads are kept."""
    if request.param == "process":
        yield {}
    elif request.param == "memory":
        yield {"checkpointer": InMemoryStore()}
    else:
        with SqlStore(f"{tmp_path}/threads.db") as store:
            yield {"checkpointer": store}

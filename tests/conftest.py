"""What every test has: asyncio behind `@pytest.mark.anyio`, and Hypothesis' profiles."""

import os

import pytest
from hypothesis import settings

settings.register_profile("here", deadline=None, max_examples=50)
settings.register_profile("ci", parent=settings.get_profile("here"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"

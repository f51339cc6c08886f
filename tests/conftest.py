"""What every test has: asyncio behind `@pytest.mark.anyio`, and Hypothesis' profiles."""

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

from tests.servers import folder_of_servers, mysql_url, postgresql_url, redis_url

__all__ = ["folder_of_servers", "mysql_url", "postgresql_url", "redis_url"]  # fixtures for all rooms

settings.register_profile("here", deadline=None, max_examples=50)
settings.register_profile("ci", parent=settings.get_profile("here"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in what a shell runs in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["blocking", "asynchronous"])
def invoke(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Calls a method of a service, or awaits its asynchronous twin, which is named with an `a` before."""

    def call(service: object, method: str, *args: Any, **named: Any) -> Any:
        if request.param == "blocking":
            return getattr(service, method)(*args, **named)
        return asyncio.run(getattr(service, f"a{method}")(*args, **named))

    return call

"""Everything about enforcing holds for both drives."""

import pytest

from .courtroom import Court


@pytest.fixture(params=["blocking", "asynchronous"])
def court(request: pytest.FixtureRequest) -> Court:
    return Court(blocking=request.param == "blocking")

"""What a planning model answers, and what it was asked."""

from __future__ import annotations

import json
from typing import Any

from aiservices.messages import ChatRequest


def does(name: str, **arguments: Any) -> str:
    """What a planner model answers."""
    return json.dumps({"agent_name": name, "arguments": arguments})


def ends(response: Any = None) -> str:
    return does("done") if response is None else does("done", response=response)


def texts(request: ChatRequest) -> list[str]:
    return [message.text or "" for message in request.messages]  # type: ignore[union-attr]

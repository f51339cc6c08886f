"""What of a thread is sent to the model, and what stays in it all the same."""

from __future__ import annotations

from typing import Any

import pytest

from aiservices import UserMessage
from aiservices.react import MessageWindow
from tests.react.asking import STYLES, agent, calls, short

both = pytest.mark.parametrize("style", STYLES)


@both
def test_what_a_window_leaves_out_stays_in_the_thread(style: str, kept: dict[str, Any]) -> None:
    """AJ-55"""
    asked, model = agent("ok", "fine", conversation_policy=MessageWindow(2), **kept)
    calls(style, asked, "invoke", [UserMessage(f"u{number}") for number in (1, 2, 3, 4)], "t")
    assert short(model.requests[0].messages) == ["U:u3", "U:u4"]
    state = calls(style, asked, "invoke", "u5", "t")
    assert short(model.requests[1].messages) == ["U:u5"]
    assert short(state.messages) == ["U:u1", "U:u2", "U:u3", "U:u4", "A:ok", "U:u5", "A:fine"]
    assert calls(style, asked, "state", "t") == state

"""What a call gives back is a value: frozen, comparable, and true to its defaults."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from aiservices import FinishReason, Result
from aiservices.invocation import changed
from aiservices.messages import NO_USAGE, TokenUsage
from tests.asking import answer


def test_a_result_is_its_content_and_nothing_known_besides() -> None:
    result = Result(7)
    assert (result.content, result.usage, result.finish_reason) == (7, NO_USAGE, FinishReason.STOP)
    assert (result.responses, result.tool_executions, result.confidence) == ((), (), None)


def test_a_result_cannot_be_changed_but_copied_with_other_values() -> None:
    result = Result("a", TokenUsage(1, 2), responses=(answer("a"),))
    with pytest.raises(FrozenInstanceError):
        result.content = "b"  # type: ignore[misc]
    other = replace(result, content=7)
    assert (other.content, other.usage, other.responses) == (7, result.usage, result.responses)


def test_the_quick_copy_is_the_same_as_the_usual_one() -> None:
    result = Result("a", TokenUsage(1, 2), responses=(answer("a"),), confidence=0.5)
    assert changed(result) == result
    for item in fields(Result):
        assert changed(result, **{item.name: "new"}) == replace(result, **{item.name: "new"})


def test_results_are_compared_and_pickled_by_value() -> None:
    result = Result(["a"], TokenUsage(1, 2), responses=(answer("a"),))
    assert result == Result(["a"], TokenUsage(1, 2), responses=(answer("a"),)) != Result(["a"])
    assert pickle.loads(pickle.dumps(result)) == result

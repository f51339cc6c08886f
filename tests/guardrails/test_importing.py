"""What importing costs and loads, and what a chain costs where everybody accepts."""

from __future__ import annotations

import subprocess
import sys
import time
import timeit

import pytest

import guardrails
from aiservices.driving import BLOCKING
from guardrails import (
    PLAIN_TEXT,
    Accept,
    Canary,
    GuardrailLike,
    GuardrailRequest,
    JsonExtractor,
    MaxLength,
    Pattern,
    PromptInjection,
    Verdict,
    enforce_input,
    links,
)

HEAVY = {"asyncio", "jinja2", "json", "logging", "openai", "phonenumbers", "pydantic", "stdnum"}


FOR_A_BUSY_MACHINE = 3


def loaded_by(statement: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", f"import sys; {statement}; print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stdout.split())


def test_the_leaf_loads_nothing_of_ours_nothing_heavy_and_no_shipped_guardrail() -> None:
    loaded = loaded_by("import guardrails")
    assert not {each for each in loaded if each.startswith(("aiservices", "outputparsers"))}
    assert loaded.isdisjoint(HEAVY)
    assert not {each for each in loaded if each.startswith("guardrails.builtin")}


def test_a_shipped_guardrail_is_loaded_when_it_is_named() -> None:
    loaded = loaded_by("from guardrails import MaxLength")
    assert "guardrails.builtin.max_length" in loaded
    assert "guardrails.builtin.pii" not in loaded


def test_everything_public_is_there_and_nothing_else_is_promised() -> None:
    assert all(hasattr(guardrails, name) for name in guardrails.__all__)
    assert sorted(guardrails.__all__) == sorted(set(guardrails.__all__))
    assert set(guardrails.__all__) <= set(dir(guardrails))
    with pytest.raises(AttributeError, match="no attribute 'Guard'"):
        guardrails.Guard  # noqa: B018


def accepts(request: GuardrailRequest[str]) -> Verdict[str]:
    return Accept()


@pytest.mark.parametrize(
    "guardrail",
    [accepts, MaxLength(1000), Pattern("zebra"), Canary(), JsonExtractor(), PromptInjection()],
    ids=lambda guardrail: getattr(guardrail, "__name__", type(guardrail).__name__),
)
def test_a_guardrail_that_accepts_costs_five_microseconds_at_most(guardrail: GuardrailLike[str]) -> None:
    text = '{"answer": "The weather is fine."}'
    few, many = (cost_of(links(*[guardrail] * number), text) for number in (1, 21))
    assert (many - few) / 20 < 5e-6 * FOR_A_BUSY_MACHINE


def cost_of(chain: tuple[guardrails.Link[str], ...], text: str) -> float:
    request = GuardrailRequest(text, text)

    def enforce() -> None:
        BLOCKING.run(enforce_input(chain, request, wording=PLAIN_TEXT, call=BLOCKING.call))

    return min(timeit.repeat(enforce, number=10, repeat=60, timer=time.thread_time)) / 10

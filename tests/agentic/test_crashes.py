"""A process is killed at each step of each orchestration; another goes on where it was.

No agent that had finished runs again, and what comes out is what would have come out.
"""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest

from aiservices.agentic import Completed
from aiservices.agentic.records import RUNS
from aiservices.stores import SqlStore
from tests.mortals import Run, children_of

from .crashing import INPUTS, Journal, system
from .wayfinding import WAYFINDERS

KINDS: Final = (
    "sequence",
    "parallel",
    "parallel_map",
    "loop",
    "conditional",
    "planned",
    "background",
    *WAYFINDERS,
)
ON_ALL: Final = tuple(kind for kind in KINDS if kind not in WAYFINDERS[1:])


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Performs a task in a process of its own and gives how that ended."""
    with children_of("tests.agentic.crashing") as perform:
        yield perform


def invocations(outcome: Completed) -> list[tuple[str, Any]]:
    return [(each.path, each.output) for each in outcome.scope.invocations]


def crash_everywhere(run: Run, url: str, folder: Path, kind: str, style: str) -> None:
    """Kill a run right before its first step, its second step and so on, and resume each of them."""
    journal = Journal(folder / "whole")
    with SqlStore(url) as store:
        whole = system(kind, journal, None).run(**INPUTS)
        assert isinstance(whole, Completed)
        usual, deadly = Counter(journal.notes), 0
        while True:
            journal, name = Journal(folder / f"{deadly}"), f"{kind}-{style}-{deadly}"
            task = {"url": url, "journal": str(journal.path), "kind": kind, "style": style, "id": name}
            ended = run(**task, deadly=deadly)
            if ended == 0:
                break
            assert ended == -signal.SIGKILL
            made = system(kind, journal, store)
            saved = store.get(RUNS, f"{made.name}/{name}")
            finished = {} if saved is None else saved.value["invocations"]
            before = Counter(journal.notes)
            outcome = made.run(memory_id=name, **INPUTS) if saved is None else made.resume(name)
            assert isinstance(outcome, Completed), outcome
            assert outcome.value == whole.value
            assert outcome.scope.state == whole.scope.state
            assert invocations(outcome) == invocations(whole)
            assert_none_ran_again(Counter(journal.notes), before, usual, len(finished))
            deadly += 1
        assert deadly > 2 * usual.total()
        assert Counter(journal.notes) == usual


def assert_none_ran_again(
    after: Counter[str], before: Counter[str], usual: Counter[str], finished: int
) -> None:
    """Only what was under way when the process died, and not saved as finished, ran once more."""
    assert after.keys() == usual.keys()
    again = {name: number for name, number in after.items() if number > usual[name]}
    assert all(number == 2 and before[name] == 1 for name, number in again.items())
    saved_leaves = before.total() - len(again)
    assert saved_leaves <= finished


@pytest.mark.parametrize(
    ("kind", "style"),
    [*product(KINDS, ["blocking"]), *product(ON_ALL, ["asynchronous"])],
)
def test_on_sqlite(run: Run, tmp_path: Path, kind: str, style: str) -> None:
    """AGT-06"""
    crash_everywhere(run, f"{tmp_path}/runs.db", tmp_path, kind, style)


@pytest.mark.parametrize("kind", ON_ALL)
def test_on_postgresql(run: Run, tmp_path: Path, postgresql_url: str, kind: str) -> None:
    crash_everywhere(run, postgresql_url, tmp_path, kind, "blocking")


def test_an_asynchronous_resume_after_a_crash(run: Run, tmp_path: Path) -> None:
    url, journal = f"{tmp_path}/runs.db", Journal(tmp_path / "journal")
    task = {"url": url, "journal": str(journal.path), "kind": "sequence", "style": "blocking", "id": "m"}
    assert run(**task, deadly=7) == -signal.SIGKILL

    async def resume() -> Any:
        async with SqlStore(url) as store:
            return await system("sequence", journal, store).aresume("m")

    outcome = asyncio.run(resume())
    assert isinstance(outcome, Completed)
    assert outcome.value == 45

"""A process is killed at each step of a run: what is resumed finishes, and no finished call runs again.

Every step is taken by a real process that dies by SIGKILL right before it: each write to the store, each
request to the model, the begin and the end of each tool call; and again in the process that resumes.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from aiservices import SqlStore
from aiservices.react import react
from aiservices.testing import ScriptedChatModel
from tests.mortals import Run, children_of
from tests.react.asking import STYLES, short


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Performs a task in a process of its own and gives how that ended."""
    with children_of("tests.react.crashing") as perform:
        yield perform


def steps_of(folder: Path) -> list[str]:
    return (folder / "steps").read_text().splitlines()


def assert_whole(folder: Path, kills: list[str]) -> None:
    """The thread is whole, and only a call that was in flight ran again, under its own key."""
    with SqlStore(f"{folder}/threads.db") as store:
        agent = react(chat_model=ScriptedChatModel(), checkpointer=store)
        said = short(agent.state("t").messages)
        assert said == ["U:go", "A?a,b", "R:did a", "R:did b", "A?c", "R:did c", "A:done"]
        assert agent.history("t")[0].next == "end"
    lines = (folder / "world").read_text().splitlines()
    ran = Counter(line.split()[0] for line in lines)
    keys = {line.split()[0]: line.split()[1] for line in lines}
    assert set(ran) == {"a", "b", "c"}
    assert len(set(lines)) == len(keys) == 3, "a call ran under two keys"
    may_be_in_flight = sum(step.startswith(("did", "put calls")) for step in kills)
    assert sum(ran.values()) <= 3 + may_be_in_flight


@pytest.mark.parametrize("kind", STYLES)
def test_a_run_that_is_killed_at_any_step_is_finished_by_another_process(
    run: Run, tmp_path: Path, kind: str
) -> None:
    assert run("begin", tmp_path / "dry", kind) == 0
    steps = steps_of(tmp_path / "dry")
    assert len(steps) > 25
    assert_whole(tmp_path / "dry", [])
    for number, step in enumerate(steps):
        folder = tmp_path / str(number)
        assert run("begin", folder, kind, step) == -signal.SIGKILL
        begun = run("resume", folder, kind)
        if step in ("put leases 1", "put checkpoints 1", "put threads 1"):  # there is no thread yet
            assert begun == 1
            assert run("begin", folder, kind) == 0
        else:
            assert begun == 0, step
        assert_whole(folder, [step])


def test_what_was_decided_and_done_is_known_when_a_guarded_run_is_killed_at_any_step(
    run: Run, tmp_path: Path
) -> None:
    assert run("begin", tmp_path / "dry", "blocking", guarded=True) == 0
    steps = steps_of(tmp_path / "dry")
    for number, step in enumerate(steps[steps.index("put threads 1") + 1 :]):
        folder = tmp_path / str(number)
        assert run("begin", folder, "blocking", step, guarded=True) == -signal.SIGKILL
        assert run("resume", folder, "blocking", guarded=True) == 0, step
        assert_whole(folder, [step])


@pytest.mark.parametrize("kind", STYLES)
def test_a_round_side_by_side_is_finished_too(run: Run, tmp_path: Path, kind: str) -> None:
    for number, step in enumerate(
        ["begin a 1", "did a 1", "did b 1", "put calls 1", "put calls 2", "begin c 1"]
    ):
        folder = tmp_path / str(number)
        assert run("begin", folder, kind, step, parallel=True) == -signal.SIGKILL
        assert run("resume", folder, kind, parallel=True) == 0
        with SqlStore(f"{folder}/threads.db") as store:
            said = short(react(chat_model=ScriptedChatModel(), checkpointer=store).state("t").messages)
        assert said == ["U:go", "A?a,b", "R:did a", "R:did b", "A?c", "R:did c", "A:done"]
        lines = (folder / "world").read_text().splitlines()
        assert len(set(lines)) == 3
        assert len(lines) <= 3 + 2  # at most the two that were in flight


def test_a_finished_call_of_a_round_never_runs_again(run: Run, tmp_path: Path) -> None:
    """The process dies between the two calls of a round: the first has its result, the second has none."""
    assert run("begin", tmp_path, "blocking", "begin b 1") == -signal.SIGKILL
    assert run("resume", tmp_path, "blocking") == 0
    ran = Counter(line.split()[0] for line in (tmp_path / "world").read_text().splitlines())
    assert ran == {"a": 1, "b": 1, "c": 1}


@pytest.mark.parametrize("kind", STYLES)
def test_who_resumes_may_be_killed_as_well(run: Run, tmp_path: Path, kind: str) -> None:
    assert run("begin", tmp_path / "dry", kind, "begin b 1") == -signal.SIGKILL
    before = len(steps_of(tmp_path / "dry"))
    assert run("resume", tmp_path / "dry", kind) == 0
    for number, step in enumerate(steps_of(tmp_path / "dry")[before:]):
        folder = tmp_path / str(number)
        assert run("begin", folder, kind, "begin b 1") == -signal.SIGKILL
        assert run("resume", folder, kind, step) == -signal.SIGKILL
        assert run("resume", folder, kind) == 0, step
        assert_whole(folder, ["begin b 1", step])

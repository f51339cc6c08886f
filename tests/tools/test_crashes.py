"""A process is killed at each step of its work: `recover` leaves no booking that stands, none undone twice.

Every step is taken by a real process that dies by SIGKILL right before it: each write to the log, the begin
and the end of each booking and of each cancellation, in an invocation that fails, in one that succeeds, and
in `recover` itself.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from aiservices import recover
from aiservices.stores import SqlStore
from aiservices.tools.leases import LEASES
from aiservices.tools.log import CALLS
from tests.mortals import Run, children_of

from .crashing import BOOKINGS, World, booking

KINDS: Final = ("blocking", "asynchronous")
BOOKED: Final = [f"{did} {what}" for what in BOOKINGS for did in ("intend", "book", "booked", "log")]
UNDONE: Final = [f"{did} {what}" for what in reversed(BOOKINGS) for did in ("cancel", "cancelled", "forget")]
FORGOTTEN: Final = [f"forget {what}" for what in BOOKINGS]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Performs a task in a process of its own and gives how that ended."""
    with children_of("tests.tools.crashing") as perform:
        yield perform


def recovered(folder: Path, kind: str) -> World:
    """The world after `recover` has run until the log is empty; the leases of the dead have run out."""
    world = World(folder)
    with SqlStore(f"{folder}/log.db") as store:
        for _ in range(3):
            for key in store.keys(LEASES):
                store.delete(LEASES, key)
            assert recover(store, [booking(world, kind)]).failed == ()
            if not store.keys(CALLS):
                break
        assert store.keys(CALLS) == store.keys(LEASES) == []
    return world


def assert_nothing_stands(world: World) -> None:
    """Every booking was cancelled exactly once, by its key, the last one first."""
    booked, cancelled = world.keys("book"), world.keys("cancel")
    assert sorted(cancelled) == sorted(booked)
    assert len(set(cancelled)) == len(cancelled)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("deadly", ["lease", *BOOKED, "model", *UNDONE, "leave"])
def test_a_call_that_is_to_fail(run: Run, tmp_path: Path, deadly: str, kind: str) -> None:
    assert run("fail", tmp_path, kind, deadly) == -signal.SIGKILL
    world = recovered(tmp_path, kind)
    assert_nothing_stands(world)
    assert world.keys("cancel") == world.keys("book")[::-1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("deadly", [*BOOKED, "model"])
def test_a_round_side_by_side(run: Run, tmp_path: Path, deadly: str, kind: str) -> None:
    assert run("fail", tmp_path, kind, deadly, parallel=True) == -signal.SIGKILL
    assert_nothing_stands(recovered(tmp_path, kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("deadly", ["model", "commit", *FORGOTTEN, "forget commit", "leave"])
def test_a_call_that_is_to_succeed_stands_whole_or_not_at_all(
    run: Run, tmp_path: Path, deadly: str, kind: str
) -> None:
    assert run("succeed", tmp_path, kind, deadly) == -signal.SIGKILL
    world = recovered(tmp_path, kind)
    assert len(world.keys("book")) == 3
    if deadly in ("model", "commit"):
        assert_nothing_stands(world)
    else:
        assert world.keys("cancel") == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("deadly", ["lease", *UNDONE, "leave"])
def test_recover_itself(run: Run, tmp_path: Path, deadly: str, kind: str) -> None:
    assert run("fail", tmp_path, kind, "model") == -signal.SIGKILL
    with SqlStore(f"{tmp_path}/log.db") as store:
        for key in store.keys(LEASES):
            store.delete(LEASES, key)
    assert run("undo", tmp_path, kind, deadly) == -signal.SIGKILL
    world = recovered(tmp_path, kind)
    assert len(world.keys("book")) == 3
    assert world.keys("cancel") == world.keys("book")[::-1]


@pytest.mark.parametrize("kind", KINDS)
def test_whoever_lives_is_left_alone_until_the_lease_has_run_out(run: Run, tmp_path: Path, kind: str) -> None:
    assert run("fail", tmp_path, kind, "model") == -signal.SIGKILL
    world = World(tmp_path)
    with SqlStore(f"{tmp_path}/log.db") as store:
        assert recover(store, [booking(world, kind)]).undone == ()
    assert world.keys("cancel") == []
    assert_nothing_stands(recovered(tmp_path, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_crash_nothing_is_left_to_recover(run: Run, tmp_path: Path, kind: str) -> None:
    for task, cancelled in (("succeed", 0), ("fail", 3)):
        folder = tmp_path / task
        folder.mkdir()
        assert run(task, folder, kind) == 0
        world = World(folder)
        assert (len(world.keys("book")), len(world.keys("cancel"))) == (3, cancelled)
        with SqlStore(f"{folder}/log.db") as store:
            assert store.keys(CALLS) == store.keys(LEASES) == []

"""Many processes on one store, and what is left when one of them is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from aiservices.stores import SqlStore
from tests.programs import complaints

HERE = Path(__file__).parent
PROCESSES, INCREMENTS = 8, 200


def started(task: str, url: str, number: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-X", "dev", "-W", "error", HERE / "user_processes.py", task, url, str(number)]
    environment = os.environ | {"PYTHONPATH": str(HERE.parents[1])}
    return subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def printed(process: subprocess.Popen[str]) -> list[int]:
    output, said = process.communicate(timeout=240)
    assert (process.returncode, complaints(said)) == (0, "")
    return [int(line) for line in output.split()]


def test_eight_processes_lose_no_update_of_one_entry_in_sqlite(tmp_path: Path) -> None:
    url = f"{tmp_path}/store.db"
    running = [started("increment", url, INCREMENTS) for _ in range(PROCESSES)]
    reached = [number for process in running for number in printed(process)]
    assert sorted(reached) == list(range(1, PROCESSES * INCREMENTS + 1))
    with SqlStore(url) as store:
        entry = store.get("test", "number")
    assert entry is not None
    assert entry.value == entry.version == PROCESSES * INCREMENTS


def test_a_process_killed_while_it_writes_leaves_the_last_whole_state(tmp_path: Path) -> None:
    url, random, written = f"{tmp_path}/store.db", Random(4), 0
    for _ in range(4):
        process = started("write_for_ever", url, written + 1)
        assert process.stdout is not None
        for _ in range(random.randint(1, 9)):
            written = int(process.stdout.readline())
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(random.random() / 50)
        process.kill()
        output, said = process.communicate()
        assert complaints(said) == ""
        written = max([written, *(int(line) for line in output.splitlines(keepends=True) if "\n" in line)])
        with SqlStore(url) as store:
            entry = store.get("test", "big")
            assert entry is not None
            assert entry.value in ([written] * 20_000, [written + 1] * 20_000)
            assert store.put("test", "big", entry.value, expected_version=entry.version) > entry.version
            written = entry.value[0]


@pytest.mark.parametrize("server", ["sqlite", "postgresql", "redis", "mysql"])
def test_threads_loops_and_forks_share_a_store_and_leave_nothing_open(
    server: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"{tmp_path}/store.db" if server == "sqlite" else request.getfixturevalue(f"{server}_url")
    assert printed(started("use_in_every_way", url)) == []

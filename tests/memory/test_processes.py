"""One conversation in many processes, and what is left of it when one of them is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from aiservices import MessageWindowChatMemory, RedisStore, SqlStore, UserMessage
from tests.memory.conversing import problems, short

HERE = Path(__file__).parent
PROCESSES = 8
NAMES = [f"p{number}" for number in range(PROCESSES)]


def started(task: str, url: str, number: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", str(HERE / "user_processes.py"), task, url, str(number)]
    environment = os.environ | {"PYTHONPATH": str(HERE.parents[1])}
    return subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def run_together(task: str, url: str, calls: int) -> None:
    """Eight processes make so many calls each; neither model nor tools run again for a conflict."""
    process = started(task, url, calls)
    output, complaints = process.communicate(timeout=200)
    assert (process.returncode, complaints) == (0, "")
    assert output.split() == [str(2 * calls)] * PROCESSES


@pytest.mark.parametrize("server", ["sqlite", "postgresql", "redis"])
def test_eight_processes_lose_nothing_of_one_conversation(
    server: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"{tmp_path}/store.db" if server == "sqlite" else request.getfixturevalue(f"{server}_url")
    run_together("say_all_together", url, 6)
    with RedisStore(url) if server == "redis" else SqlStore(url) as store:
        messages = MessageWindowChatMemory(10_000, "ann", store).messages()
    assert not problems(messages)
    turns = [short(messages[index : index + 4]) for index in range(0, len(messages), 4)]
    asks = [f"A:{name}-{2 * call + 1} R:{name}-{2 * call + 1}" for name in NAMES for call in range(6)]
    whole = [f"{name}.{call}" for name in NAMES for call in range(6)]
    ends = [f"done-{name}" for name in NAMES for _ in range(6)]
    assert sorted(turns) == sorted(map(" ".join, zip(whole, asks, ends, strict=True)))


def test_eight_processes_with_many_calls_write_each_turn_once(tmp_path: Path) -> None:
    url = f"{tmp_path}/store.db"
    run_together("say_together", url, 200)
    with SqlStore(url) as store:
        entry = store.get("chat", "ann")
        messages = MessageWindowChatMemory(40, "ann", store).messages()
    assert entry
    assert entry.version >= 200 * PROCESSES
    assert len(messages) == 40
    assert not problems(messages)


def test_a_process_killed_while_it_talks_leaves_the_last_whole_turn(tmp_path: Path) -> None:
    url, random, answered = f"{tmp_path}/store.db", Random(7), -1
    for _ in range(3):
        process = started("say_for_ever", url, answered + 1)
        assert process.stdout is not None
        for _ in range(random.randint(1, 30)):
            answered = int(process.stdout.readline())
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(random.random() / 50)
        process.kill()
        output, complaints = process.communicate()
        assert complaints == ""
        lines = [int(line) for line in output.splitlines(keepends=True) if "\n" in line]
        answered = max([answered, *lines])
        with SqlStore(url) as opened:
            messages = MessageWindowChatMemory(400, "ann", opened).messages()
        assert not problems(messages)
        questions = [message for message in messages if isinstance(message, UserMessage)]
        assert len(messages) == 2 * len(questions)
        assert questions[-1].text in (f"question {answered}", f"question {answered + 1}")
        answered = int(questions[-1].text.removeprefix("question "))

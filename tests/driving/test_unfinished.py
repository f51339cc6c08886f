"""`Unfinished`: exit waits for what must not be interrupted."""

import subprocess
import sys
from pathlib import Path

from aiservices.driving.unfinished import Unfinished

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys, threading, time
from aiservices.driving.unfinished import UNFINISHED

def work():
    with UNFINISHED.job():
        began.set()
        while not UNFINISHED.is_exiting:
            time.sleep(0.01)
        time.sleep(0.1)
        sys.stdout.write("ended in time")

began = threading.Event()
threading.Thread(target=work, daemon=True).start()
began.wait()
"""


def test_exit_asks_a_job_to_end_and_waits_for_it() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr, ran.returncode) == ("ended in time", "", 0)


def test_without_jobs_nothing_is_waited_for() -> None:
    unfinished = Unfinished()
    with unfinished.job():
        assert not unfinished.is_exiting
    unfinished.finish()
    assert unfinished.is_exiting

"""Children made by `fork`, and the end of the interpreter: nothing hangs, and nothing is said on stderr."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import complaints

ROOT = Path(__file__).parents[2]

BEGINNING = """
import asyncio, atexit, os, sys, threading, time
from aiservices.driving import *

async def aone():
    await asyncio.sleep(0.001)
    return 1

async def emitting():
    await Emit(await BLOCKING.call(aone))
    await Emit(1)

async def everything():
    one = await BLOCKING.call(aone)
    many = await BLOCKING.gather([BLOCKING.call(aone), BLOCKING.call(lambda: 1), BLOCKING.call(aone)])
    return one + sum(many) + sum(BLOCKING.events(emitting()))

def work():
    assert BLOCKING.run(everything()) == 6
    assert asyncio.run(ASYNCHRONOUS.run(ASYNCHRONOUS.call(lambda: 1))) == 1

def in_child(function):
    pid = os.fork()
    if pid:
        return pid
    try:
        function()
        sys.stderr.flush()
        os._exit(0)
    except BaseException as error:
        print("child:", repr(error), file=sys.stderr, flush=True)
        os._exit(1)

def assert_fine(*children):
    until = time.monotonic() + 15
    for child in children:
        while (done := os.waitpid(child, os.WNOHANG)) == (0, 0):
            if time.monotonic() > until:
                os.kill(child, 9)
                sys.exit("a child hangs")
            time.sleep(0.002)
        assert done[1] == 0, done
"""


def run(script: str, *, first: str = "") -> str:
    """Run a script in an interpreter that is strict about everything; give what it prints."""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", first + BEGINNING + script],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, complaints(done.stderr)) == (0, "")
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
class TestAChild:
    def test_of_a_parent_that_was_at_work_works_too(self) -> None:
        run("work(); assert_fine(in_child(work), in_child(work)); work()")

    def test_has_children_and_threads_of_its_own(self) -> None:
        run("work(); assert_fine(in_child(lambda: (work(), assert_fine(in_child(work)))))")

    def test_made_by_multiprocessing_works_too(self) -> None:
        run("""
import multiprocessing
work()
children = [multiprocessing.get_context("fork").Process(target=work) for _ in range(2)]
for child in children: child.start()
for child in children: child.join(5)
assert [child.exitcode for child in children] == [0, 0]
work()
""")

    def test_that_ends_like_any_program_says_nothing(self) -> None:
        run("""
work()
pid = os.fork()
if not pid:
    work()
    sys.exit(0)
assert_fine(pid)
work()
""")

    def test_is_not_held_up_by_what_threads_of_its_parent_hold(self) -> None:
        run("""
locks, places = KeyedLocks(), Places(1)
entered, released = threading.Event(), threading.Event()

def holding():
    with locks.held("a"), places.held():
        entered.set()
        released.wait(5)

def in_line():
    with locks.held("a"):
        pass

async def alocking():
    async with locks.aheld("a"), places.aheld():
        pass

def child():
    with locks.held("a"), places.held():
        pass
    asyncio.run(alocking())
    assert "a" not in locks

threads = [threading.Thread(target=holding), threading.Thread(target=in_line)]
threads[0].start(); entered.wait(5); threads[1].start()
assert_fine(in_child(child), in_child(child))
released.set()
for thread in threads: thread.join(5)
child()
""")

    def test_leaves_the_place_that_it_was_made_in(self) -> None:
        run("""
locks = KeyedLocks()
with locks.held("a"):
    pid = os.fork()
if pid:
    assert_fine(pid)
    assert "a" not in locks
else:
    with locks.held("a"): pass
    os._exit("a" in locks)
""")

    def test_gets_clients_of_its_own_and_leaves_those_of_its_parent_alone(self) -> None:
        run("""
made = []
def make():
    made.append(os.getpid())
    return os.getpid()

def close(item):
    assert item == os.getpid()
    os.write(1, b"closed ")

kept = PerProcess(make, close)
mine = kept.get()
def child():
    assert kept.get() == os.getpid() != mine
    kept.close()
assert_fine(in_child(child), in_child(child))
pid = os.fork()
if not pid: sys.exit(0)
assert_fine(pid)
assert kept.get() == mine
""")

    def test_can_be_made_while_the_background_loop_is_busy(self) -> None:
        run(
            """
stop = False
def busy():
    while not stop: work()
threads = [threading.Thread(target=busy) for _ in range(3)]
for thread in threads: thread.start()
for _ in range(10): assert_fine(in_child(work), in_child(work))
stop = True
for thread in threads: thread.join(5)
""",
        )


class TestTheEndOfTheProgram:
    def test_is_silent_after_work(self) -> None:
        run("work()")

    def test_does_not_wait_for_a_worker_that_hangs(self) -> None:
        run("run_in_worker(lambda: time.sleep(60)); work()")

    def test_does_not_wait_for_asynchronous_code_that_hangs(self) -> None:
        run(
            """
async def hanging():
    time.sleep(60)
run_in_worker(lambda: run_in_background(hanging()))
time.sleep(0.05)
""",
        )

    def test_lets_what_the_background_loop_was_left_with_clean_up(self) -> None:
        assert (
            run("""
async def left():
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0)
        os.write(1, b"tidy")

async def leaving():
    global task
    task = asyncio.create_task(left())
    await asyncio.sleep(0)
run_in_background(leaving())
""")
            == "tidy"
        )

    def test_closes_streams_that_were_never_read_to_their_end(self) -> None:
        assert (
            run("""
async def counting():
    try:
        yield 1
        yield 2
    finally:
        await asyncio.sleep(0)
        os.write(1, b"tidy")
stream = iterate_async(counting())
next(stream)
""")
            == "tidy"
        )

    @pytest.mark.parametrize("before", ["", "work()"])
    def test_may_have_work_in_an_exit_handler(self, before: str) -> None:
        assert run(f"{before}\natexit.register(lambda: (work(), os.write(1, b'done')))") == "done"

    def test_may_have_work_in_an_exit_handler_that_is_older_than_ours(self) -> None:
        older = "import atexit, os; atexit.register(lambda: (work(), os.write(1, b'done')))"
        assert run("work()", first=older) == "done"

    def test_may_have_work_in_a_thread_that_lasts_longer(self) -> None:
        assert (
            run("""
def longer():
    threading.main_thread().join()
    work()
    os.write(1, b"done")
work()
threading.Thread(target=longer).start()
""")
            == "done"
        )

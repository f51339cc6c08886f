"""Worker threads: as many as are needed, warm when there are some, and nothing of a job stays behind."""

import asyncio
import gc
import threading
import weakref
from concurrent.futures import Future
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any

import pytest

from aiservices.driving import run_in_worker, wait_for, workers

tenant: ContextVar[str] = ContextVar("tenant", default="?")


def test_there_is_no_number_of_jobs_that_makes_one_wait() -> None:
    everyone = threading.Barrier(60)
    futures = [run_in_worker(lambda: everyone.wait(5)) for _ in range(60)]
    assert sorted(future.result(5) for future in futures) == list(range(60))


def test_a_thread_that_is_free_is_used_again() -> None:
    def thread_of_a_job() -> int:
        identity = run_in_worker(threading.get_ident).result(5)
        while not workers._idle:
            pass
        return identity

    run_in_worker(lambda: None).result(5)
    assert len({thread_of_a_job() for _ in range(20)}) < 5


def test_a_thread_that_is_not_needed_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "IDLE_SECONDS", 0.001)
    monkeypatch.setattr(workers, "_idle", type(workers._idle)())
    thread = run_in_worker(threading.current_thread).result(5)
    thread.join(5)
    assert not thread.is_alive()
    assert not workers._idle


def test_jobs_that_meet_a_thread_about_to_end_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "IDLE_SECONDS", 0.0001)
    monkeypatch.setattr(workers, "_idle", type(workers._idle)())
    pause = threading.Event()
    for i in range(300):
        assert run_in_worker(lambda i=i: i).result(5) == i
        pause.wait(0.0001)


def test_errors_of_every_kind_reach_whoever_waits() -> None:
    for kind in (ValueError, KeyboardInterrupt, SystemExit):
        error = kind("x")

        def failing(error: BaseException = error) -> None:
            raise error

        assert run_in_worker(failing).exception(5) is error


def test_the_context_is_a_copy_of_the_callers() -> None:
    def who() -> str:
        before = tenant.get()
        tenant.set("X")
        return before

    tenant.set("acme")
    assert [run_in_worker(who).result(5) for _ in range(2)] == ["acme"] * 2
    assert tenant.get() == "acme"


class Thing:
    """Something that a weak reference can tell gone."""


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_of_a_finished_job_is_kept(fails: bool) -> None:
    thing = Thing()
    gone = weakref.ref(thing)

    def job(thing: Thing = thing) -> Thing:
        if fails:
            raise KeyError(thing)
        return thing

    future: Future[Any] = run_in_worker(job)
    with pytest.raises(KeyError) if fails else nullcontext():
        future.result(5)
    del thing, job, future
    run_in_worker(lambda: None).result(5)
    gc.collect()
    assert gone() is None


def test_a_failed_job_leaves_no_cycle_for_the_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        thing = Thing()
        gone = weakref.ref(thing)

        def job(thing: Thing) -> None:
            raise KeyError

        future: Future[None] = run_in_worker(lambda thing=thing: job(thing))
        assert isinstance(future.exception(5), KeyError)
        del thing, future
        run_in_worker(lambda: None).result(5)
        run_in_worker(lambda: None).result(5)
        assert gone() is None
    finally:
        gc.enable()


def test_a_cancelled_job_that_has_not_begun_never_does() -> None:
    future: Future[Any] = Future()
    future.cancel()
    workers._perform(future, lambda: pytest.fail("it was cancelled"))


def test_without_threads_the_job_is_done_by_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_more(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(workers, "_idle", type(workers._idle)())
    monkeypatch.setattr(threading.Thread, "start", no_more)
    assert run_in_worker(threading.get_ident).result(5) == threading.get_ident()


def test_a_worker_can_be_awaited() -> None:
    async def main() -> int:
        return await wait_for(run_in_worker(lambda: 42))

    assert asyncio.run(main()) == 42

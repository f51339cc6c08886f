"""An inbox: what many bring is worked on one at a time, in order, and nobody who brings something waits."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from aiservices.driving import Inbox


def test_items_are_worked_on_in_order_by_whoever_brings_them() -> None:
    done: list[int] = []
    inbox = Inbox(done.append)
    for number in range(3):
        inbox.put(number)
        assert done[-1] == number
    assert done == [0, 1, 2]


def test_what_is_brought_during_the_work_comes_after_it() -> None:
    done: list[str] = []

    def work(item: str) -> None:
        if item == "first":
            inbox.put("second")
        done.append(item)

    inbox = Inbox(work)
    inbox.put("first")
    assert done == ["first", "second"]


def test_nobody_waits_for_the_one_who_works() -> None:
    begun, go_on, done = threading.Event(), threading.Event(), list[int]()

    def work(item: int) -> None:
        if item == 0:
            begun.set()
            assert go_on.wait(60)
        done.append(item)

    inbox = Inbox(work)
    with ThreadPoolExecutor(1) as pool:
        worker = pool.submit(inbox.put, 0)
        assert begun.wait(60)
        inbox.put(1)  # returns, although the other thread has not gone on
        assert done == []
        go_on.set()
        worker.result(60)
    assert done == [0, 1]


def test_nothing_is_worked_on_while_somebody_reads_what_is_settled() -> None:
    done: list[int] = []
    inbox = Inbox(done.append)
    with inbox.settled():
        inbox.put(1)
        assert done == []
    assert done == [1]


def test_who_reads_has_all_worked_on_that_was_brought_before() -> None:
    done: list[int] = []
    inbox = Inbox(done.append)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(inbox.put, range(2000)))
    with inbox.settled():
        assert sorted(done) == list(range(2000))


def test_an_error_leaves_the_inbox_usable() -> None:
    done: list[int] = []

    def work(item: int) -> None:
        if not item:
            raise ValueError("no")
        done.append(item)

    inbox = Inbox(work)
    with pytest.raises(ValueError, match="no"):
        inbox.put(0)
    inbox.put(1)
    assert done == [1]


def test_a_child_of_a_fork_has_its_turn() -> None:
    done: list[int] = []
    inbox = Inbox(done.append)
    inbox._turn.acquire()  # as a thread of the parent would hold it
    inbox.reset_in_child()
    inbox.put(1)
    assert done == [1]

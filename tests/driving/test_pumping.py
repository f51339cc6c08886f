"""`pump`: iterating over what a function hands out by calling back."""

import gc
import threading
from collections.abc import Callable

import pytest

from aiservices.driving.pumping import Give, pump

SECONDS = 10


def counting(upto: int) -> Callable[[Give[int]], None]:
    def produce(give: Give[int]) -> None:
        for number in range(upto):
            if give(number):
                return

    return produce


def starting(started: threading.Event) -> Callable[[Give[str]], None]:
    def produce(give: Give[str]) -> None:
        started.set()
        give("item")

    return produce


def test_all_items_come_in_order_and_then_the_end() -> None:
    items = pump(counting(100))
    assert list(items) == list(range(100))
    assert list(items) == []


def test_the_producer_starts_when_the_first_item_is_asked_for() -> None:
    started = threading.Event()
    items = pump(starting(started))
    assert not started.is_set()
    assert next(items) == "item"
    assert started.is_set()


def test_what_the_producer_raises_reaches_the_reader_once() -> None:
    def produce(give: Give[int]) -> None:
        give(1)
        raise LookupError("lost")

    items = pump(produce)
    assert next(items) == 1
    with pytest.raises(LookupError, match="lost"):
        next(items)
    with pytest.raises(StopIteration):
        next(items)


def test_the_producer_waits_for_a_reader_that_is_behind() -> None:
    given: list[int] = []

    def produce(give: Give[int]) -> None:
        for number in range(100):
            given.append(number)
            if give(number):
                return

    items = pump(produce, ahead=3)
    assert next(items) == 0
    assert next(items) == 1
    assert len(given) <= 2 + 3 + 1
    items.close()
    assert len(given) <= 2 + 3 + 2


def test_closing_stops_the_producer_and_waits_for_it() -> None:
    ended = threading.Event()

    def produce(give: Give[int]) -> None:
        number = 0
        while not give(number):
            number += 1
        ended.set()

    items = pump(produce)
    assert next(items) == 0
    items.close()
    assert ended.is_set()
    with pytest.raises(StopIteration):
        next(items)
    items.close()


def test_closing_before_the_first_item_starts_nothing() -> None:
    started = threading.Event()
    items = pump(starting(started))
    items.close()
    assert list(items) == []
    assert not started.is_set()


def test_a_reader_that_waits_meets_the_end_when_another_thread_closes() -> None:
    waiting, go_on = threading.Event(), threading.Event()

    def produce(give: Give[int]) -> None:
        waiting.set()
        go_on.wait(SECONDS)
        give(1)

    items = pump(produce)
    read: list[int] = []
    reader = threading.Thread(target=lambda: read.extend(items))
    reader.start()
    assert waiting.wait(SECONDS)
    closer = threading.Thread(target=items.close)
    closer.start()
    reader.join(SECONDS)
    assert not reader.is_alive()
    go_on.set()
    closer.join(SECONDS)
    assert not closer.is_alive()
    assert read == []


def test_a_dropped_iterator_stops_its_producer() -> None:
    ended = threading.Event()

    def produce(give: Give[int]) -> None:
        while not give(1):
            pass
        ended.set()

    items = pump(produce)
    next(items)
    del items
    gc.collect()
    assert ended.wait(SECONDS)

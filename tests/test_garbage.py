"""Garbage is collected less often inside a context, and as before after it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from threading import Event, Thread

import pytest

from regretless.garbage import OBJECTS, relaxed_gc


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(701, 11, 12)
    yield
    gc.set_threshold(*before)


def test_the_threshold_is_restored() -> None:
    with relaxed_gc():
        assert gc.get_threshold() == (OBJECTS, 11, 12)
    assert gc.get_threshold() == (701, 11, 12)
    with pytest.raises(KeyError), relaxed_gc():
        raise KeyError
    assert gc.get_threshold() == (701, 11, 12)


def test_contexts_of_two_threads_may_overlap() -> None:
    entered, leave = Event(), Event()

    def work() -> None:
        with relaxed_gc():
            entered.set()
            leave.wait(600)

    thread = Thread(target=work)
    with relaxed_gc():
        thread.start()
        assert entered.wait(600)
    assert gc.get_threshold()[0] == OBJECTS  # the other still needs it
    leave.set()
    thread.join()
    assert gc.get_threshold() == (701, 11, 12)


@pytest.mark.parametrize("threshold", [0, 2 * OBJECTS])
def test_collections_that_are_rarer_or_turned_off_stay_so(threshold: int) -> None:
    gc.set_threshold(threshold, 11, 12)
    with relaxed_gc():
        assert gc.get_threshold() == (threshold, 11, 12)
    assert gc.get_threshold() == (threshold, 11, 12)

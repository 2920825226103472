"""Threads share an order without losing an item, whatever the operating system does with them.

The functions of `kernels/team.py` run as plain Python, one thread at a time. At every access to the signals, a
scheduler decides at random who continues, and lets some threads rest for long: a thread may lose its core between any
two instructions. The loop around them is that of `kernels/iterate.py`, with items that only count.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from regretless.engines.numba.public.kernels import team

PATIENCE = 30_000  # accesses without a finished item, after which threads are taken to wait for each other forever


class Scheduler:
    """Lets one of several threads run at a time, and changes it at accesses to the signals."""

    def __init__(self, seed: int, threads: int) -> None:
        self.random = np.random.default_rng(seed)
        self.turn = [threading.Semaphore(0) for _ in range(threads)]
        self.running = set(range(threads))
        self.resting: dict[int, int] = {}  # accesses until a thread continues
        self.current = 0
        self.idle = 0
        self.stuck = False

    def access(self, rests: float = 0.01) -> None:
        """Let another thread continue, perhaps, and this one rest, with this probability."""
        self.idle += 1
        self.stuck |= self.idle > PATIENCE
        if self.stuck:
            raise TimeoutError
        mine = self.current
        if self.random.random() < rests:
            self.resting[mine] = int(10 ** self.random.uniform(1, 2.5))
        self._choose()
        if self.current != mine:
            self.turn[self.current].release()
            self.turn[mine].acquire()

    def leave(self) -> None:
        """Let the others continue without this thread."""
        self.running.discard(self.current)
        self.resting.pop(self.current, None)
        if self.running:
            self._choose()
            self.turn[self.current].release()

    def _choose(self) -> None:
        self.resting = {thread: left - 1 for thread, left in self.resting.items() if left > 1}
        ready = sorted(self.running - self.resting.keys()) or sorted(self.running)
        if self.current not in ready or self.random.random() < 0.3:
            self.current = int(self.random.choice(ready))


def run_orders(seed: int, members: int, phases: list[tuple[int, int]], orders: int) -> list[tuple[int, int, int]]:
    """The items done, (phase, owner, number), while phases of (each, others) items are worked through in each order."""
    scheduler = Scheduler(seed, members)
    signals, done = [0] * team.signals_size(members), []
    plain: dict[str, Callable[..., Any]] = {}

    def load(numbers: list[int], index: int) -> int:
        scheduler.access()
        return numbers[index]

    def store(numbers: list[int], index: int, value: int) -> None:
        scheduler.access(rests=0.3)
        numbers[index] = value

    def add(numbers: list[int], index: int, value: int) -> int:
        scheduler.access()
        numbers[index] += value
        return numbers[index] - value

    names = {"atomic_load": load, "atomic_store": store, "atomic_add": add}
    names |= dict.fromkeys(("pause", "give_way", "nap"), scheduler.access)  # type: ignore[arg-type]
    shared = {**vars(team), **names}
    for name in team.__all__:
        function = getattr(getattr(team, name), "py_func", None)
        if function is not None:
            plain[name] = type(function)(function.__code__, shared, name)
            shared[name] = plain[name]

    def open_next(phase: int, member: int) -> None:
        if phase + 1 < len(phases):
            plain["open_phase"](signals, phase + 1, member, members, *phases[phase + 1])
        else:
            plain["close_order"](signals)

    def work(member: int) -> None:
        finished, current = 0, -1
        if member == 0:
            plain["give_order"](signals)
            open_next(-1, member)
        while True:
            seen = load(signals, team.PHASE)
            if member == 0 and plain["is_over"](signals):
                return
            phase, owner, number = plain["take_item"](signals, member, members)
            if phase < 0:
                if finished > 0:
                    each, others = phases[current]
                    if plain["finish_items"](signals, finished, each * members + others):
                        open_next(current, member)
                    finished = 0
                    continue
                if plain["wait_for_phase"](signals, seen, member > 0):
                    continue
                return
            assert finished == 0 or phase == current
            finished, current = finished + 1, phase
            for _ in range(scheduler.random.choice([0, 1, 2, 40])):
                scheduler.access()
            done.append((phase, owner, number))
            scheduler.idle = 0

    def live(member: int) -> None:
        scheduler.turn[member].acquire()
        try:
            for _ in range(orders if member == 0 else 1):
                work(member)
        except TimeoutError:
            pass
        finally:
            scheduler.leave()

    threads = [threading.Thread(target=live, args=(member,)) for member in range(members)]
    for thread in threads:
        thread.start()
    scheduler.turn[0].release()
    for thread in threads:
        thread.join()
    assert not scheduler.stuck, "every thread waits for another"
    return done


@pytest.mark.parametrize("members", [2, 3])
@pytest.mark.parametrize(
    "phases",
    [
        [(0, 1), (2, 3), (1, 0), (1, 0), (0, 1)],  # a turn: both streets, own sums, the total, back up
        [(0, 1), (0, 2), (1, 4), (0, 2), (1, 0), (0, 1)],  # a flop with divided blocks
        [(1, 3), (1, 0)],  # what a slow opener stores must not wipe out the next phase; others may close the order
        [(1, 1), (1, 0), (0, 2)],
    ],
)
def test_every_item_is_done_once_and_in_its_phase(phases: list[tuple[int, int]], members: int) -> None:
    for seed in range(20):
        walk = phases * (24 // len(phases))
        done = run_orders(seed, members, walk, orders=2)
        expected = sorted(
            (phase, owner, number)
            for phase, (each, others) in enumerate(walk)
            for owner, count in [(-1, others), *((member, each) for member in range(members))]
            for number in range(count)
        )
        assert len(done) == 2 * len(expected)
        for order in range(2):
            part = done[order * len(expected) : (order + 1) * len(expected)]
            assert [phase for phase, _, _ in part] == sorted(phase for phase, _, _ in part)
            assert sorted(part) == expected

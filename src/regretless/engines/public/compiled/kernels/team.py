"""How threads share the work of an order, in compiled code.

The work is a sequence of phases, and a phase is a number of items. Any thread may take any item of the current phase;
the one that finishes the last item opens the next phase. So nobody waits for a thread that the operating system is not
running, unless it has begun an item, and an order does not even need the other threads.

All that threads share is an array of 64-bit integers, `signals`, in which numbers that different threads change are in
different cache lines. Items are counted in words of three parts,

    phase · 2³² + items · 2¹⁶ + items taken

so that one atomic addition takes an item and says which phase it belongs to. Every member of a team has a word for
the items that it should take first, the same in every iteration; there is one for the others (`POOL`), and one for what
member 0 alone does (`MAIN`), so that its numbers stay in one cache.

A thread that finds nothing to do first spins, which notices a new phase within a fraction of a microsecond. Then it
offers its core to other threads, again and again: that takes less than a microsecond if there are none, and with more
threads than free cores it lets those run that are waited for. After a millisecond or so it sleeps for short times. When
there is no order for a few milliseconds, all but member 0 leave compiled code.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.compiling.decorators import fast_inlined
from regretless.engines.public.compiled.kernels.processor import (
    atomic_add,
    atomic_load,
    atomic_store,
    give_way,
    nap,
    pause,
)

__all__ = [
    "PHASE",
    "Signals",
    "close_order",
    "finish_items",
    "give_order",
    "is_over",
    "open_phase",
    "signals_size",
    "take_item",
    "wait_for_phase",
]

Signals = NDArray[np.int64]

LINE = 8  # numbers in a cache line
ORDER, CLOSED, PHASE, DONE, POOL, MAIN = range(0, 6 * LINE, LINE)  # given, finished, opened, items finished; words
MEMBER = 6 * LINE  # where the words of the members begin

SPINS = 300  # 5 to 15 µs
OFFERS = 2_000  # about 1 ms
NAPS = 40  # 4 ms or more


def signals_size(members: int) -> int:
    """Numbers in the signals of a team."""
    return MEMBER + members * LINE


@fast_inlined
def open_phase(signals: Signals, phase: int, opener: int, members: int, each: int, others: int) -> None:
    """Offer `each` items to every member and `others` to all; who takes one sees everything written before.

    A phase of a single item is for member 0; if that is the `opener`, nobody has to be told.
    """
    atomic_store(signals, DONE, 0)
    if each > 0:
        for member in range(members):
            atomic_store(signals, MEMBER + member * LINE, (phase << 32) + (each << 16))
    single = each == 0 and others == 1
    atomic_store(signals, MAIN if single else POOL, (phase << 32) + (others << 16))
    if opener > 0 or not single:
        atomic_add(signals, PHASE, 1)


@fast_inlined
def give_order(signals: Signals) -> None:
    """Keep the members from leaving until the order is closed."""
    atomic_add(signals, ORDER, 1)


@fast_inlined
def close_order(signals: Signals) -> None:
    """Say that the last phase of the order is over."""
    atomic_store(signals, CLOSED, atomic_load(signals, ORDER))
    atomic_add(signals, PHASE, 1)


@fast_inlined
def is_over(signals: Signals) -> bool:
    """Whether every order that was given is finished."""
    return bool(atomic_load(signals, CLOSED) == atomic_load(signals, ORDER))


@fast_inlined
def finish_items(signals: Signals, finished: int, items: int) -> bool:
    """Report the items that this thread has finished; whether they were the last of the phase.

    A thread reports them together when it finds no more to take, because all threads write to the same place.
    """
    return bool(atomic_add(signals, DONE, finished) == items - finished)


@fast_inlined
def take_item(signals: Signals, member: int, members: int) -> tuple[int, int, int]:
    """(phase, owner, number) of an item: the member's own first, then the pool (owner -1), then others'.

    The phase is -1 if there is none.
    """
    for turn in range(members + 2):
        owner = member if turn == 1 else (member + turn - 2) % members if turn > 2 else -1
        place = MEMBER + owner * LINE if owner >= 0 else MAIN if turn == 0 else POOL
        if turn == 0 and member > 0:
            continue
        word = atomic_load(signals, place)
        if word & 0xFFFF < (word >> 16) & 0xFFFF:
            word = atomic_add(signals, place, 1)  # perhaps of a later phase by now
            if word & 0xFFFF < (word >> 16) & 0xFFFF:
                return word >> 32, owner, word & 0xFFFF
    return -1, -1, -1


@fast_inlined
def wait_for_phase(signals: Signals, seen: int, leaves: bool) -> bool:
    """Wait until a phase after number `seen` is opened. With `leaves`, False if there is no order for a while."""
    turns = 0
    while atomic_load(signals, PHASE) == seen:
        if turns < SPINS:
            pause()
        elif turns < SPINS + OFFERS:
            give_way()
        else:
            nap()
        turns += 1
        if leaves and turns >= SPINS + OFFERS + NAPS and is_over(signals):
            return False
    return True

"""How threads share the work of an order, in compiled code.

The work is a sequence of phases, and a phase is a number of items. Any thread may take any item of the current phase,
except that a phase of a single item is left to member 0; the thread that finishes the last item opens the next phase.
So nobody waits for a thread that the operating system is not running, unless it has begun an item, and member 0 could
finish an order alone.

Threads communicate through one array of 64-bit integers, `signals`, in which numbers that different threads write are
in different cache lines. Items are counted in words of three parts,

    phase · 2³² + items · 2¹⁶ + items taken

so that one atomic addition takes an item and says which phase it belongs to. Every member of a team has a word for the
items that it should take first, which are the same in every iteration. Another word, `POOL`, counts items for anyone,
and `MAIN` the single items of member 0, whose numbers so stay in one core's cache.

A thread that finds nothing to do first spins, which notices a new phase within a fraction of a microsecond. Then it
yields its core again and again: that takes less than a microsecond if no other thread wants the core, and if there are
more threads than free cores, it lets those run that the others wait for. After about a millisecond, it sleeps for short
intervals. When there has been no order for a few milliseconds, all members but 0 leave compiled code.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.compiling import fast_inlined
from regretless.engines.numba.public.kernels.processor import (
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
ORDER, CLOSED, PHASE, DONE, POOL, MAIN = range(0, 6 * LINE, LINE)  # orders given, finished; phases; items done; words
MEMBER = 6 * LINE  # where the words of the members begin

SPINS = 300  # 5 to 15 µs
OFFERS = 2_000  # about 1 ms
NAPS = 40  # 4 ms or more


def signals_size(members: int) -> int:
    """Numbers in the signals of a team."""
    return MEMBER + members * LINE


@fast_inlined
def open_phase(signals: Signals, phase: int, opener: int, members: int, each: int, others: int) -> None:
    """Offer `each` items to every member and `others` to anyone; whoever takes one sees everything written before.

    A phase of a single item is for member 0; if that is the `opener`, nobody else needs to know. The members' words are
    stored last: once all items are on offer, others can finish the phase and open later ones, and a word that an
    interrupted opener stored after that would wipe out the items of a later phase.
    """
    single = each == 0 and others == 1
    atomic_store(signals, DONE, 0)
    atomic_store(signals, MAIN if single else POOL, (phase << 32) + (others << 16))
    if each > 0:
        for member in range(members):
            atomic_store(signals, MEMBER + member * LINE, (phase << 32) + (each << 16))
    if opener > 0 or not single:
        atomic_add(signals, PHASE, 1)


@fast_inlined
def give_order(signals: Signals) -> None:
    """Announce an order: until it is closed, no member leaves."""
    atomic_add(signals, ORDER, 1)


@fast_inlined
def close_order(signals: Signals) -> None:
    """Announce that the last phase of the order is over."""
    atomic_store(signals, CLOSED, atomic_load(signals, ORDER))
    atomic_add(signals, PHASE, 1)


@fast_inlined
def is_over(signals: Signals) -> bool:
    """Whether every order that was given is finished."""
    return bool(atomic_load(signals, CLOSED) == atomic_load(signals, ORDER))


@fast_inlined
def finish_items(signals: Signals, finished: int, items: int) -> bool:
    """Report the items that this thread has finished, and return whether they were the last of the phase.

    A thread reports them together when it finds no more to take, because all threads write to the same place.
    """
    return bool(atomic_add(signals, DONE, finished) == items - finished)


@fast_inlined
def take_item(signals: Signals, member: int, members: int) -> tuple[int, int, int]:
    """(phase, owner, number) of an item: the member's own first, then the pool's (owner -1), then other members'.

    Member 0 first looks in `MAIN` (owner -1). The phase is -1 if there is no item to take.
    """
    for turn in range(members + 2):
        owner = member if turn == 1 else (member + turn - 2) % members if turn > 2 else -1
        index = MEMBER + owner * LINE if owner >= 0 else MAIN if turn == 0 else POOL
        if turn == 0 and member > 0:
            continue
        word = atomic_load(signals, index)
        if word & 0xFFFF < (word >> 16) & 0xFFFF:
            word = atomic_add(signals, index, 1)  # perhaps of a later phase by now
            if word & 0xFFFF < (word >> 16) & 0xFFFF:
                return word >> 32, owner, word & 0xFFFF
    return -1, -1, -1


@fast_inlined
def wait_for_phase(signals: Signals, seen: int, leaves: bool) -> bool:
    """Wait until `PHASE` is no longer `seen`. With `leaves`, return False if there has been no order for a while."""
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

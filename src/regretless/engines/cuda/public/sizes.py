"""How much device memory the CUDA engine takes for a form of a given size, known before anything is built.

Each function counts the arrays of the module it names, as that module allocates them. Four things are not known
exactly and are estimated by their maximum: which rows are only cached, which hands are equivalent, how many deals each
runout represents, and whether both players have the same hands and so share lists. Tiles that do not fit in a block's
shared memory are not counted; on current devices, only forms whose terminals need 64 bits have any. Matrices of
terminals are counted even for a device that cannot multiply them.
"""

from __future__ import annotations

from math import prod

import numpy as np

from regretless.engines.cuda.public.engine import HALF_BITS
from regretless.engines.cuda.public.hands import HandCounts, code_bytes, hand_shapes
from regretless.engines.cuda.public.live import saves_hands
from regretless.engines.cuda.public.records import (
    ALIGNMENT,
    DECISION,
    LEAF,
    LINE,
    MIXTURE,
    OWN_HAND,
    PANEL,
    PAYS,
    PIECE,
    RUNOUT,
    SEGMENTS,
    STAKE,
    STREET,
    TERM,
    TERMINAL,
    UNIT,
)
from regretless.engines.cuda.public.source import WARP
from regretless.engines.cuda.public.spot import APART_BYTES, WAVE_BYTES, WAYS, slots_of
from regretless.engines.cuda.public.terminals import are_few
from regretless.engines.formats import number_format
from regretless.engines.layout import MAX_BLOCKS, padded
from regretless.engines.numba.public.sizes import SUBGROUPS
from regretless.forms.public import NodeKind
from regretless.forms.public_size import PublicSize

__all__ = ["bucket_evaluation_bytes", "estimate"]


def estimate(size: PublicSize, *, storage: int = 32, predicts: bool = False, is_part: bool = False) -> int:
    """Bytes of an engine, `CudaPublicEngine.memory_bytes`.

    `predicts`: the variant keeps predictions too; `is_part`: it is a shard, or the trunk.
    """
    number = number_format(storage)
    entry = number.entry_bytes + (number.regret.itemsize if predicts else 0)
    last = _last_hands(size, storage)
    entries = sum(
        int(size.runouts[:-1] @ size.actions[:-1, player]) * padded(size.hands[player])
        + int(size.runouts[-1]) * int(size.actions[-1, player]) * last[player]
        for player in range(2)
    )
    tables = _tables(size, last) + sum(_lists(size, own, last) + _plan(size, own) for own in range(2))
    codes = _codes(size) if storage == HALF_BITS else 0
    sums = 8 * min(int(size.runouts[1]), MAX_BLOCKS) * _lines(size)[1] * max(map(padded, size.hands)) if is_part else 0
    return entries * entry + tables + codes + _row_bytes(size, last) + sums


def bucket_evaluation_bytes(size: PublicSize, *, probabilities: int) -> int:
    """Bytes of a `CudaBucketEvaluator` at work, with this many probabilities in its strategy."""
    first, second = map(padded, size.hands)
    tables = _tables(size, (first, second))
    tables += sum(_lists(size, own, (first, second)) + _plan(size, own) for own in range(2))
    buckets = 2 * int(size.runouts.sum()) * sum(map(padded, size.hands))
    return 4 * probabilities + 8 * int(size.nodes.sum()) + buckets + tables + _row_bytes(size, (first, second))


def _last_hands(size: PublicSize, storage: int) -> tuple[int, int]:
    """`StoredLayout.hands` of the last street."""
    products = storage == HALF_BITS and are_few(size.hands) and size.even_ties
    fewer = saves_hands(size.hands, size.live, size.runouts.tolist(), products=products)
    first, second = size.live if fewer and size.live is not None else size.hands
    return padded(first), padded(second)


def _tables(size: PublicSize, last: tuple[int, int]) -> int:
    """`hands.hand_tables`, with so many hands on the last street."""
    total = int(size.runouts.sum()) * RUNOUT.itemsize + _symmetries(size) * (size.deck + 1)
    total += int(size.runouts[1:].sum()) * size.permutations * TERM.itemsize
    for hands, last_hands in zip(size.hands, last, strict=True):
        counts = HandCounts(
            hands=padded(hands),
            cards=2 * hands,
            deck=size.deck,
            permutations=size.permutations,
            symmetries=_symmetries(size),
            runouts=int(size.runouts.sum()),
            finals=int(size.runouts[-1]),
            places=last_hands if last_hands < padded(hands) else 0,
        )
        total += sum(prod(shape) * np.dtype(kind).itemsize + ALIGNMENT for shape, kind in hand_shapes(counts).values())
    return total


def _symmetries(size: PublicSize) -> int:
    """The most ways in which hands can be equivalent."""
    return min(SUBGROUPS.get(size.permutations, max(SUBGROUPS.values())), int(size.runouts.sum()) + 1)


def _lists(size: PublicSize, own: int, last: tuple[int, int]) -> int:
    """`hands.list_sizes`, for the walks of one player."""
    n = last[own]
    units = SEGMENTS + size.deck
    operations = 3 * size.hands[1 - own] + 4 * units + 4  # of all hands and of both cards, in fours
    folds = _symmetries(size) * padded(size.hands[own]) * OWN_HAND.itemsize
    return int(size.runouts[-1]) * (n * OWN_HAND.itemsize + operations * 4 + (units + 1) * UNIT.itemsize) + folds


def _codes(size: PublicSize) -> int:
    """Matrices of both players' terminals, where `can_multiply`."""
    if not (are_few(size.hands) and size.even_ties):
        return 0
    first, second = map(padded, size.hands)
    return int(size.runouts[-1]) * (code_bytes(first, second) + code_bytes(second, first))


def _plan(size: PublicSize, own: int) -> int:
    """`plan.CudaWalkPlan`, for the walks of one player."""
    last = size.nodes[-1]
    terminals = int(last[NodeKind.FOLD] + last[NodeKind.SHOWDOWN])
    before = size.nodes[:-1].sum(axis=0) if len(size.nodes) > 1 else [0] * len(NodeKind)
    return (
        len(size.runouts) * STREET.itemsize
        + sum(_lines(size)) * LINE.itemsize
        + int(size.decisions.sum()) * DECISION.itemsize
        + int(size.actions.sum()) * 4
        + sum(_lines(size)) * 4
        + int(before[NodeKind.FOLD] + before[NodeKind.CHANCE]) * LEAF.itemsize
        + terminals * TERMINAL.itemsize
        + (terminals + 2 * WARP) * len(PAYS) * 8
        + terminals * (PIECE.itemsize + MIXTURE.itemsize + STAKE.itemsize + PANEL.itemsize)
    )


def _row_bytes(size: PublicSize, last_hands: tuple[int, int]) -> int:
    """The working rows of `spot.SpotWalks`, with which the players take turns unless they are few."""
    lines, hands = _lines(size), (padded(size.hands[0]), padded(size.hands[1]))
    runouts, last = [int(count) for count in size.runouts], len(lines) - 1
    slots, before, values = [], [], []  # numbers in rows of one runout of the last street, of earlier streets, of lines
    for own in range(2):
        rows = [
            (
                (lines[street] + int(size.actions[street, 1 - own])) * each[1 - own],
                (lines[street] + int(size.actions[street, own])) * each[own],
                int(size.nodes[street].sum()) * each[own],
            )
            for street, each in enumerate([hands] * last + [last_hands])
        ]
        slots.append(rows[-1])
        before.append([sum(runouts[street] * rows[street][which] for street in range(last)) for which in range(3)])
        values.append(sum(count * line for count, line in zip(runouts[:-1], lines[:-1], strict=True)) * hands[own])
    reach = [max(before[own][which] for own in range(2)) for which in range(2)]
    slot = 4 * sum(int(max(each)) for each in zip(*slots, strict=True))
    # Rows that are only cached leave room for more runouts, up to the limit; all of the most that a deal can have fit.
    taking_turns = max(slots_of(slot, runouts[-1], min(size.deck, runouts[-1])), min(WAVE_BYTES // slot, runouts[-1]))
    ways = WAYS * (max(values) + max(each[2] for each in before) + taking_turns * lines[-1] * max(last_hands))
    in_turn = 4 * (sum(reach) + ways) + max(taking_turns * slot, min(WAVE_BYTES, runouts[-1] * slot))
    apart = (
        sum(each[:2]) + WAYS * (line + runouts[-1] * lines[-1] * last_hands[own] + each[2])
        for own, (each, line) in enumerate(zip(before, values, strict=True))
    )
    # If so few that the players do not take turns, they are at most twice as many.
    return max(in_turn, min(4 * (sum(apart) + runouts[-1] * sum(map(sum, slots))), 2 * APART_BYTES))


def _lines(size: PublicSize) -> list[int]:
    """Lines into each street."""
    return [1, *map(int, size.nodes[:-1, NodeKind.CHANCE])]

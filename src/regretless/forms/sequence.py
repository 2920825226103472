"""The sequence form of a two-player game (Koller, Megiddo & von Stengel, 1996).

A *sequence* of a player is the list of their own pairs (information set, action) on the path to a node; with perfect
recall, the last pair determines it. The form consists of:

1. each player's decisions as a tree of sequences, level by level;
2. a realization plan x over sequences: x = 1 for the empty sequence, and in each information set the plan of its
   actions sums to the plan of the sequence that leads there;
3. one sparse matrix per player of payoffs over pairs of sequences, with chance folded in: row s of
   `payoff[player] @ opponent_plan` is the value of the terminals that end the player's sequence s.

For each player, an iteration of CFR is then one sweep down the opponent's tree, one sparse product and one sweep up
the player's own tree. Goofspiel with 6 cards has 969,523 histories but 74,076 pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from regretless.errors import InvalidGame
from regretless.forms.compile import last_pairs
from regretless.forms.history import FloatArray, HistoryForm, IntArray
from regretless.reprs import brief

__all__ = [
    "SequenceForm", "SequenceLevel", "SequenceTree", "SparseMatrix", "compile_sequence", "realization_plan",
    "sequence_levels", "sequence_tree", "terminal_reach", "terminal_sequences",
]  # fmt: skip

CANCELLED = 1e-14  # a sum this small relative to its terms is rounding error: the entry is dropped


@dataclass(frozen=True)
class SequenceTree:
    """One player's decisions as a tree of sequences, deepest level last. I information sets, S sequences, L levels.

    Sequence 0 is the empty sequence. The actions of an information set are adjacent, so
    `first_sequence[i] : first_sequence[i + 1]` are the sequences that end in information set i.
    """

    information_set: IntArray  # [I]    its number in the history form
    parent_sequence: IntArray  # [I]    sequence that leads to the set
    first_sequence: IntArray  # [I+1]   slices of sequences; first_sequence[0] is 1
    level: IntArray  # [L+1]            slices of information sets, root first
    pair: IntArray  # [S]               pair of the history form that ends the sequence; -1 for the empty one

    __repr__ = brief


@dataclass(frozen=True)
class SparseMatrix:
    """Compressed rows."""

    start: IntArray  # [rows+1]    entries of row r are start[r] : start[r+1]
    column: IntArray  # [entries]
    value: FloatArray  # [entries]
    columns: int

    __repr__ = brief


@dataclass(frozen=True)
class SequenceForm:
    """A two-player game over sequences."""

    history: HistoryForm  # what it was derived from
    trees: tuple[SequenceTree, SequenceTree]
    payoff: tuple[SparseMatrix, SparseMatrix]  # [S of the player, S of the other]  own utility times chance

    __repr__ = brief


def compile_sequence(history: HistoryForm) -> SequenceForm:
    """Derive the sequence form of a two-player game."""
    if history.players != 2:
        raise InvalidGame(f"{history.name} has {history.players} players; the sequence form needs exactly two")
    trees = (sequence_tree(history, 0), sequence_tree(history, 1))
    ends = (terminal_sequences(history, 0, trees[0]), terminal_sequences(history, 1, trees[1]))
    weighted = terminal_reach(history)[:, None] * history.payoff
    return SequenceForm(
        history=history,
        trees=trees,
        payoff=(
            _sum_entries(ends[0], ends[1], weighted[:, 0], len(trees[0].pair), len(trees[1].pair)),
            _sum_entries(ends[1], ends[0], weighted[:, 1], len(trees[1].pair), len(trees[0].pair)),
        ),
    )


def sequence_tree(history: HistoryForm, player: int) -> SequenceTree:
    """The decisions of one player as a tree of sequences; the game may have any number of players."""
    last = last_pairs(history, player)
    sets = np.flatnonzero(history.information_set_player == player)
    nodes = np.flatnonzero(history.player == player)
    parent_pair = np.full(len(history.keys), -1, np.int32)
    parent_pair[history.information_set[nodes]] = last[nodes]  # perfect recall: the same for every node of a set

    counts = np.diff(history.first_pair)
    parent_set = np.append(history.set_of_pair, -1)[parent_pair]  # -1: no earlier decision
    depth = np.full(len(counts), -1)  # number of earlier decisions of the player; -1: not known yet
    ready_sets = sets[parent_pair[sets] < 0]
    waiting = sets[parent_pair[sets] >= 0]
    level = [0]
    while len(ready_sets):
        depth[ready_sets] = len(level) - 1
        level.append(level[-1] + len(ready_sets))
        ready = depth[parent_set[waiting]] >= 0
        ready_sets, waiting = waiting[ready], waiting[~ready]

    ordered = sets[np.argsort(depth[sets], kind="stable")]
    first_sequence = np.ones(len(ordered) + 1, np.int32)
    np.cumsum(counts[ordered], out=first_sequence[1:])
    first_sequence[1:] += 1
    pair = np.full(first_sequence[-1], -1, np.int32)
    pair[1:] = _ranges(history.first_pair[ordered], counts[ordered])
    return SequenceTree(
        information_set=ordered.astype(np.int32),
        parent_sequence=_sequence_of_pair(history, pair)[parent_pair[ordered]],
        first_sequence=first_sequence,
        level=np.array(level),
        pair=pair,
    )


@dataclass(frozen=True)
class SequenceLevel:
    """The information sets of one level of a tree, and their sequences."""

    sequences: slice
    start: IntArray  # [sets]  first sequence of each set, counted from the first of the level
    owner: IntArray  # [sequences]  set of each sequence, counted from the first of the level
    parent: IntArray  # [sets]  sequence that leads to each set


def sequence_levels(tree: SequenceTree) -> list[SequenceLevel]:
    """The levels of a tree, root first."""
    levels = []
    for start, end in pairwise(tree.level.tolist()):
        first = tree.first_sequence[start : end + 1]
        levels.append(
            SequenceLevel(
                sequences=slice(int(first[0]), int(first[-1])),
                start=(first[:-1] - first[0]).astype(np.intp),
                owner=np.repeat(np.arange(end - start), np.diff(first)),
                parent=tree.parent_sequence[start:end].astype(np.intp),
            )
        )
    return levels


def realization_plan(levels: list[SequenceLevel], strategy: FloatArray) -> FloatArray:
    """[S] the probability that the player makes every move of each sequence; 1 for the empty one, as in `strategy`."""
    plan = strategy.copy()
    for level in levels:
        plan[level.sequences] *= plan[level.parent][level.owner]
    return plan


def _ranges(start: IntArray, count: IntArray) -> IntArray:
    """count[0] consecutive numbers from start[0], then count[1] from start[1], and so on."""
    before = np.cumsum(count) - count
    ranges: IntArray = np.arange(count.sum()) + np.repeat(start - before, count)
    return ranges


def _sequence_of_pair(history: HistoryForm, pair: IntArray) -> IntArray:
    """The inverse of `pair`; its last entry, reached by index −1, is the empty sequence."""
    sequence = np.zeros(history.first_pair[-1] + 1, np.int32)
    sequence[pair[1:]] = np.arange(1, len(pair), dtype=np.int32)
    return sequence


def terminal_sequences(history: HistoryForm, player: int, tree: SequenceTree) -> IntArray:
    """[T] `player`'s sequence at each terminal."""
    return _sequence_of_pair(history, tree.pair)[last_pairs(history, player)[history.terminal]]


def terminal_reach(history: HistoryForm) -> FloatArray:
    """[T] product of the chance probabilities on the path to each terminal."""
    reach = history.chance.copy()
    for depth in range(1, len(history.level) - 1):
        nodes = slice(history.level[depth], history.level[depth + 1])
        reach[nodes] *= reach[history.parent[nodes]]
    return reach[history.terminal]


def _sum_entries(row: IntArray, column: IntArray, value: FloatArray, rows: int, columns: int) -> SparseMatrix:
    """Compressed rows from entries in any order; duplicates are summed and zeros dropped."""
    cell = row.astype(np.int64) * columns + column
    order = np.argsort(cell, kind="stable")
    cell, value = cell[order], value[order]
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    cell = cell[first]
    if len(first):
        total = np.add.reduceat(value, first)
        matters = np.abs(total) > CANCELLED * np.add.reduceat(np.abs(value), first)
        cell, total = cell[matters], total[matters]
    else:
        total = np.zeros(0)
    start = np.zeros(rows + 1, np.int32)
    np.cumsum(np.bincount(cell // columns, minlength=rows), out=start[1:])
    return SparseMatrix(start=start, column=(cell % columns).astype(np.int32), value=total, columns=columns)

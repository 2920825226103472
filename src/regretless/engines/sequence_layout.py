"""How GPU and tensor engines store a game: the order of one player's sequences, and payoffs as terms.

Tensor libraries need each level contiguous and the sets below one sequence adjacent, so that a sum over children is a
sum over a slice. A grid of thread blocks needs more: a barrier between blocks costs as much as a thousand additions, so
each block should own whole subtrees, sweep them alone, and wait for the others only where it must. Hence *parts*:

    part 0        the *top*: the sets whose subtrees are too large for one block; every block keeps its own copy of it
    part 1 … B    what block b owns: subtrees that hang below the top or below the empty sequence

1. The cost of a set is the entries of its rows in the payoff matrix plus a constant for each of its sequences; the
   cost of a subtree is the sum. A subtree that costs more than `share` of a block's fair portion is split: its root
   joins the top. A subtree costs no more than its parent's, so the parent of a set in the top is in the top too.
2. The remaining subtrees are given to blocks, the most expensive first, each to the block with the least work so far.
3. Within a part, sets are numbered level by level (levels counted from the roots of the part's own subtrees), each
   level in the order of the sequences above it.

With one block there is no top, and the order is breadth-first.

A *term* of the payoffs has an own sequence, one sequence of each other player, and a number. The payoff of a sequence s
of player i against the others' plans x_j is

    q(s) = Σ over terms t that end s of value(t) · Π_{j ≠ i} x_j(sequence of j in t)

In a two-player game the terms are the entries of the sparse payoff matrix; in a game of n players they are its
terminals, each with n − 1 columns. An engine that works on terms serves both.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from regretless.forms.history import FloatArray, HistoryForm, IntArray
from regretless.forms.sequence import SequenceForm, SequenceTree, sequence_tree, terminal_reach, terminal_sequences

__all__ = ["Terms", "TreeLayout", "lay_out", "slices", "terms_of"]

COST_OF_A_SEQUENCE = 4.0  # cost of sweeping a sequence up and down, in entries of the payoff matrix


@dataclass(frozen=True)
class Terms:
    """Payoffs of one player, grouped by the player's own sequence. S sequences, T terms."""

    start: IntArray  # [S+1]            terms of sequence s are start[s] : start[s+1]
    columns: tuple[IntArray, ...]  # [others] of [T]  sequence of each other player, in the order of players
    value: FloatArray  # [T] or [T, games]


def terms_of(form: SequenceForm | HistoryForm) -> tuple[tuple[SequenceTree, ...], tuple[Terms, ...]]:
    """Trees and terms of every player."""
    if isinstance(form, SequenceForm):
        return form.trees, tuple(Terms(matrix.start, (matrix.column,), matrix.value) for matrix in form.payoff)
    trees = tuple(sequence_tree(form, player) for player in range(form.players))
    ends = [terminal_sequences(form, player, tree) for player, tree in enumerate(trees)]
    reach = terminal_reach(form)
    terms = []
    for player, tree in enumerate(trees):
        order = np.argsort(ends[player], kind="stable")
        others = tuple(ends[other][order] for other in range(form.players) if other != player)
        start = slices(np.bincount(ends[player], minlength=len(tree.pair)))
        terms.append(Terms(start, others, (reach * form.payoff[:, player])[order]))
    return trees, tuple(terms)


@dataclass(frozen=True)
class TreeLayout:
    """A player's tree in engine order. I information sets, S sequences, B blocks, L levels; sequence 0 is empty."""

    sequence: IntArray  # [S]        number in the sequence form
    number: IntArray  # [S]          the inverse: from the sequence form to here
    pair: IntArray  # [S]            pair of the history form; -1 for the empty sequence
    set_of: IntArray  # [S]          information set that the sequence ends in; -1 for the empty one
    first: IntArray  # [I+1]         sequences of set i are first[i] : first[i+1]
    parent: IntArray  # [S]          sequence before this one; 0 for the empty one
    children: IntArray  # [S, 2]     sets below: a slice of sets, or, for the top, a slice of `top_child`
    top_child: IntArray  # [...]     sets below the sequences of the top, which are in several parts
    level: IntArray  # [B+1, L+1]    sets of part p on level l are level[p, l] : level[p, l+1]
    top_sets: int
    top_sequences: int  # including the empty one
    block_of: IntArray  # [S]        part that the sequence belongs to; 0 for the top and the empty sequence

    @property
    def sets(self) -> int:
        return len(self.first) - 1

    @property
    def sequences(self) -> int:
        return len(self.sequence)

    @property
    def blocks(self) -> int:
        return len(self.level) - 1

    @property
    def roots(self) -> IntArray:
        """Sets below the empty sequence."""
        begin, end = self.children[0]
        return self.top_child[begin:end]


def slices(counts: IntArray) -> IntArray:
    """Bounds of adjacent slices of these lengths.

    >>> slices(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    bounds = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=bounds[1:])
    return bounds


def lay_out(tree: SequenceTree, row_cost: IntArray, *, blocks: int = 1, share: float = 0.5) -> TreeLayout:
    """Order a tree for `blocks` blocks; `row_cost` [S] is the number of payoff entries of each sequence."""
    sets, sequences = len(tree.parent_sequence), len(tree.pair)
    actions = np.diff(tree.first_sequence).astype(np.int64)
    set_of = np.full(sequences, -1, dtype=np.int64)
    set_of[1:] = np.repeat(np.arange(sets), actions)
    parent_set = set_of[tree.parent_sequence]
    groups = [np.arange(begin, end) for begin, end in zip(tree.level[:-1], tree.level[1:])]

    part = _parts(tree, set_of, parent_set, groups, row_cost, blocks, share)
    depth = _depths(parent_set, part, groups)
    order = _order(tree, parent_set, part, depth)
    level = _level_bounds(part, depth, blocks)

    first = slices(actions[order]) + 1
    sequence = np.zeros(sequences, dtype=np.int64)
    sequence[1:] = np.repeat(tree.first_sequence[order] - first[:-1], actions[order]) + np.arange(1, sequences)
    number = np.empty(sequences, dtype=np.int64)
    number[sequence] = np.arange(sequences)
    new_set_of = np.full(sequences, -1, dtype=np.int64)
    new_set_of[1:] = np.repeat(np.arange(sets), actions[order])
    parent_sequence = number[tree.parent_sequence[order]]  # [I], of sets in the new order
    top_sets = int(level[0, -1])
    top_sequences = int(first[top_sets])
    children, top_child = _children(parent_sequence, sequences, top_sequences)
    block_of = np.zeros(sequences, dtype=np.int64)
    block_of[1:] = np.repeat(part[order], actions[order])
    return TreeLayout(
        sequence=sequence,
        number=number,
        pair=np.asarray(tree.pair)[sequence],
        set_of=new_set_of,
        first=first,
        parent=np.where(new_set_of >= 0, parent_sequence[new_set_of], 0) if sets else np.zeros(1, dtype=np.int64),
        children=children,
        top_child=top_child,
        level=level,
        top_sets=top_sets,
        top_sequences=top_sequences,
        block_of=block_of,
    )


def _depths(parent_set: IntArray, part: IntArray, groups: list[IntArray]) -> IntArray:
    """How far each set is below the root of its subtree, given the sets of each level of the tree."""
    depth = np.zeros(len(part), dtype=np.int64)
    for group in groups:
        above = parent_set[group]
        same_part = (above >= 0) & (part[above] == part[group])
        depth[group] = np.where(same_part, depth[above] + 1, 0)
    return depth


def _level_bounds(part: IntArray, depth: IntArray, blocks: int) -> IntArray:
    """`TreeLayout.level`."""
    levels = int(depth.max(initial=0)) + 1
    bounds = slices(np.bincount(part * levels + depth, minlength=(blocks + 1) * levels))
    level = np.zeros((blocks + 1, levels + 1), dtype=np.int64)
    level[:, :-1] = bounds[:-1].reshape(blocks + 1, levels)
    level[:, -1] = bounds[levels::levels]
    return level


def _children(parent_sequence: IntArray, sequences: int, top_sequences: int) -> tuple[IntArray, IntArray]:
    """`TreeLayout.children` and `TreeLayout.top_child`."""
    # Sets sorted by parent sequence; those below the top (and the empty sequence) come first, as a list.
    by_parent = np.argsort(parent_sequence, kind="stable")
    bounds = np.searchsorted(parent_sequence[by_parent], np.arange(sequences + 1))
    children = np.stack([bounds[:-1], bounds[1:]], axis=1)
    below = bounds[:-1] < bounds[1:]
    below[:top_sequences] = False
    begin = by_parent[bounds[:-1][below]]  # contiguous: a part numbers a level in the order of its parents
    children[below] = np.stack([begin, begin + (bounds[1:] - bounds[:-1])[below]], axis=1)
    return children, by_parent[: int(bounds[top_sequences])]


def _parts(
    tree: SequenceTree,
    set_of: IntArray,
    parent_set: IntArray,
    groups: list[IntArray],
    row_cost: IntArray,
    blocks: int,
    share: float,
) -> IntArray:
    """The part of each set, 0 for the top."""
    part = np.ones(len(parent_set), dtype=np.int64)
    if blocks == 1:
        return part
    cost: FloatArray = np.bincount(
        set_of[1:], weights=row_cost[1:] + COST_OF_A_SEQUENCE, minlength=len(parent_set)
    ).astype(np.float64)
    total = float(cost.sum())
    for group in reversed(groups):
        below = group[parent_set[group] >= 0]
        np.add.at(cost, parent_set[below], cost[below])
    top = cost > share * total / blocks
    under_top = (parent_set < 0) | top[parent_set]
    part[top] = 0
    roots = np.flatnonzero(~top & under_top)
    loads = [(0.0, block) for block in range(1, blocks + 1)]
    for root in roots[np.argsort(-cost[roots], kind="stable")]:
        load, block = heapq.heappop(loads)
        part[root] = block
        heapq.heappush(loads, (load + float(cost[root]), block))
    for group in groups:
        inherits = group[~top[group] & ~under_top[group]]
        part[inherits] = part[parent_set[inherits]]
    return part


def _order(tree: SequenceTree, parent_set: IntArray, part: IntArray, depth: IntArray) -> IntArray:
    """Sets by part, then level, then the position of the parent sequence."""
    rank = np.zeros(len(part), dtype=np.int64)  # among the sets of its depth, in any part
    for d in range(int(depth.max(initial=0)) + 1):
        group = np.flatnonzero(depth == d)
        if d == 0:
            key = np.zeros(len(group), dtype=np.int64)
        else:
            key = rank[parent_set[group]]
        order = np.lexsort((tree.parent_sequence[group], key, part[group]))
        rank[group[order]] = np.arange(len(group))
    order = np.lexsort((rank, depth, part))
    return np.asarray(order, dtype=np.int64)

"""The order in which the numba engine stores sequences.

The sequences of all players have *slots* in the same arrays. A player's slots begin with the empty sequence; then come
*groups* of information sets of the same level with the same number of actions:

    group of n sets, 3 actions:   first actions of all n sets | second actions of all n | third actions of all n

so that an operation on every set of a group is a loop over adjacent numbers, which a processor handles 8 or 16 at a
time. Within a group, the first children of all sequences come before the second children, and so on, so that a loop
that adds to parents does not add to the same parent twice in a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regretless.forms.history import IntArray
from regretless.forms.sequence import SequenceTree

__all__ = ["Layout", "UnsignedArray", "lay_out"]

UnsignedArray = NDArray[np.unsignedinteger]


@dataclass(frozen=True)
class Layout:
    """P players, G groups of all players, I information sets, Q pairs; Q + P slots."""

    first_slot: UnsignedArray  # [P+1]   slots of player p are first_slot[p] : first_slot[p+1], the empty sequence first
    first_group: IntArray  # [P+1]  groups of player p, root level first
    group: UnsignedArray  # [G, 4]       first slot, number of sets, actions per set, first index into `parent`
    parent: UnsignedArray  # [I]         slot of the sequence that leads to each set, in the order of groups
    slot: IntArray  # [Q]           slot of each pair of the history form
    slot_of_sequence: tuple[IntArray, ...]  # for each player [S]


def lay_out(trees: tuple[SequenceTree, ...]) -> Layout:
    """Number the sequences of all players."""
    first_slot, first_group = [0], [0]
    groups: list[tuple[int, int, int, int]] = []
    parents: list[IntArray] = []
    slots: list[IntArray] = []
    pair_slot = np.zeros(sum(len(tree.pair) - 1 for tree in trees), np.int32)
    sets_before = 0
    for tree in trees:
        slot = np.zeros(len(tree.pair), np.int32)
        slot[0] = next_slot = first_slot[-1]
        next_slot += 1
        count = np.diff(tree.first_sequence)
        birth = _birth_order(tree.parent_sequence)
        for start, end in zip(tree.level.tolist(), tree.level[1:].tolist()):
            for actions in np.unique(count[start:end]).tolist():
                sets = start + np.flatnonzero(count[start:end] == actions)
                sets = sets[np.lexsort((slot[tree.parent_sequence[sets]], birth[sets]))]
                for action in range(actions):
                    slot[tree.first_sequence[sets] + action] = next_slot + action * len(sets) + np.arange(len(sets))
                groups.append((next_slot, len(sets), actions, sets_before))
                parents.append(slot[tree.parent_sequence[sets]])
                next_slot += actions * len(sets)
                sets_before += len(sets)
        pair_slot[tree.pair[1:]] = slot[1:]
        slots.append(slot)
        first_slot.append(next_slot)
        first_group.append(len(groups))
    return Layout(
        first_slot=np.array(first_slot, np.uint64),
        first_group=np.array(first_group, np.int64),
        group=np.array(groups, np.uint64).reshape(len(groups), 4),
        parent=np.concatenate([np.zeros(0, np.int32), *parents]).astype(np.uint32),
        slot=pair_slot,
        slot_of_sequence=tuple(slots),
    )


def _birth_order(parent: IntArray) -> IntArray:
    """0 for the first information set that follows a sequence, 1 for the second, and so on."""
    order = np.argsort(parent, kind="stable")
    ordered = parent[order]
    new = np.diff(ordered, prepend=-1) != 0
    first = np.flatnonzero(new)
    birth = np.empty(len(parent), np.int64)
    birth[order] = np.arange(len(parent)) - first[np.cumsum(new) - 1]
    return birth

"""The shape of a game once chance is sampled: the trees of all deals in one, so that a batch is an array.

A *slot* is a place in a walk: the root is slot 0 of depth 0; below it, the sampled child of a chance node is a slot,
and so is the child by a player's a-th action. In poker all deals have the same betting tree and every slot is used in
every deal; where shapes differ, a slot is left empty in the deals that have no node for it. A batch of B walks is then
one array [slots, B] per depth, whose rows have the same parents in every column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regretless.forms.history import HistoryForm, IntArray
from regretless.games.game import CHANCE

__all__ = ["SlotLevel", "slot_levels"]


@dataclass(frozen=True)
class SlotLevel:
    """The slots of one depth. S slots here, A slots in the depth above."""

    parent: IntArray  # [S]      slot above, ascending
    position: IntArray  # [S]    index of the action that leads here; 0 after a chance move
    children: IntArray  # [A+1]  slots below slot a of the depth above are children[a] : children[a+1]
    drawn: IntArray  # [K]       slots that chance leads to in at least some deals
    entered: tuple[IntArray, ...]  # per player, the slots that their actions lead to in at least some deals


def slot_levels(form: HistoryForm) -> tuple[SlotLevel, ...]:
    """The depths below the root, in order.

    >>> from regretless.forms import compile_history
    >>> from regretless.games import Kuhn
    >>> [len(level.parent) for level in slot_levels(compile_history(Kuhn()))]  # two cards, then 8 histories
    [1, 1, 2, 4, 2]
    """
    parent = np.asarray(form.parent)
    mover = np.full(len(parent), CHANCE, np.int64)
    mover[1:] = form.player[parent[1:]]
    position = np.zeros(len(parent), np.int64)
    position[1:] = np.arange(1, len(parent)) - form.first_child[parent[1:]]
    position[mover == CHANCE] = 0
    widest = int(position.max(initial=0)) + 1
    slot = np.zeros(len(parent), np.int64)
    slots_above = 1
    levels = []
    for depth in range(1, len(form.level) - 1):
        here = slice(int(form.level[depth]), int(form.level[depth + 1]))
        places, slot[here] = np.unique(slot[parent[here]] * widest + position[here], return_inverse=True)
        levels.append(
            SlotLevel(
                parent=places // widest,
                position=places % widest,
                children=np.searchsorted(places // widest, np.arange(slots_above + 1)),
                drawn=np.unique(slot[here][mover[here] == CHANCE]),
                entered=tuple(np.unique(slot[here][mover[here] == player]) for player in range(form.players)),
            )
        )
        slots_above = len(places)
    return tuple(levels)

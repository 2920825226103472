"""Where locks apply in a compiled form: at which betting nodes, on which runouts, for which hands.

A line without a card applies on every runout; where several locks name the same hands, the later one wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regretless.errors import InvalidText
from regretless.forms.history import FloatArray
from regretless.forms.public import PublicForm
from regretless.forms.walking import action_labels
from regretless.holdem.spots.locks import AnyLock, LockFrom, follow, lock_strategy
from regretless.reprs import brief

__all__ = ["LockedHands", "LockedNode", "ReadSource", "locked_nodes", "locked_players"]

ReadSource = Callable[[LockFrom, str, int, int], FloatArray]  # lock, field, node, runout -> [actions, H]


@dataclass(frozen=True)
class LockedNode:
    """A lock at a betting node and runout of a form."""

    node: int
    runout: int
    strategy: FloatArray  # [actions, H]
    hands: NDArray[np.bool_]  # [H] of the player who acts

    __repr__ = brief


def locked_players(locks: Sequence[AnyLock]) -> dict[int, int]:
    """Players whose every decision is locked, and the last lock that does so."""
    return {
        0 if lock.player == "ip" else 1: position
        for position, lock in enumerate(locks)
        if isinstance(lock, LockFrom) and lock.player is not None
    }


def locked_nodes(
    form: PublicForm, locks: Sequence[AnyLock], hand_numbers: tuple[NDArray[np.int64], ...], read_source: ReadSource
) -> list[LockedNode]:
    """Where locks of nodes apply, later ones overriding earlier ones.

    `hand_numbers`: which of the 1,326 hands each hand of the form is. Locks of whole players are not included, nor are
    those that a later lock of the player overrides.
    """
    locked: dict[tuple[int, int], LockedNode] = {}
    overridden = locked_players(locks)
    for position, lock in enumerate(locks):
        if isinstance(lock, LockFrom) and lock.player is not None:
            continue
        name = f"locks[{position}]"
        node, runouts = _find(form, lock, name)
        player = int(form.tree.player[node])
        chosen = lock.range.weights[hand_numbers[player]] > 0
        if not chosen.any():
            raise InvalidText(f"{name}.hands", lock.hands, None, "contains no hand of the player who acts there")
        fixed = (
            None if isinstance(lock, LockFrom) else lock_strategy(lock, action_labels(form.tree, node), name)[:, None]
        )
        if position < overridden.get(player, -1):
            continue
        for runout in runouts:
            strategy = fixed if fixed is not None else read_source(lock, name, node, runout)  # type: ignore[arg-type]
            before = locked.get((node, runout))
            played = np.where(chosen, strategy, 0.0 if before is None else before.strategy)
            hands = chosen if before is None else chosen | before.hands
            locked[node, runout] = LockedNode(node, runout, played, hands)
    return list(locked.values())


class LockedHands:
    """Which hands are locked at each betting node and runout of a form; needs no strategies, so a file is enough."""

    def __init__(self, form: PublicForm, locks: Sequence[AnyLock], hand_numbers: tuple[NDArray[np.int64], ...]) -> None:
        self.form = form
        self.players = locked_players(locks)
        self._nodes: list[tuple[int, int, frozenset[int], NDArray[np.bool_]]] = []  # lock, node, runouts, hands
        for position, lock in enumerate(locks):
            if not isinstance(lock, LockFrom) or lock.player is None:
                node, runouts = _find(form, lock, f"locks[{position}]")
                chosen = lock.range.weights[hand_numbers[int(form.tree.player[node])]] > 0
                self._nodes.append((position, node, frozenset(runouts), chosen))

    def applying(self, node: int, runout: int) -> list[int]:
        """Positions, among the spot's locks, of those that apply at a decision."""
        whole = self.players.get(int(self.form.tree.player[node]))
        positions = [position for position, locked, runouts, _ in self._nodes if locked == node and runout in runouts]
        return positions if whole is None else sorted({whole, *positions})

    def hands(self, node: int, runout: int) -> NDArray[np.bool_]:
        """[H] of the acting player: whether the hand is locked."""
        player = int(self.form.tree.player[node])
        is_locked = np.full(len(self.form.hands[player].weight), player in self.players, dtype=np.bool_)
        for _, locked_node, runouts, chosen in self._nodes:
            if locked_node == node and runout in runouts:
                is_locked |= chosen
        return is_locked


def _find(form: PublicForm, lock: AnyLock, name: str) -> tuple[int, list[int]]:
    """The betting node that a line leads to, and the runouts of its street that the line allows."""
    node, cards = follow(form.tree, lock, name)
    runouts = [0]
    for street, step in enumerate(cards):
        first, following = form.streets[street].first_child, form.streets[street + 1]
        below = [child for runout in runouts for child in range(first[runout], first[runout + 1])]
        runouts = [child for child in below if step is None or following.cards[child, 0] == step.card]
        if step is not None and not runouts:
            raise InvalidText(f"{name}.node", lock.node or "", step.position, f"{step} cannot be dealt here")
    return node, runouts

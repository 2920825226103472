"""Strategies that an engine of the public form is given rather than learns.

A locked strategy is stored where regrets, predictions and averages are: after every walk it is put back in place of
what the walk has learned. A player whose every decision is given is *fixed* and never updated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.contract import PublicStrategy
from regretless.engines.public.layout import take_alike
from regretless.engines.public.state import PublicState
from regretless.forms.history import FloatArray

__all__ = ["Lock", "PublicLocks"]

BoolArray = NDArray[np.bool_]


class Lock(NamedTuple):
    """A strategy that is not to be learned."""

    strategy: NDArray[np.float32]  # [actions, H]
    hands: BoolArray  # [H] the hands it is for


class PublicLocks:
    """The locks of a solve: of each player by node and runout, and the players who are fixed."""

    def __init__(self, state: PublicState) -> None:
        self.state, self.form = state, state.layout.form
        self.nodes: tuple[dict[tuple[int, int], Lock], dict[tuple[int, int], Lock]] = ({}, {})
        self.fixed: set[int] = set()

    def __bool__(self) -> bool:
        return any(self.nodes) or bool(self.fixed)

    def clear(self) -> None:
        for locks in self.nodes:
            locks.clear()
        self.fixed.clear()

    def lock(self, node: int, strategy: FloatArray, runout: int, hands: BoolArray | None) -> None:
        """Hold a decision on a runout, for all hands or for some."""
        player = int(self.form.tree.player[node])
        chosen = np.ones(len(self.form.hands[player].weight), dtype=np.bool_) if hands is None else hands
        lock = Lock(self._alike(strategy, node, runout), chosen)
        self.nodes[player][node, runout] = lock
        self.state.write(node, runout, *lock)

    def fix(self, player: int, strategy: PublicStrategy) -> None:
        """Give every decision of a player."""
        every = np.ones(len(self.form.hands[player].weight), dtype=np.bool_)
        for number, street in enumerate(self.form.streets):
            nodes = self.state.layout.decisions(player, number)
            for runout in range(len(street.parent)):  # one by one, as files hold them
                for node in nodes:
                    self.state.write(node, runout, self._alike(strategy(node, runout), node, runout), every)
        self.fixed.add(player)

    def hold(self, player: int) -> None:
        """Put a player's locked strategies back in place of what a walk has learned there."""
        for (node, runout), lock in self.nodes[player].items():
            self.state.write(node, runout, *lock)

    def _alike(self, strategy: FloatArray, node: int, runout: int) -> NDArray[np.float32]:
        return take_alike(self.form, strategy, node, runout).astype(np.float32)

"""Strategies that an engine of the public form is given rather than learns.

A locked strategy stands where regrets, predictions and averages stand: after every walk it is put back in place of what
the walk has learned. A player whose every decision is given is *fixed* and is not walked for at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.public.compiled.plan import LANES, Plan
from regretless.engines.public.compiled.tables import Tables
from regretless.forms.history import FloatArray
from regretless.forms.public import PublicForm

__all__ = ["STEPS", "Lock", "PublicLocks", "node_numbers", "one_of"]

STEPS = 65535  # to which an average of 16 bits counts

Float32 = NDArray[np.float32]
Stored = NDArray[Any]  # float32; in 16 bits, float16 for regrets and uint16 for averages
Learned = Sequence[Sequence[Stored]]  # regrets, predictions and averages, each of both players


class Lock(NamedTuple):
    """A strategy that is not to be learned."""

    strategy: Float32  # [actions, H]
    hands: NDArray[np.bool_]  # [H] the hands it is for


class PublicLocks:
    """The locks of a form: of each player by node and runout, and the players who are fixed."""

    def __init__(self, form: PublicForm, plans: tuple[Plan, Plan], tables: tuple[Tables, Tables]) -> None:
        self.form, self.plans, self.tables = form, plans, tables
        self.nodes: tuple[dict[tuple[int, int], Lock], dict[tuple[int, int], Lock]] = ({}, {})
        self.fixed: set[int] = set()

    def __bool__(self) -> bool:
        return any(self.nodes) or bool(self.fixed)

    def clear(self) -> None:
        for locks in self.nodes:
            locks.clear()
        self.fixed.clear()

    def lock(
        self, learned: Learned, node: int, strategy: FloatArray, runout: int, hands: NDArray[np.bool_] | None
    ) -> None:
        """Hold a node on a runout, for all hands or for some."""
        player = int(self.form.tree.player[node])
        chosen = np.ones(len(self.form.hands[player].weight), dtype=np.bool_) if hands is None else hands
        self.nodes[player][node, runout] = Lock(self._alike(strategy, node, runout), chosen)
        self._put(learned, node, runout, self.nodes[player][node, runout])

    def fix(self, learned: Learned, player: int, strategy: Callable[[int, int], FloatArray]) -> None:
        """Give every decision of a player; `strategy` of a node and a runout is [actions, H]."""
        every = np.ones(len(self.form.hands[player].weight), dtype=np.bool_)
        decisions = self.plans[player].nodes["node"][self.plans[player].nodes["mine"] == 1]
        for number, street in enumerate(self.form.streets):
            nodes = decisions[self.form.tree.street[decisions] == number]
            for runout in range(len(street.parent)):  # one by one, as files hold them
                for node in map(int, nodes):
                    self._put(learned, node, runout, Lock(self._alike(strategy(node, runout), node, runout), every))
        self.fixed.add(player)

    def hold(self, learned: Learned, player: int) -> None:
        """Put a player's locked strategies back in place of what a walk has learned there."""
        for (node, runout), lock in self.nodes[player].items():
            self._put(learned, node, runout, lock)

    def arrays(self, own: int, aligned: Callable[[int], Float32]) -> tuple[NDArray[np.int32], Float32]:
        """Where the kernels find the locks of a player."""
        plan, runouts = self.plans[own], self.tables[own].runouts
        rows = np.full((len(runouts), len(plan.nodes)), -1, dtype=np.int32)
        locked = aligned(len(self.nodes[own]) * plan.own_hands)
        for number, ((node, runout), lock) in enumerate(self.nodes[own].items()):
            street = int(self.form.tree.street[node])
            rows[int(np.searchsorted(runouts["street"], street)) + runout, plan.nodes["node"] == node] = number
            locked[number * plan.own_hands :][: len(lock.hands)] = lock.hands
        return rows.ravel(), locked

    def _alike(self, strategy: FloatArray, node: int, runout: int) -> Float32:
        """[actions, H] with hands that play alike on the runout as the one that stands for them."""
        player = int(self.form.tree.player[node])
        symmetry = self.form.streets[int(self.form.tree.street[node])].symmetry[runout]
        alike = self.tables[player].alike_hands.reshape(-1, self.plans[player].own_hands)[symmetry]
        chosen: Float32 = strategy.astype(np.float32)[:, alike[: strategy.shape[1]]]
        return chosen

    def _put(self, learned: Learned, node: int, runout: int, lock: Lock) -> None:
        for numbers in learned:
            blocks = node_numbers(self.form, self.plans, numbers, node, runout)
            rows = blocks.reshape(len(blocks), -1)
            whole = one_of(blocks)
            wanted = lock.strategy[:, lock.hands] * whole
            rows[:, : len(lock.hands)][:, lock.hands] = np.rint(wanted) if whole > 1 else wanted
            blocks[:] = rows.reshape(blocks.shape)


def one_of(numbers: Stored) -> int:
    """What stands for a probability of 1."""
    return STEPS if numbers.dtype == np.uint16 else 1


def node_numbers(
    form: PublicForm, plans: tuple[Plan, Plan], numbers: Sequence[Stored], node: int, runout: int
) -> Stored:
    """[actions, hands / 16, 16] a writable view of what belongs to a betting node on a runout of its street.

    `numbers` are regrets, averages or predictions of both players, as in a snapshot.
    """
    player = int(form.tree.player[node])
    plan = plans[player]
    entry = plan.nodes[np.flatnonzero(plan.nodes["node"] == node)[0]]
    street = plan.streets[int(form.tree.street[node])]
    actions = int(entry["actions"])
    at = int(street["own_at"] + runout * street["own_size"] + entry["block"])
    blocks = numbers[player][at : at + actions * plan.own_hands].reshape(-1, actions, LANES)
    return blocks.transpose(1, 0, 2)

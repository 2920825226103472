"""What every engine of the public form stores: what it learned, in the layout and format of snapshots, and locks.

A locked strategy is stored in place of regrets, predictions and averages; after every update it overwrites what was
learned. A player whose every decision is locked is *fixed* and never updated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.engines.contract import PublicStrategy, Snapshot
from regretless.engines.formats import NumberFormat, Stored
from regretless.engines.layout import check_rows, make_layout, take_alike
from regretless.engines.learned import LearnedArrays, Numbers
from regretless.forms.history import FloatArray
from regretless.forms.normalise import normalise_columns
from regretless.forms.public import PublicForm

__all__ = ["BoolArray", "LockedStrategy", "PublicNode", "StoredEngine", "StoredStrategies"]

BoolArray = NDArray[np.bool_]
PublicNode = tuple[int, int]  # betting node, runout of its street


class LockedStrategy(NamedTuple):
    """A strategy that is fixed instead of learned."""

    strategy: NDArray[np.floating]  # [actions, H]
    hands: BoolArray  # [H] the hands it applies to


class StoredEngine(LearnedArrays):
    """The part of an engine that handles storage, locks and reading; `allocate` creates arrays of zeros.

    An engine with numbers on a device overrides `_take` and `_put` too.
    """

    def __init__(
        self,
        form: PublicForm,
        number_format: NumberFormat,
        allocate: Callable[[int, np.dtype[np.generic]], Stored] = np.zeros,
    ) -> None:
        self.form, self.layout = form, make_layout(form)
        self.format, self.storage = number_format, number_format.bits
        self.locked: tuple[dict[PublicNode, LockedStrategy], dict[PublicNode, LockedStrategy]] = ({}, {})  # by player
        self.fixed: set[int] = set()
        self._allocate = allocate
        super().__init__(self.layout.entries.tolist(), number_format.regret, number_format.average)

    def _zeros(self, player: int, dtype: np.dtype[np.generic]) -> Numbers:
        return self._allocate(self._lengths[player], dtype)

    def _make_consistent(self, stored: Stored, player: int) -> None:
        """Give equivalent hands the numbers of their representative."""
        self.layout.make_alike(stored, player)

    def _take(self, numbers: Numbers, node: int, runouts: slice) -> Stored:
        """[runouts, actions, H] a copy of a decision's numbers."""
        return self.layout.read(numbers, node, runouts)

    def _put(self, numbers: Numbers, public_node: PublicNode, values: NDArray[np.floating], hands: BoolArray) -> None:
        """Store [actions, H] at a decision, for some hands."""
        self.layout.write(numbers, *public_node, values, hands)

    # --- reading and locking -----------------------------------------------------------------------------------------

    def strategy(self, node: int, runout: int = 0) -> FloatArray:
        """[actions, H] average strategy at a betting node on a runout; uniform where nothing was accumulated."""
        return normalise_columns(self._sums(node, slice(runout, runout + 1))[0])

    def averages(self, player: int, street: int, runouts: slice = slice(None)) -> Stored:
        """[runouts chosen, numbers] sums of a player's strategies on a street, in the layout of snapshots."""
        return self._stored(self.layout.street_rows(self._average[player], player, street)[runouts])

    def kept_strategy(self, node: int, runout: int) -> FloatArray:
        """[actions, H] a locked strategy, exactly as the averages store it."""
        return np.asarray(self._sums(node, slice(runout, runout + 1))[0] / np.float64(self.format.one))

    def as_kept(self, strategy: FloatArray) -> FloatArray:
        """A strategy as `kept_strategy` would return it: 16-bit storage rounds probabilities."""
        return self.format.as_kept(strategy)

    def _sums(self, node: int, runouts: slice) -> Stored:
        return self._take(self._average[int(self.form.tree.player[node])], node, runouts)

    def lock(self, node: int, strategy: FloatArray, runout: int = 0, hands: BoolArray | None = None) -> None:
        """Fix a player's strategy at a betting node on a runout of its street, for all hands or some."""
        every = np.ones(strategy.shape[1], dtype=np.bool_)
        lock = self._lock(strategy, (node, runout), every if hands is None else hands)
        self.locked[int(self.form.tree.player[node])][node, runout] = lock
        self.changes += 1
        self._write((node, runout), lock)

    def fix(self, player: int, strategy: PublicStrategy) -> None:
        """Fix every decision of a player, who is then never updated and whose best response is this strategy."""
        every = np.ones(len(self.form.hands[player].weight), dtype=np.bool_)

        def locks() -> Iterator[tuple[PublicNode, LockedStrategy]]:
            for number, street in enumerate(self.form.streets):
                nodes = self.layout.decisions(player, number)
                for runout in range(len(street.parent)):  # one by one, as files store them
                    for public_node in ((node, runout) for node in nodes):
                        yield public_node, self._lock(strategy(*public_node), public_node, every)

        self._write_all(player, locks())
        self.fixed.add(player)
        self.changes += 1

    def unlock(self) -> None:
        """Remove all locks; regrets and averages stay."""
        self.changes += 1
        for locks in self.locked:
            locks.clear()
        self.fixed.clear()

    def restore_locks(self, player: int) -> None:
        """Overwrite what was learned at a player's locked decisions."""
        for public_node, lock in self.locked[player].items():
            self._write(public_node, lock)

    def _lock(self, strategy: FloatArray, public_node: PublicNode, hands: BoolArray) -> LockedStrategy:
        chosen = take_alike(self.form, strategy, *public_node)
        check_rows(self.form, chosen[:, hands], public_node[0])
        return LockedStrategy(chosen.astype(np.promote_types(self.format.regret, np.float32)), hands)

    def _write(self, public_node: PublicNode, lock: LockedStrategy) -> None:
        player = int(self.form.tree.player[public_node[0]])
        for numbers in (self._regret[player], self._matched[player], self._average[player]):
            self._put(numbers, public_node, self.format.stored(lock.strategy, numbers.dtype), lock.hands)

    def _write_all(self, player: int, locks: Iterable[tuple[PublicNode, LockedStrategy]]) -> None:
        for public_node, lock in locks:
            self._write(public_node, lock)


class StoredStrategies:
    """The average strategies in a snapshot, read without an engine. Raises `ValueError` if it does not fit the form."""

    def __init__(self, form: PublicForm, snapshot: Snapshot) -> None:
        self.form, self.layout = form, make_layout(form)
        self._averages = [snapshot.arrays[f"average.{player}"] for player in range(2)]
        for player, averages in enumerate(self._averages):
            if averages.shape != (self.layout.entries[player],):
                raise ValueError(f"average.{player} has the shape of another form")

    def strategy(self, node: int, runout: int = 0) -> FloatArray:
        """[actions, H] average strategy at a betting node on a runout; uniform where nothing was accumulated."""
        return np.asarray(self.stacked(node, slice(runout, runout + 1))[0])

    def stacked(self, node: int, runouts: slice = slice(None)) -> FloatArray:
        """[runouts chosen, actions, H] the same on several runouts."""
        sums = self._averages[int(self.form.tree.player[node])]
        return normalise_columns(self.layout.read(sums, node, runouts))

"""What every engine of the public form stores, in the layout and format of snapshots: regrets, averages and locks.

A locked strategy is stored in place of regrets, predictions and averages; after every update it overwrites what was
learned. A player whose every decision is locked is *fixed* and never updated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum, auto
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from regretless.engines.contract import PublicStrategy, Snapshot
from regretless.engines.formats import NumberFormat, Stored
from regretless.engines.layout import check_rows, make_layout, take_alike
from regretless.forms.history import FloatArray
from regretless.forms.public import PublicForm

__all__ = ["BoolArray", "Lock", "Mode", "Place", "StoredEngine", "StoredStrategies"]

BoolArray = NDArray[np.bool_]
Place = tuple[int, int]  # betting node, runout of its street

PLAYERS = range(2)


@runtime_checkable
class _ReadsInto(Protocol):
    """Arrays in a file that can be read into existing memory."""

    def read_into(self, name: str, target: NDArray[Any]) -> None: ...


class Mode(Enum):
    """What the own player does on a walk."""

    LEARN = auto()
    BEST = auto()
    MEAN = auto()


class Lock(NamedTuple):
    """A strategy that is given, not learned."""

    strategy: NDArray[np.floating[Any]]  # [actions, H]
    hands: BoolArray  # [H] the hands it applies to


class StoredEngine:
    """The part of an engine that handles storage, locks and reading; `allocate` creates arrays of zeros.

    An engine with numbers on a device overrides `_zeros` or `_all_zeros`, and `_take`, `_put`, `_stored`, `_target` and
    `_load`.
    """

    def __init__(
        self, form: PublicForm, number_format: NumberFormat, allocate: Callable[[int, np.dtype[Any]], Stored] = np.zeros
    ) -> None:
        self.form, self.layout = form, make_layout(form)
        self.format, self.storage = number_format, number_format.bits
        self.iteration = 0
        self.weight = 0.0  # total weight of the average, if averages are shares of it
        self.locked: tuple[dict[Place, Lock], dict[Place, Lock]] = ({}, {})  # by player
        self.fixed: set[int] = set()
        self.changes = 0  # of locks, and of which arrays are in use
        self._allocate = allocate
        self._regret, self._average = self._all_zeros(number_format.regret, number_format.average)
        self._matched = list(self._regret)  # what strategies are matched to: regrets, unless the variant predicts

    @property
    def predicts(self) -> bool:
        """Whether predictions are stored beside the regrets."""
        return self._matched[0] is not self._regret[0]

    def store_predictions(self) -> None:
        """Store predictions from now on; the first are the regrets."""
        if not self.predicts:
            self.changes += 1
            (self._matched,) = self._all_zeros(self.format.regret)
            for matched, regret in zip(self._matched, self._regret, strict=True):
                self._load(matched, self._stored(regret))

    # --- numbers, which may be on a device ---------------------------------------------------------------------------

    def _all_zeros(self, *dtypes: np.dtype[Any]) -> list[list[Any]]:
        """[dtypes][players] regrets or averages."""
        return [[self._zeros(player, dtype) for player in PLAYERS] for dtype in dtypes]

    def _zeros(self, player: int, dtype: np.dtype[Any]) -> Any:
        """Regrets or averages of a player."""
        return self._allocate(int(self.layout.entries[player]), dtype)

    def _take(self, numbers: Any, node: int, runouts: slice) -> Stored:
        """[runouts, actions, H] a copy of a decision's numbers."""
        return self.layout.read(numbers, node, runouts)

    def _put(self, numbers: Any, place: Place, values: NDArray[np.floating[Any]], hands: BoolArray) -> None:
        """Store [actions, H] at a decision, for some hands."""
        self.layout.write(numbers, *place, values, hands)

    def _stored(self, numbers: Any) -> Stored:
        """Numbers in the layout of snapshots; the live ones where possible."""
        return np.asarray(numbers)

    def _target(self, numbers: Any) -> Stored:
        """Memory in the layout of snapshots, of which `_load` takes what was written there."""
        return np.asarray(numbers)

    def _load(self, numbers: Any, stored: Stored) -> None:
        """Replace numbers by those of a snapshot, unless they are the same memory."""
        if numbers is not stored:
            numbers[:] = stored

    # --- reading and locking -----------------------------------------------------------------------------------------

    def strategy(self, node: int, runout: int = 0) -> FloatArray:
        """[actions, H] average strategy at a betting node on a runout; uniform where nothing was accumulated."""
        return _played(self._sums(node, slice(runout, runout + 1))[0])

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

        def locks() -> Iterator[tuple[Place, Lock]]:
            for number, street in enumerate(self.form.streets):
                nodes = self.layout.decisions(player, number)
                for runout in range(len(street.parent)):  # one by one, as files store them
                    for place in ((node, runout) for node in nodes):
                        yield place, self._lock(strategy(*place), place, every)

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
        for place, lock in self.locked[player].items():
            self._write(place, lock)

    def _lock(self, strategy: FloatArray, place: Place, hands: BoolArray) -> Lock:
        chosen = take_alike(self.form, strategy, *place)
        check_rows(self.form, chosen[:, hands], place[0])
        return Lock(chosen.astype(np.promote_types(self.format.regret, np.float32)), hands)

    def _write(self, place: Place, lock: Lock) -> None:
        player = int(self.form.tree.player[place[0]])
        for numbers in (self._regret[player], self._matched[player], self._average[player]):
            self._put(numbers, place, self.format.stored(lock.strategy, numbers.dtype), lock.hands)

    def _write_all(self, player: int, locks: Iterable[tuple[Place, Lock]]) -> None:
        for place, lock in locks:
            self._write(place, lock)

    # --- snapshots ---------------------------------------------------------------------------------------------------

    def _arrays(self) -> dict[str, Any]:
        """The numbers by their names in snapshots."""
        named = {"regret": self._regret, "average": self._average}
        named |= {"matched": self._matched} if self.predicts else {}
        return {f"{name}.{player}": arrays[player] for name, arrays in named.items() for player in PLAYERS}

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        """The state of the solve; without `copy`, the live arrays, which later iterations change."""
        live = {name: self._stored(numbers) for name, numbers in self._arrays().items()}
        arrays = {name: array.copy() if copy else array for name, array in live.items()}
        return Snapshot(self.iteration, arrays, self.weight)

    def restore(self, snapshot: Snapshot) -> None:
        """Resume from a snapshot. Equivalent hands all take the numbers of their representative.

        Raises `ValueError` if an array is missing or has the wrong type or shape.
        """
        self.changes += 1
        self._matched = list(self._regret)
        if snapshot.predicts:
            self.store_predictions()
        for name, numbers in self._arrays().items():
            target = self._target(numbers)
            if name not in snapshot.arrays:
                raise ValueError(f"the snapshot has no {name!r}")
            if isinstance(snapshot.arrays, _ReadsInto):
                snapshot.arrays.read_into(name, target)
            else:
                given = snapshot.arrays[name]
                if given.dtype != target.dtype or given.shape != target.shape:
                    wanted = f"{target.dtype} {target.shape}"
                    raise ValueError(f"{name!r} is {given.dtype} {given.shape}, but {wanted} is needed")
                target[:] = given
            self.layout.make_alike(target, int(name[-1]))
            self._load(numbers, target)
        self.iteration, self.weight = snapshot.iteration, snapshot.weight


class StoredStrategies:
    """The average strategies in a snapshot, read without an engine. Raises `ValueError` if it does not fit the form."""

    def __init__(self, form: PublicForm, snapshot: Snapshot) -> None:
        self.form, self.layout = form, make_layout(form)
        self._averages = [snapshot.arrays[f"average.{player}"] for player in PLAYERS]
        for player in PLAYERS:
            if self._averages[player].shape != (self.layout.entries[player],):
                raise ValueError(f"average.{player} has the shape of another form")

    def strategy(self, node: int, runout: int = 0) -> FloatArray:
        """[actions, H] average strategy at a betting node on a runout; uniform where nothing was accumulated."""
        sums = self._averages[int(self.form.tree.player[node])]
        return _played(self.layout.read(sums, node, slice(runout, runout + 1))[0])


def _played(sums: Stored) -> FloatArray:
    """[actions, H] the strategy that sums of strategies stand for."""
    wide = sums.astype(np.float64)
    total = wide.sum(axis=0)
    return np.where(total > 0, wide / np.where(total > 0, total, 1.0), 1.0 / len(wide))

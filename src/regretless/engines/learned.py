"""What engines of the public and of the bucketed form learn: regrets, averages and predictions of both players.

All numbers of a player are in one flat array per kind. `describe` says which arrays there are, how long and of which
type, by the names that snapshots and files use: "regret.0" has the regrets of player 0, "average.1" the sums of player
1's strategies, and "matched.P" what strategies are matched to, if the variant predicts. Estimates count what it
describes, engines allocate it, and a snapshot must have it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from regretless.engines.contract import Snapshot
from regretless.engines.formats import Stored
from regretless.forms.history import AnyArray

__all__ = ["PLAYERS", "LearnedArrays", "Numbers", "describe", "read_array", "total_bytes"]

PLAYERS = range(2)

Numbers: TypeAlias = Any  # an array where the engine has it: of NumPy, or of CuPy, which has no types
Description = Mapping[str, tuple[int, np.dtype[np.generic]]]  # by name: numbers and their type


def describe(
    entries: Sequence[int], regret: np.dtype[np.generic], average: np.dtype[np.generic], *, predicts: bool
) -> dict[str, tuple[int, np.dtype[np.generic]]]:
    """The arrays of players with so many entries each, in these types; predictions have the type of regrets.

    >>> single = np.dtype(np.float32)
    >>> sorted(describe([3, 5], single, single, predicts=True))
    ['average.0', 'average.1', 'matched.0', 'matched.1', 'regret.0', 'regret.1']
    """
    types = {"regret": regret, "average": average}
    if predicts:
        types["matched"] = regret
    return {f"{kind}.{player}": (entries[player], dtype) for kind, dtype in types.items() for player in PLAYERS}


def total_bytes(description: Description) -> int:
    """Bytes of the arrays that a description names.

    >>> total_bytes({"regret.0": (3, np.dtype(np.float32)), "average.0": (3, np.dtype(np.uint16))})
    18
    """
    return sum(int(count) * dtype.itemsize for count, dtype in description.values())


@runtime_checkable
class _ReadsInto(Protocol):
    """Arrays in a file that can be read into existing memory."""

    def read_into(self, name: str, target: AnyArray) -> None: ...


def read_array(arrays: Mapping[str, AnyArray], name: str, target: AnyArray) -> None:
    """Fill a target from the arrays of a snapshot; raises `ValueError` if there is none of its type and shape."""
    if name not in arrays:
        raise ValueError(f"the snapshot has no {name!r}")
    if isinstance(arrays, _ReadsInto):
        arrays.read_into(name, target)
        return
    array = np.asarray(arrays[name])
    if array.dtype != target.dtype or array.shape != target.shape:
        needed = f"{target.dtype} {target.shape}"
        raise ValueError(f"{name!r} is {array.dtype} {array.shape}, but {needed} is needed")
    target[:] = array


class LearnedArrays:
    """The part of an engine that holds what it learned, saves it and resumes from it.

    An engine with numbers on a device overrides `_zeros` or `_all_zeros`, and `_stored`, `_target` and `_load`.
    """

    def __init__(self, entries: Sequence[int], regret: np.dtype[np.generic], average: np.dtype[np.generic]) -> None:
        self.iteration = 0
        self.weight = 0.0  # total weight of the average, if averages are shares of it
        self.changes = 0  # of which arrays are in use, and of what an engine derives from them
        self._lengths, self._types = [int(count) for count in entries], (regret, average)
        self._regret, self._average = self._all_zeros(regret, average)
        self._matched = list(self._regret)  # what strategies are matched to: regrets, unless the variant predicts

    @property
    def predicts(self) -> bool:
        """Whether predictions are stored beside the regrets."""
        return self._matched[0] is not self._regret[0]

    @property
    def kept_bytes(self) -> int:
        """Regrets, averages and predictions."""
        return total_bytes(describe(self._lengths, *self._types, predicts=self.predicts))

    def store_predictions(self) -> None:
        """Store predictions from now on; the first are the regrets."""
        if not self.predicts:
            self.changes += 1
            (self._matched,) = self._all_zeros(self._types[0])
            for matched, regret in zip(self._matched, self._regret, strict=True):
                self._load(matched, self._stored(regret))

    # --- numbers, which may be on a device ---------------------------------------------------------------------------

    def _all_zeros(self, *dtypes: np.dtype[np.generic]) -> list[list[Numbers]]:
        """[dtypes][players] regrets or averages."""
        return [[self._zeros(player, dtype) for player in PLAYERS] for dtype in dtypes]

    def _zeros(self, player: int, dtype: np.dtype[np.generic]) -> Numbers:
        """Regrets or averages of a player."""
        return np.zeros(self._lengths[player], dtype)

    def _stored(self, numbers: Numbers) -> Stored:
        """Numbers in the layout of snapshots; the live ones where possible."""
        return np.asarray(numbers)

    def _target(self, numbers: Numbers) -> Stored:
        """Memory in the layout of snapshots into which numbers are read before `_load` takes them."""
        return np.asarray(numbers)

    def _load(self, numbers: Numbers, stored: Stored) -> None:
        """Replace numbers by those of a snapshot, unless they are the same memory."""
        if numbers is not stored:
            numbers[:] = stored

    def _make_consistent(self, stored: Stored, player: int) -> None:
        """Correct a player's numbers from a snapshot where an engine relies on more than their type and shape."""

    # --- snapshots ---------------------------------------------------------------------------------------------------

    def _arrays(self) -> dict[str, Numbers]:
        """The numbers by their names in snapshots."""
        kinds = {"regret": self._regret, "average": self._average, "matched": self._matched}
        names = describe(self._lengths, *self._types, predicts=self.predicts)
        return {name: kinds[kind][int(player)] for name in names for kind, player in [name.split(".")]}

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        """The state of the solve; without `copy`, where possible, the live arrays, which later iterations change."""
        live = {name: self._stored(numbers) for name, numbers in self._arrays().items()}
        arrays = {name: array.copy() if copy else array for name, array in live.items()}
        return Snapshot(self.iteration, arrays, self.weight)

    def restore(self, snapshot: Snapshot) -> None:
        """Resume from a snapshot; raises `ValueError` if an array is missing or has the wrong type or shape."""
        self.changes += 1
        self._matched = list(self._regret)
        if snapshot.predicts:
            self.store_predictions()
        for name, numbers in self._arrays().items():
            target = self._target(numbers)
            read_array(snapshot.arrays, name, target)
            self._make_consistent(target, int(name[-1]))
            self._load(numbers, target)
        self.iteration, self.weight = snapshot.iteration, snapshot.weight

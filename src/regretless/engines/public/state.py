"""What a solve of the public form has learned: regrets, averages and predictions of both players in one number format.

Engines that lay their numbers out differently convert to this layout, which is that of snapshots and files.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from regretless.engines.contract import Snapshot
from regretless.engines.public.formats import NumberFormat, Stored
from regretless.engines.public.layout import Layout
from regretless.forms.history import FloatArray

__all__ = ["PublicState"]

PLAYERS = range(2)


@runtime_checkable
class _ReadsInto(Protocol):
    """Arrays that lie in a file and can be read into memory that is already there."""

    def read_into(self, name: str, target: NDArray[Any]) -> None: ...


class PublicState:
    """The stored numbers of a solve, by player; `allocate` makes arrays of zeros."""

    def __init__(
        self, layout: Layout, number_format: NumberFormat, allocate: Callable[[int, np.dtype[Any]], Stored] = np.zeros
    ) -> None:
        self.layout, self.format, self._allocate = layout, number_format, allocate
        self.iteration = 0
        self.weight = 0.0  # of all iterations in the average, where averages are shares of it
        self.regret = [allocate(int(size), number_format.regret) for size in layout.entries]
        self.average = [allocate(int(size), number_format.average) for size in layout.entries]
        self.matched = list(self.regret)  # what the next strategy is matched to: regrets, unless the variant predicts

    @property
    def predicts(self) -> bool:
        """Whether predictions are kept beside the regrets."""
        return self.matched[0] is not self.regret[0]

    def predict(self) -> None:
        """Keep predictions from now on; the first ones are the regrets."""
        if not self.predicts:
            self.matched = [self._allocate(len(regret), regret.dtype) for regret in self.regret]
            for matched, regret in zip(self.matched, self.regret, strict=True):
                matched[:] = regret

    def arrays(self) -> dict[str, Stored]:
        """The arrays by the names that snapshots give them."""
        named = {"regret": self.regret, "average": self.average} | ({"matched": self.matched} if self.predicts else {})
        return {f"{name}.{player}": arrays[player] for name, arrays in named.items() for player in PLAYERS}

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        """Where the solve stands; without `copy`, the arrays themselves, which advancing changes."""
        arrays = {name: array.copy() if copy else array for name, array in self.arrays().items()}
        return Snapshot(self.iteration, arrays, self.weight)

    def restore(self, snapshot: Snapshot) -> None:
        """Resume from there. Hands that play alike all take the numbers of the hand that stands for them.

        Raises `ValueError` where an array is missing or has another type or shape.
        """
        self.matched = list(self.regret)
        if "matched.0" in snapshot.arrays:
            self.predict()
        for name, target in self.arrays().items():
            if name not in snapshot.arrays:
                raise ValueError(f"the snapshot has no {name!r}")
            if isinstance(snapshot.arrays, _ReadsInto):
                snapshot.arrays.read_into(name, target)
            else:
                given = snapshot.arrays[name]
                if given.dtype != target.dtype or given.shape != target.shape:
                    wanted = f"{target.dtype} {target.shape}"
                    raise ValueError(f"{name!r} is {given.dtype} {given.shape}, and {wanted} is needed")
                target[:] = given
            self.layout.make_alike(target, int(name[-1]))
        self.iteration, self.weight = snapshot.iteration, snapshot.weight

    def write(self, node: int, runout: int, strategy: NDArray[np.float32], hands: NDArray[np.bool_]) -> None:
        """Put a strategy [actions, H] where regrets, predictions and averages are, for some hands."""
        player = int(self.layout.form.tree.player[node])
        for numbers in (self.regret[player], self.matched[player], self.average[player]):
            self.layout.write(numbers, node, runout, self.format.stored(strategy, numbers.dtype), hands)

    def strategy(self, node: int, runout: int = 0) -> FloatArray:
        """[actions, H] average strategy at a decision; uniform where nothing was accumulated."""
        sums = self._sums(node, slice(runout, runout + 1))[0].astype(np.float64)
        total = sums.sum(axis=0)
        return np.where(total > 0, sums / np.where(total > 0, total, 1.0), 1.0 / len(sums))

    def strategies(self, node: int, runouts: slice = slice(None)) -> NDArray[np.float32]:
        """[runouts chosen, actions, H] average strategy at a decision."""
        sums = self._sums(node, runouts).astype(np.float32)
        total = sums.sum(axis=1, keepdims=True)
        uniform = np.full(sums.shape, 1 / sums.shape[1], dtype=np.float32)
        return np.asarray(np.divide(sums, total, out=uniform, where=total > 0))

    def kept_strategy(self, node: int, runout: int) -> FloatArray:
        """[actions, H] averages of a locked decision, as probabilities."""
        return np.asarray(self._sums(node, slice(runout, runout + 1))[0] / np.float64(self.format.one))

    def _sums(self, node: int, runouts: slice) -> Stored:
        return self.layout.read(self.average[int(self.layout.form.tree.player[node])], node, runouts)

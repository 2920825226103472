"""An engine whose game is solved in parts: a trunk here, and shards in processes or on machines of their own.

For each walk of a player (`contract.PartEngine`):

1. The trunk walks down the first street. The reach that arrives where the second street begins goes to every shard.
2. Every shard walks what is below its runouts of the second street, and returns its sums.
3. The trunk adds them up, in the order in which one engine would, and walks up.

What was learned is the same to the last bit as without shards. A shard may be lost at any time: another one takes its
place, loads what the shard had learned when it was last saved, and repeats the walks since then, whose arriving reach
the trunk remembers. Saved numbers are in files with the layout of the whole form, one array each, into which every
part writes its own rows: they are a snapshot without a copy in memory.
"""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from regretless.engines.contract import Arriving, Evaluation, Mode, PartEngine, Snapshot
from regretless.engines.layout import make_layout, shard_ends
from regretless.engines.learned import PLAYERS, read_array
from regretless.errors import InvalidFile, InvalidOption, RegretlessError
from regretless.forms.history import AnyArray, FloatArray
from regretless.forms.public import PublicForm
from regretless.reprs import brief
from regretless.variants.variant import Schedule

__all__ = ["PartRows", "Shard", "ShardEngine", "ShardLost", "ShardWalk", "ShardedEngine", "Shelf", "shard_ranges"]

MAX_LOSSES = 5  # of one shard before it has carried out an order
REMEMBERED_BYTES = 1 << 28  # of reach that arrived since shards were saved: then they are saved again

Result = TypeVar("Result")


class ShardLost(Exception):
    """A shard has died; the text says how: "was ended by SIGKILL"."""


@dataclass(frozen=True)
class ShardWalk:
    """An order to a shard: walk once."""

    own: int
    mode: Mode
    arriving: Arriving
    schedule: Schedule | None = None  # of the iteration that begins with this walk

    __repr__ = brief


@dataclass(frozen=True)
class Shelf:
    """What all parts had learned after some iterations: files with one array each, in the layout of the whole form."""

    folder: Path
    iteration: int
    weight: float
    lengths: Mapping[str, tuple[int, str]]  # by name: how many numbers, and their type

    def arrays(self) -> dict[str, AnyArray]:
        """The arrays, mapped into memory."""
        return {name: self._map(name) for name in self.lengths}

    def create(self) -> None:
        """Create the files, full of zeros; raises `InvalidFile` if there is no room for them.

        Their space is reserved here: writing to a mapped file on a full disk would end the process.
        """
        try:
            self.folder.mkdir()
            for name, (length, kind) in self.lengths.items():
                with open(self.folder / name, "wb") as file:
                    file.truncate(size := length * np.dtype(kind).itemsize)
                    if size and hasattr(os, "posix_fallocate"):
                        os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            why = os.strerror(error.errno or 0).lower()
            raise InvalidFile(self.folder, f"what shards learned cannot be written: {why}") from error

    def _map(self, name: str) -> AnyArray:
        length, kind = self.lengths[name]
        if not length:
            return np.empty(0, dtype=kind)
        return np.memmap(self.folder / name, dtype=kind, mode="r+", shape=(length,))


class Shard(Protocol):
    """A shard, wherever it is. It carries out orders one after another; each returns a function that waits for it.

    These functions raise `ShardLost` if the shard has died.
    """

    def memory_bytes(self) -> Callable[[], int]:
        """The memory of its engine."""

    def walk(self, walk: ShardWalk) -> Callable[[], FloatArray]:
        """Walk once; returns [blocks, lines, hands] as `PartEngine.below` does."""

    def save(self, shelf: Shelf) -> Callable[[], None]:
        """Write what it learned to its rows of the files."""

    def load(self, shelf: Shelf) -> Callable[[], None]:
        """Resume from its rows of the files."""

    def close(self) -> None:
        """End it."""


class PartRows:
    """Where the numbers that a part learns are in arrays of the whole: street by street, [runouts, numbers]."""

    def __init__(self, form: PublicForm) -> None:
        assert form.part is not None
        self.layout, self._first = make_layout(form), form.part.first
        self._whole = self.layout.window(np.array(form.part.runouts, dtype=np.int64))
        self.streets = range(1, len(form.streets)) if len(form.streets[1].parent) else range(1)  # a shard, or the trunk

    def of_part(self, numbers: AnyArray, name: str) -> list[AnyArray]:
        """Views of an array of the part."""
        return [self.layout.street_rows(numbers, int(name[-1]), street) for street in self.streets]

    def of_whole(self, numbers: AnyArray, name: str) -> list[AnyArray]:
        """Views of the part's rows in an array of the whole."""
        ranges = [
            (self._first[street], self._first[street] + int(self.layout.runouts[street])) for street in self.streets
        ]
        return [
            self._whole.street_rows(numbers, int(name[-1]), street)[first:last]
            for street, (first, last) in zip(self.streets, ranges, strict=True)
        ]


class ShardEngine:
    """The engine of one part, with the orders of a shard; for the process that it is in."""

    def __init__(self, engine: PartEngine) -> None:
        self.engine, self._rows = engine, PartRows(engine.form)

    def walk(self, walk: ShardWalk) -> FloatArray:
        """Walk once."""
        if walk.schedule is not None:
            self.engine.begin(walk.schedule)
        return self.engine.below(walk.own, walk.mode, walk.arriving)

    def learned(self, name: str) -> list[AnyArray]:
        """What the part learned, in views of one of its arrays."""
        return self._rows.of_part(self.engine.snapshot(copy=False).arrays[name], name)

    def resume(self, iteration: int, weight: float, learned: Mapping[str, list[AnyArray]]) -> None:
        """Resume from what the part had learned, by the names of the arrays."""

        def read_into(name: str, target: AnyArray) -> None:
            for rows, learned_rows in zip(self._rows.of_part(target, name), learned[name], strict=True):
                rows[:] = learned_rows

        self.engine.restore(Snapshot(iteration, _PartArrays(learned, read_into), weight))

    def save(self, shelf: Shelf) -> None:
        """Write what the part learned."""
        for name, whole in shelf.arrays().items():
            for rows, learned in zip(self._rows.of_whole(whole, name), self.learned(name), strict=True):
                rows[:] = learned

    def load(self, shelf: Shelf) -> None:
        """Resume from what the part had learned."""
        learned = {name: self._rows.of_whole(whole, name) for name, whole in shelf.arrays().items()}
        self.resume(shelf.iteration, shelf.weight, learned)


class _PartArrays(Mapping[str, AnyArray]):
    """A part's rows of arrays of the whole, read straight into the engine's arrays."""

    def __init__(self, names: Collection[str], read_into: Callable[[str, AnyArray], None]) -> None:
        self._names, self.read_into = names, read_into

    def __getitem__(self, name: str) -> AnyArray:
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class ShardedEngine:
    """The trunk, and how it uses the shards: to the loop, one engine on the whole form.

    `start` starts a shard by its number, also in place of one that was lost. `folder` is for files as large as
    everything that is learned, and is removed with the engine.
    """

    def __init__(
        self,
        form: PublicForm,
        trunk: PartEngine,
        start: Callable[[int], Shard],
        shards: int,
        *,
        threads: int,
        folder: str | Path,
    ) -> None:
        self.form, self.layout, self.threads = form, make_layout(form), threads
        self.name, self.device, self.storage, self.tolerance = trunk.name, trunk.device, trunk.storage, trunk.tolerance
        self._trunk, self._part, self._start = trunk, ShardEngine(trunk), start
        self._folder = Path(folder)
        self._shelf: Shelf | None = None  # the last one that all parts have written
        self._since: list[ShardWalk] = []  # walks since then that changed something
        self._shelves = 0
        self._shards: list[Shard] = []
        weakref.finalize(self, _close, self._shards, self._folder)
        self._shards += [start(number) for number in range(shards)]
        self.memory_bytes = trunk.memory_bytes + sum(self._all(lambda shard: shard.memory_bytes()))

    @property
    def iteration(self) -> int:
        """Iterations done."""
        return self._trunk.iteration

    @property
    def kept_bytes(self) -> int:
        """Regrets, averages and predictions."""
        return sum(length * np.dtype(kind).itemsize for length, kind in self._lengths().values())

    def advance(self, schedule: Schedule) -> None:
        """Run one alternating iteration per row of `schedule`."""
        for number in range(len(schedule)):
            row = schedule[number : number + 1]
            self._trunk.begin(row)
            for own in PLAYERS:
                self._walk(own, Mode.LEARN, row if own == 0 else None)
            if sum(walk.arriving.own.nbytes + walk.arriving.opponent.nbytes for walk in self._since) > REMEMBERED_BYTES:
                self._save()

    def evaluate(self, strategy: object = None) -> Evaluation:
        """Values and best responses of the average strategies."""
        if strategy is not None:
            raise InvalidOption("strategy", type(strategy).__name__, "cannot be evaluated in shards")
        values, best = ([self._walk(own, mode) for own in PLAYERS] for mode in (Mode.MEAN, Mode.BEST))
        # A best response is worth at least as much; rounding must not make it worth less.
        return Evaluation((values[0], values[1]), (max(best[0], values[0]), max(best[1], values[1])))

    def _walk(self, own: int, mode: Mode, schedule: Schedule | None = None) -> float:
        """The value of the game, after a walk of all parts."""
        walk = ShardWalk(own, mode, self._trunk.down(own, mode), schedule)
        sums = self._all(lambda shard: shard.walk(walk))
        if mode is Mode.LEARN:
            self._since.append(walk)
        return self._trunk.up(own, mode, np.concatenate(sums))

    # --- shards ------------------------------------------------------------------------------------------------------

    def _all(self, order: Callable[[Shard], Callable[[], Result]]) -> list[Result]:
        """Give every shard an order, and wait for all results."""
        waiting = [order(shard) for shard in self._shards]
        return [self._result(number, wait, order) for number, wait in enumerate(waiting)]

    def _result(
        self, number: int, wait: Callable[[], Result], order: Callable[[Shard], Callable[[], Result]]
    ) -> Result:
        """Wait for a shard; if it is lost, another one does the same."""
        for losses in range(1, MAX_LOSSES + 1):
            try:
                if losses > 1:
                    wait = order(self._replace(number))
                return wait()
            except ShardLost as lost:
                reason = str(lost)
        raise RegretlessError(f"shard {number + 1} of {len(self._shards)} {reason}, {MAX_LOSSES} times in a row")

    def _replace(self, number: int) -> Shard:
        """Start another shard in place of a lost one, and bring it to the state of that one."""
        self._shards[number].close()
        shard = self._shards[number] = self._start(number)
        if self._shelf is not None:
            shard.load(self._shelf)()
        for walk in self._since:
            shard.walk(walk)()
        return shard

    # --- saving ------------------------------------------------------------------------------------------------------

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        """The state of the solve; without `copy`, in files that later iterations do not change."""
        if self._shelf is None or self._since:
            self._save()
        assert self._shelf is not None
        arrays = self._shelf.arrays()
        return Snapshot(
            self._shelf.iteration,
            {name: array.copy() for name, array in arrays.items()} if copy else arrays,
            self._shelf.weight,
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Resume from a snapshot; raises `ValueError` if an array is missing or has the wrong type or shape."""
        lengths = self._lengths(predicts=snapshot.predicts)
        shelf = self._next_shelf(snapshot.iteration, snapshot.weight, lengths)
        for name, target in shelf.arrays().items():
            read_array(snapshot.arrays, name, target)
        self._use(shelf)
        self._part.load(shelf)
        self._all(lambda shard: shard.load(shelf))

    def _save(self) -> None:
        """Write what all parts have learned; before the first iteration, that is nothing but zeros."""
        shelf = self._next_shelf(self.iteration, self._trunk.snapshot(copy=False).weight, self._lengths())
        if self.iteration > 0:
            self._all(lambda shard: shard.save(shelf))
            self._part.save(shelf)
        self._use(shelf)

    def _use(self, shelf: Shelf) -> None:
        """From now on, lost shards resume from these files."""
        earlier, self._shelf, self._since = self._shelf, shelf, []
        if earlier is not None:
            shutil.rmtree(earlier.folder, ignore_errors=True)  # arrays that are mapped stay readable

    def _next_shelf(self, iteration: int, weight: float, lengths: Mapping[str, tuple[int, str]]) -> Shelf:
        self._shelves += 1
        shelf = Shelf(self._folder / f"learned.{self._shelves}", iteration, weight, lengths)
        shelf.create()
        return shelf

    def _lengths(self, *, predicts: bool | None = None) -> dict[str, tuple[int, str]]:
        """The arrays of the whole."""
        learned = self._trunk.snapshot(copy=False).arrays
        types = {name: array.dtype.str for name, array in learned.items()}
        if predicts:
            types |= {f"matched.{player}": types[f"regret.{player}"] for player in PLAYERS}
        return {name: (int(self.layout.entries[int(name[-1])]), kind) for name, kind in types.items()}


def _close(shards: list[Shard], folder: Path) -> None:
    for shard in shards:
        shard.close()
    shutil.rmtree(folder, ignore_errors=True)  # arrays that are mapped stay readable


def shard_ranges(runouts: int, shards: int) -> list[tuple[int, int]]:
    """The runouts of the second street of each shard: whole blocks, as many for each as possible.

    >>> shard_ranges(5, 2), shard_ranges(1755, 64)[:2]
    ([(0, 2), (2, 5)], [(0, 27), (27, 54)])
    """
    ends = shard_ends(runouts)
    if shards > len(ends) - 1:
        raise InvalidOption("shards", shards, f"is more than the {len(ends) - 1} parts that the game has")
    cuts = [ends[(len(ends) - 1) * number // shards] for number in range(shards + 1)]
    return list(pairwise(cuts))

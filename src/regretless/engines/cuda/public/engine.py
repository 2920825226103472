"""The public form on a CUDA device: alternating vector CFR, one recorded sequence of launches per iteration.

Regrets and averages have the layout and format of snapshots, so a file saved here opens on any other engine, and the
strategies of a node are read without the rest. Arithmetic is as on a CPU: 32 bits, at terminals 64 where blockers
remove nearly all of a range. With 16-bit storage, reach at terminals is in half precision while a player learns.

`engines/cuda/__init__.py` says which files to read, in which order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regretless.engines.contract import (
    Arriving,
    Evaluation,
    Mode,
    PartEngine,
    PublicStrategy,
    Snapshot,
    StackedStrategy,
)
from regretless.engines.cuda.device import IF_FULL, Buffer, Device, open_device
from regretless.engines.cuda.public.live import StoredLayout, make_stored_layout
from regretless.engines.cuda.public.parts import PartWalks
from regretless.engines.cuda.public.records import STEP
from regretless.engines.cuda.public.spot import SpotWalks
from regretless.engines.cuda.public.terminals import can_multiply
from regretless.engines.cuda.public.walks import Walks
from regretless.engines.formats import (
    SALT,
    Stored,
    can_be_cut,
    largest_value,
    met_weights,
    needs_wide_sums,
    number_format,
)
from regretless.engines.layout import LANES, checked_rows, make_layout, padded
from regretless.engines.stored import BoolArray, LockedStrategy, PublicNode, StoredEngine
from regretless.errors import InvalidGame
from regretless.forms.history import FloatArray
from regretless.forms.public import PublicForm
from regretless.variants.variant import Schedule, Weights, predicts

__all__ = ["CudaPublicEngine", "check_offsets"]

ALIGNMENT = 256  # bytes; as every allocation of CUDA has
HALF_BITS = 16  # of stored numbers: those of terminals are as precise
LOCKS = ("lock_index", "lock_regret", "lock_average", "lock_rows", "locked")  # fields of a job that point to locks


class CudaPublicEngine(StoredEngine):
    """One public form on a CUDA device."""

    name = "cuda"
    device = "cuda"
    threads = 1
    tolerance = 1e-5

    def __init__(
        self, form: PublicForm, *, device: str | Device = "cuda", storage: int = 32, tables: Device | None = None
    ) -> None:
        """`storage` is the number of bits per regret or average, 32 or 16; `device` is "cuda", "cuda:1", …

        `tables` may be an arena of the device, for everything but regrets and averages.
        """
        check_offsets(form)
        _check_part(form)
        number = number_format(storage)
        self._on = open_device(device, advice=IF_FULL) if isinstance(device, str) else device
        # Whether terminals are matrix products in half precision while a player learns.
        self.products = storage == HALF_BITS and self._on.multiplies and can_multiply(form)
        self._places = make_stored_layout(make_layout(form), products=self.products)
        super().__init__(form, number)
        self._met = met_weights(form.hands, form.deck)
        self._pairs = float(form.hands[0].weight @ self._met[0])
        self._units = [number.unit(largest_value(form, self._met[own], own)) for own in range(2)]
        self.value_units = 1 / (np.array(self._units, dtype=np.float64) * self._pairs * form.unit)
        self.wide = needs_wide_sums(form, self._met)  # whether terminals need 64 bits
        self._spot: SpotWalks | None = self._make_spot(tables or self._on)
        self.has_lists = False  # whether the lists of final runouts are filled
        self.lock_tables: list[list[Buffer]] = []  # what the jobs point to
        self._filled_at = -1  # `changes` when the jobs were filled
        self._own_walks: Walks | None = None  # created on first use: in a batch, one serves all spots
        self._own_parts: PartWalks | None = None  # of a part of a form

    @property
    def has_places(self) -> bool:
        """Whether the last street has only the hands that runouts leave."""
        return self._places.live is not None

    @property
    def on(self) -> Device:
        """The device."""
        return self._on

    @property
    def spot(self) -> SpotWalks:
        """The spot on the device; moved back there if it was parked."""
        if self._spot is None:
            self._move(self._on.upload)
            self._spot = self._make_spot(self._on)
        return self._spot

    def _make_spot(self, device: Device) -> SpotWalks:
        return SpotWalks(device, self.layout, self._units, products=self.products, stored=self._places)

    def park(self) -> None:
        """Move regrets and averages to the machine's memory and free the device's, until walks are needed again."""
        self._move(self._on.download)
        self._spot = self._own_walks = self._own_parts = None
        self.lock_tables, self._filled_at, self.has_lists = [], -1, False

    def _move(self, moved: Callable[[Buffer], Buffer]) -> None:
        """Replace all regrets, averages and predictions; arrays that are the same stay the same."""
        copies = {id(numbers): moved(numbers) for numbers in (*self._regret, *self._average, *self._matched)}
        self._regret, self._average, self._matched = (
            [copies[id(numbers)] for numbers in arrays] for arrays in (self._regret, self._average, self._matched)
        )

    @property
    def _walks(self) -> Walks:
        if self._own_walks is None:
            self._own_walks = self._make_walks(self.storage)
        return self._own_walks

    def _make_walks(self, storage: int) -> Walks:
        self._own_parts = None
        self.fill_jobs()
        walks = Walks(
            self._on,
            [self.spot],
            storage=storage,
            wide=self.wide,
            predicts=self.predicts,
            products=self.products and storage == self.storage,
        )
        if not self.has_lists:
            walks.make_lists()
            self.has_lists = True
        return walks

    @property
    def kept_bytes(self) -> int:
        """Regrets, averages, and the tables for finding and evaluating them."""
        return sum(int(array.nbytes) for array in self._arrays().values()) + self.spot.table_bytes

    @property
    def memory_bytes(self) -> int:
        """`kept_bytes` and the blocks' working memory, unless that of a batch serves."""
        return self.kept_bytes + (0 if self._own_walks is None else self._own_walks.space_bytes)

    def advance(self, schedule: Schedule) -> None:
        """Run one iteration per row of `schedule`."""
        steps = self.next_steps(schedule)
        self._prepare()
        self._walks.learn(steps, self.learning)
        self.iteration += len(schedule)

    def get_ready(self, schedule: Schedule) -> None:
        """Store predictions from now on, if these iterations need them."""
        if predicts(schedule):
            self.store_predictions()

    def next_steps(self, schedule: Schedule) -> NDArray[np.void]:
        """The numbers of the next iterations as kernels read them."""
        self.get_ready(schedule)
        steps = np.zeros(len(schedule), dtype=STEP)
        columns = steps.view(np.float32).reshape(len(schedule), -1)  # a step begins with the variant's weights
        columns[:, : len(Weights._fields)] = np.ascontiguousarray(schedule).view(np.float64).reshape(len(schedule), -1)
        if self.format.one != 1:
            steps["average_decay"], steps["average_weight"], self.weight = self.format.in_steps(
                schedule["average_decay"], schedule["average_weight"], self.weight
            )
        steps["reach_share"] = self.format.reach_share
        steps["salt"] = np.arange(self.iteration + 1, self.iteration + 1 + len(schedule)) * SALT % 2**24
        return steps

    @property
    def learning(self) -> list[int]:
        """The players that learn."""
        return [own for own in range(2) if own not in self.fixed]

    def _prepare(self) -> None:
        """Fill the jobs, if what they point to has changed."""
        if self._filled_at == self.changes:
            return
        if self._own_walks is not None and self._own_walks.options.predicts != self.predicts:
            self._own_walks = None
        self.fill_jobs()
        self._walks.update()
        self._walks.forget()
        self._filled_at = self.changes

    def fill_jobs(self) -> None:
        """Tell the jobs where this engine's numbers and locks are."""
        jobs = self.spot.jobs  # first, since it may move the numbers
        regret, matched, average = (
            [self._on.address(numbers) if numbers.size else 0 for numbers in arrays]
            for arrays in (self._regret, self._matched, self._average)
        )
        for name, addresses in (
            ("regret", regret),
            ("matched", matched),
            ("average", average),
            ("other_matched", matched[::-1]),
            ("other_average", average[::-1]),
        ):
            jobs[name] = addresses
        if any(self.lock_tables):
            for name in (*LOCKS, "lock_count"):
                jobs[name] = 0
        self.lock_tables = [self._fill_locks(own, jobs[own]) for own in range(2)]

    def _fill_locks(self, own: int, job: Any) -> list[Buffer]:
        """Where locked numbers are, what they are, and which hands a best response may not choose for."""
        locked, layout, form = self.locked[own], self._places, self.form
        if not locked:
            return []
        first_runout = np.cumsum([0, *(len(street.parent) for street in form.streets)])
        rows = np.full((first_runout[-1], len(form.tree.kind)), -1, dtype=np.int32)
        hands = np.zeros((len(locked), int(self.layout.hands[own])), dtype=np.uint8)
        indices, values = [], []
        for number, ((node, runout), lock) in enumerate(locked.items()):
            street = int(form.tree.street[node])
            rows[first_runout[street] + runout, node] = number
            begin = layout.street_at[own, street] + runout * layout.runout_size[own, street] + layout.block[node]
            chosen, at = layout.hands_at(node, runout, lock.hands)
            hands[number, at], actions = 1, np.arange(len(lock.strategy))[:, None]
            indices.append((begin + at // LANES * LANES * len(actions) + actions * LANES + at % LANES).ravel())
            values.append(lock.strategy[:, chosen].ravel())
        locked_values = np.concatenate(values)
        regret, average = (
            self.format.stored(locked_values, kind).astype(kind) for kind in (self.format.regret, self.format.average)
        )
        tables = (np.concatenate(indices), regret, average, rows, hands)
        buffers = [self._on.upload(table) for table in tables]
        for name, buffer in zip(LOCKS, buffers, strict=True):
            job[name] = self._on.address(buffer)
        job["lock_count"] = len(locked_values)
        return buffers

    # --- a form in parts ---

    @property
    def _parts(self) -> PartWalks:
        self._prepare()
        if self._own_parts is None or self._own_parts.walks is not self._walks:
            self._own_parts = PartWalks(self._walks)
        return self._own_parts

    def begin(self, schedule: Schedule) -> None:
        """Begin an iteration that is walked in parts."""
        steps = self.next_steps(schedule)
        self._parts.begin(steps)
        self.iteration += 1

    def down(self, own: int, mode: Mode) -> Arriving:
        """Reach where the second street begins."""
        return self._parts.down(own, mode)

    def below(self, own: int, mode: Mode, arriving: Arriving) -> FloatArray:
        """[blocks, lines, hands] values where the lines of the second street begin, summed over each block."""
        return self._parts.below(own, mode, arriving)

    def up(self, own: int, mode: Mode, sums: FloatArray) -> float:
        """The value of the game, from the sums of all blocks."""
        return float(self._parts.up(own, mode, sums) * self.value_units[own])

    # --- values ---

    def evaluate(self, strategy: PublicStrategy | None = None) -> Evaluation:
        """Values and best responses, in the form's unit, by default of the average strategy.

        A strategy that is handed in is evaluated in 32 bits, whatever the storage, from its own copy on the device.
        """
        self._prepare()
        walks, numbers = (self._walks, None) if strategy is None else self._walks_of(strategy)
        results = walks.evaluate(0, 1)[:, 0]
        if numbers is not None:
            self._filled_at = -1  # the jobs point to that strategy, which is freed now
        return self.evaluation(results)

    def evaluation(self, results: FloatArray) -> Evaluation:
        """From the results of walks [ways, players]. Rounding must not put a best response below the average."""
        values, best = (results * self.value_units).tolist()
        response = [values[own] if own in self.fixed else max(best[own], values[own]) for own in range(2)]
        return Evaluation((values[0], values[1]), (response[0], response[1]))

    def _walks_of(self, strategy: PublicStrategy) -> tuple[Walks, list[Buffer]]:
        """Walks in which both players' averages are this strategy, and its numbers on the device."""
        numbers = []
        for player in range(2):
            host = np.zeros(int(self.layout.entries[player]), dtype=np.float32)
            for street in range(len(self.form.streets)):
                for node in self.layout.decisions(player, street):
                    if isinstance(strategy, StackedStrategy):
                        self.layout.write_all(host, node, strategy.stacked(node))
                        continue
                    for runout in range(int(self.layout.runouts[street])):
                        rows = checked_rows(self.form, strategy, node, runout)
                        self.layout.write(host, node, runout, rows)
            numbers.append(self._on.upload(self._places.from_snapshot(host, player)))
        walks = self._make_walks(32) if self.storage != 32 else self._walks
        for own in range(2):
            job = self.spot.jobs[own]
            job["average"], job["other_average"] = (self._on.address(numbers[own]), self._on.address(numbers[1 - own]))
        walks.update()
        return walks, numbers

    def root_values(self, player: int) -> FloatArray:
        """[H] each hand's expected value under the average strategies; 0 where no opposing hand is possible."""
        self._prepare()
        self._walks.evaluate(player)
        values, met = self.spot.root_values(player) / np.float64(self._units[player]), self._met[player]
        return np.divide(values, met, out=np.zeros_like(values), where=met > 0)

    def values_before_last(self, player: int, *, best: bool = False) -> list[NDArray[np.float32]]:
        """For each street before the last, [runouts, nodes of the street, H] values times the opposing reach."""
        self._prepare()
        self._walks.evaluate(player)
        hands, way = len(self.form.hands[player].weight), int(best and player not in self.fixed)
        of_streets = []
        for street in range(len(self.form.streets) - 1):
            walked = self.spot.street_nodes(street)
            values = self.spot.street_values(player, street, way)[:, np.argsort(walked), :hands]
            of_streets.append(values / np.float32(self._units[player]))
        return of_streets

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        """The state of the solve; without `copy`, arrays are downloaded when they are read."""
        arrays = _Downloaded(self._places, self._on, self._arrays)
        return Snapshot(self.iteration, dict(arrays) if copy else arrays, self.weight)

    def averages(self, player: int, street: int, runouts: slice = slice(None)) -> Stored:
        """[runouts chosen, numbers] sums of a player's strategies on a street, in the layout of snapshots."""
        if not self._places.has_places(street):
            return self._on.download(self._places.street_rows(self._average[player], player, street)[runouts])
        return self.layout.street_rows(self._stored(self._average[player]), player, street)[runouts]

    # --- numbers on the device ---

    def _all_zeros(self, *dtypes: np.dtype[np.generic]) -> list[list[Buffer]]:
        """All in one buffer, since many spots are so small that allocating takes longer than iterating."""
        entries = self._places.entries.tolist()
        sizes = [-(-count * dtype.itemsize // ALIGNMENT) * ALIGNMENT for dtype in dtypes for count in entries]
        whole = self._on.zeros(sum(sizes), np.dtype(np.uint8))
        begins = iter(np.cumsum([0, *sizes]).tolist())
        return [
            [whole[begin : begin + count * dtype.itemsize].view(dtype) for count, begin in zip(entries, begins)]
            for dtype in dtypes
        ]

    def _take(self, numbers: Buffer, node: int, runouts: slice) -> Stored:
        return self._places.read(self._on.download(self._places.node_rows(numbers, node, runouts)), node, runouts)

    def _put(self, numbers: Buffer, public_node: PublicNode, values: NDArray[np.floating], hands: BoolArray) -> None:
        node, runout = public_node
        rows = self._places.node_rows(numbers, node, slice(runout, runout + 1))[0]
        changed = self._on.download(rows)
        chosen, at = self._places.hands_at(node, runout, hands)
        changed[at // LANES, :, at % LANES] = values[:, chosen].T
        self._on.assign(rows, changed)

    def _write_all(self, player: int, locks: Iterable[tuple[PublicNode, LockedStrategy]]) -> None:
        arrays = self._regret[player], self._matched[player], self._average[player]
        changed = {id(numbers): self._stored(numbers) for numbers in arrays}
        for (node, runout), lock in locks:
            for host in changed.values():
                self.layout.write(host, node, runout, self.format.stored(lock.strategy, host.dtype), lock.hands)
        for numbers in arrays:
            self._load(numbers, changed[id(numbers)])

    def _stored(self, numbers: Buffer) -> Stored:
        return self._places.to_snapshot(self._on.download(numbers), self._player_of(numbers))

    def _target(self, numbers: Buffer) -> Stored:
        # Zeros: a part of a form reads only its own rows.
        return np.zeros(int(self.layout.entries[self._player_of(numbers)]), dtype=numbers.dtype)

    def _load(self, numbers: Buffer, stored: Stored) -> None:
        self._on.assign(numbers, self._places.from_snapshot(stored, self._player_of(numbers)))

    def _player_of(self, numbers: Buffer) -> int:
        """Whose regrets, averages or predictions these are."""
        arrays = (self._regret, self._average, self._matched)
        return next(player for each in arrays for player in range(2) if each[player] is numbers)


class _Downloaded(Mapping[str, Stored]):
    """Arrays on a device, downloaded when they are read: a solve whose nodes are read one by one needs few of them."""

    def __init__(self, places: StoredLayout, device: Device, buffers: Callable[[], Mapping[str, Buffer]]) -> None:
        self._places, self._device, self._buffers = places, device, buffers

    def __getitem__(self, name: str) -> Stored:
        return self._places.to_snapshot(self._device.download(self._buffers()[name]), int(name[-1]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._buffers())

    def __len__(self) -> int:
        return len(self._buffers())

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array, without downloading it."""
        return (int(self._places.layout.entries[int(name[-1])]),)


if TYPE_CHECKING:
    _conforms: type[PartEngine] = CudaPublicEngine


def check_offsets(form: PublicForm) -> None:
    """Refuse a form in which the kernels' 32-bit offsets into the rows of one runout could overflow."""
    numbers = len(form.tree.kind) * max(padded(len(hands.weight)) for hands in form.hands)
    limit = np.iinfo(np.int32).max
    if numbers > limit:
        raise InvalidGame(f"{form.name} has {numbers:,} betting nodes × hands: the cuda engine can count {limit:,}")


def _check_part(form: PublicForm) -> None:
    """Refuse a part that could choose other numbers for terminals than the whole."""
    if form.part is not None and not can_be_cut(form.part):
        runouts = form.part.runouts[-1]
        raise InvalidGame(
            f"{form.name} has {runouts} runouts of the last street: too few for shards of the cuda engine"
        )

"""The PyTorch engine of the public form: alternating vector CFR on a CPU, a CUDA device or Apple's MPS.

It runs wherever PyTorch does, even where neither the compiled engine nor the CUDA kernels can, and is an independent
check of both. Arithmetic is in 32 bits, at terminals in 64 where blockers remove nearly all of a range.

The parts: `plan` (the betting tree as rows of tensors), `numbers` (regrets and averages), `terminals` and `blocks`
(hands and runouts), `learning` (the update), `walk` (down and up the tree).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from regretless.engines.contract import Evaluation, PublicEngine, PublicStrategy, Snapshot
from regretless.engines.public.formats import (
    SALT,
    Stored,
    largest_value,
    met_weights,
    needs_wide_tiles,
    number_format,
)
from regretless.engines.public.layout import checked_rows, make_layout
from regretless.engines.public.portable.blocks import Block, make_block
from regretless.engines.public.portable.learning import Learning
from regretless.engines.public.portable.numbers import Chances, Numbers, as_floats
from regretless.engines.public.portable.plan import make_plan
from regretless.engines.public.portable.sizes import block_runouts, check_fits, working_bytes
from regretless.engines.public.portable.terminals import Folds, Showdowns, make_facing
from regretless.engines.public.portable.walk import Game, Strategies, Walk, make_rows, match
from regretless.engines.public.stored import BoolArray, Lock, Mode, Place, StoredEngine
from regretless.engines.sequence.torch_engine import torch_device
from regretless.errors import InvalidOption
from regretless.forms.history import FloatArray
from regretless.forms.public import PublicForm
from regretless.forms.public_size import size_of_form
from regretless.variants.variant import Schedule, Weights, predicts

__all__ = ["PortablePublicEngine"]


class PortablePublicEngine(StoredEngine):
    """One public form in PyTorch."""

    name = "torch"
    tolerance = 1e-5

    def __init__(
        self,
        form: PublicForm,
        *,
        device: str = "cpu",
        threads: int | None = None,
        storage: int = 32,
        predicts: bool = False,
    ) -> None:
        """`storage` is the number of bits per regret or average, 32 or 16.

        `predicts`: the variant will store predictions, for which there must be room too.
        """
        where = torch_device(device, "float32")
        if threads is not None and where.type == "cpu":
            torch.set_num_threads(threads)  # of the whole process: PyTorch knows no other way
        self.device, self._where = where.type, where
        self.threads = torch.get_num_threads() if where.type == "cpu" else 1
        number = number_format(storage)
        self._met = met_weights(form.hands, form.deck)
        wide = needs_wide_tiles(form.hands, self._met)
        if wide and where.type == "mps":
            reason = "cannot solve this: blockers leave so little of a range that sums need 64 bits, which MPS lacks"
            raise InvalidOption("device", device, reason)
        if where.type == "cuda":
            free = torch.cuda.mem_get_info(where)[0]
            check_fits(size_of_form(form), storage=storage, predicts=predicts, wide=wide, free=free)
        layout = make_layout(form)
        self._plan = make_plan(layout)  # before the numbers, whose rows it defines
        super().__init__(form, number)
        self._pairs = float(form.hands[0].weight @ self._met[0])
        self._units = [number.unit(largest_value(form, self._met[own], own)) for own in range(2)]
        self._game = self._make_game(torch.float64 if wide else torch.float32)
        self._chances = [
            [Chances(layout, self._plan, player, street, where) for street in range(len(form.streets))]
            if number.one > 1
            else []
            for player in range(2)
        ]

    def _make_game(self, dtype: torch.dtype) -> Game:
        form, where, plan = self.form, self._where, self._plan
        facings = make_facing(form, 0, where, dtype), make_facing(form, 1, where, dtype)
        last = len(form.streets) - 1
        runouts = len(form.streets[last].parent)
        size, wide = size_of_form(form), dtype == torch.float64
        listed = facings[1].listed, facings[0].listed
        step = block_runouts(size, listed, device=where.type, wide=wide)
        self._working = working_bytes(size, listed, device=where.type, wide=wide)

        def block(street: int, first: int, end: int) -> Block:
            return make_block(self.layout, plan.streets[street], facings, street, slice(first, min(end, runouts)))

        def opponent(own: int) -> torch.Tensor:
            weight = np.zeros((1, 1, int(self.layout.hands[1 - own])), dtype=np.float32)
            weight[0, 0, : len(form.hands[1 - own].weight)] = form.hands[1 - own].weight * self._units[own]
            return torch.from_numpy(weight).to(where)

        return Game(
            plan=plan,
            rows=tuple(
                (make_rows(plan, street, 0, where), make_rows(plan, street, 1, where)) for street in range(last + 1)
            ),
            first=tuple(block(street, 0, len(form.streets[street].parent)) for street in range(last)),
            last=tuple(block(last, first, first + step) for first in range(0, runouts, step)),
            opponent=(opponent(0), opponent(1)),
            hands=(int(self.layout.hands[0]), int(self.layout.hands[1])),
            wide=torch.float32 if where.type == "mps" else torch.float64,
        )

    # --- numbers on the device ---------------------------------------------------------------------------------------

    def _zeros(self, player: int, dtype: np.dtype[Any]) -> Numbers:
        return Numbers(self.layout, self._plan, player, dtype, self._where)

    def _take(self, numbers: Numbers, node: int, runouts: slice) -> Stored:
        return numbers.read(node, runouts)

    def _put(self, numbers: Numbers, place: Place, values: NDArray[np.floating[Any]], hands: BoolArray) -> None:
        numbers.write(*place, values, hands)

    def _stored(self, numbers: Numbers) -> Stored:
        return numbers.stored()

    def averages(self, player: int, street: int, runouts: slice = slice(None)) -> Stored:
        numbers: Numbers = self._average[player]
        return numbers.street(street, runouts)

    def _target(self, numbers: Numbers) -> Stored:
        return np.empty(int(self.layout.entries[numbers.player]), numbers.dtype)

    def _load(self, numbers: Numbers, stored: Stored) -> None:
        numbers.load(stored)

    def _write_all(self, player: int, locks: Iterable[tuple[Place, Lock]]) -> None:
        """On the host, since a transfer takes longer than writing a decision."""
        held = {id(each): each for each in (self._regret[player], self._matched[player], self._average[player])}
        written = [(numbers, self._stored(numbers)) for numbers in held.values()]
        for place, lock in locks:
            for numbers, array in written:
                self.layout.write(array, *place, self.format.stored(lock.strategy, numbers.dtype), lock.hands)
        for numbers, array in written:
            self._load(numbers, array)

    def _held(self, player: int) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
        """For every tensor with locked decisions: itself, flattened; where they are; what is locked there."""
        found = []
        kinds = (self._regret, self._average, *((self._matched,) if self.predicts else ()))
        for street in range(len(self.form.streets)):
            locks = [each for each in self.locked[player].items() if self.form.tree.street[each[0][0]] == street]
            for numbers in (kind[player] for kind in kinds) if locks else ():
                at = [numbers.positions(*place, lock.hands).ravel() for place, lock in locks]
                values = [self.format.stored(lock.strategy, numbers.dtype)[:, lock.hands].ravel() for _, lock in locks]
                found.append(
                    (
                        numbers.streets[street].view(-1),
                        torch.from_numpy(np.concatenate(at)).to(self._where),
                        numbers.as_held(np.concatenate(values)).to(self._where),
                    )
                )
        return found

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        """The state of the solve; without `copy`, arrays that are brought to the host when they are asked for."""
        arrays = _Live(self._arrays())
        return Snapshot(self.iteration, dict(arrays) if copy else arrays, self.weight)

    @property
    def kept_bytes(self) -> int:
        """Regrets, averages, and the tables for finding and evaluating them."""
        numbers = sum(int(each.nbytes) for each in self._arrays().values())
        return numbers + _bytes_of(self._game, self._chances)

    @property
    def memory_bytes(self) -> int:
        """`kept_bytes` and the working tensors of a walk."""
        return self.kept_bytes + self._working

    # --- solving -----------------------------------------------------------------------------------------------------

    def advance(self, schedule: Schedule) -> None:
        """Run one iteration per row of `schedule`."""
        decay, gain, self.weight = self.format.in_steps(
            schedule["average_decay"], schedule["average_weight"], self.weight
        )
        if predicts(schedule):
            self.store_predictions()
        held = self._held(0), self._held(1)
        for number, row in enumerate(schedule.tolist()):
            weights = Weights(*row)._replace(average_decay=float(decay[number]), average_weight=float(gain[number]))
            salt = (self.iteration + 1) * SALT % 2**24
            for own in range(2):
                if own not in self.fixed:
                    numbers = self._regret[own], self._matched[own], self._average[own]
                    learning = Learning(self.format, numbers, weights, self._chances[own], salt)
                    self._walk(
                        [Walk(self._game, own, (Mode.LEARN,), learning=learning)], self._strategies(self._matched)
                    )
                    for flat, at, values in held[own]:
                        flat.index_copy_(0, at, values)
            self.iteration += 1

    def evaluate(self, strategy: PublicStrategy | None = None) -> Evaluation:
        """Values and best responses, in the form's unit, by default of the average strategy.

        A given strategy is evaluated in 32 bits, whatever the storage. Hands that are equivalent on a runout all play
        what the first of them plays. In a best response, locked hands still follow the evaluated strategy; a fixed
        player's best response is the evaluated strategy.
        """
        modes = [(Mode.MEAN,) if own in self.fixed else (Mode.MEAN, Mode.BEST) for own in range(2)]
        walks = [Walk(self._game, own, modes[own], locked=partial(self._locked_in, own)) for own in range(2)]
        roots = self._walk(walks, self._strategies(self._average) if strategy is None else self._given(strategy))
        found = [[self._mean(own, values) for values in roots[own]] for own in range(2)]
        # A best response is worth at least as much; rounding must not make it worth less.
        return Evaluation((found[0][0], found[1][0]), (max(found[0]), max(found[1])))

    def root_values(self, player: int) -> FloatArray:
        """[H] each hand's expected value under the average strategies; 0 where no opposing hand is possible."""
        [[found]] = self._walk([Walk(self._game, player, (Mode.MEAN,))], self._strategies(self._average))
        values, met = self._root(player, found), self._met[player]
        return np.divide(values, met, out=np.zeros_like(values), where=met > 0)

    def values_before_last(self, player: int) -> list[NDArray[np.float32]]:
        """For each street before the last, [runouts, nodes of the street, H] values times the opposing reach."""
        walk = Walk(self._game, player, (Mode.MEAN,))
        self._walk([walk], self._strategies(self._average))
        hands, street_of = len(self.form.hands[player].weight), self.form.tree.street
        found = []
        for street, values in enumerate(walk.values):
            rows = torch.from_numpy(self._plan.value_row[player, street_of == street]).to(self._where)
            found.append((values.index_select(1, rows)[:, :, :hands] / self._units[player]).cpu().numpy())
        return found

    def _walk(self, walks: list[Walk], strategies: Callable[[Block], Strategies]) -> list[list[torch.Tensor]]:
        """[hands] values at the root in each mode of each walk; they go side by side: each block is read once."""
        above = [strategies(block) for block in self._game.first]
        for walk in walks:
            walk.begin(above)
        for block in self._game.last:
            both = strategies(block)
            for walk in walks:
                walk.through(block, both)
        return [walk.finish(above) for walk in walks]

    def _strategies(self, numbers: Sequence[Numbers]) -> Callable[[Block], Strategies]:
        """The strategies in a block that are matched to stored numbers."""

        def found(block: Block) -> Strategies:
            batches = self._plan.streets[block.street].batches
            held = [each.streets[block.street][block.runouts] for each in numbers]
            return match(as_floats(held[0]), batches[0]), match(as_floats(held[1]), batches[1])

        return found

    def _given(self, strategy: PublicStrategy) -> Callable[[Block], Strategies]:
        """The strategies in a block that are handed in."""
        form = self.form

        def found(block: Block) -> Strategies:
            here, runouts = self._plan.streets[block.street], range(block.runouts.start, block.runouts.stop)
            both = []
            for player in range(2):
                rows = np.zeros((len(runouts), here.entries[player], self._game.hands[player]), dtype=np.float32)
                for node in here.decisions[player].tolist():
                    first = int(self._plan.first_entry[node])
                    for number, runout in enumerate(runouts):  # one by one, as files store them
                        played = checked_rows(form, strategy, node, runout)
                        rows[number, first : first + len(played), : played.shape[1]] = played
                both.append(match(torch.from_numpy(rows).to(self._where), here.batches[player]))
            return both[0], both[1]

        return found

    def _locked_in(self, player: int, block: Block) -> torch.Tensor | None:
        """[runouts, decisions, hands] which hands of a player are locked in a block; None: none."""
        decisions = self._plan.streets[block.street].decisions[player].tolist()
        first, last = block.runouts.start, block.runouts.stop
        locks = [
            (runout - first, decisions.index(node), lock.hands)
            for (node, runout), lock in self.locked[player].items()
            if self.form.tree.street[node] == block.street and first <= runout < last
        ]
        if not locks:
            return None
        locked = np.zeros((last - first, len(decisions), self._game.hands[player]), dtype=np.bool_)
        for runout, decision, hands in locks:
            locked[runout, decision, : len(hands)] = hands
        return torch.from_numpy(locked).to(self._where)

    def _root(self, own: int, values: torch.Tensor) -> FloatArray:
        """[H] values at the root, times the opposing weight that each hand faces."""
        on_host = values.cpu().to(torch.float64).numpy()
        return np.asarray(on_host[: len(self.form.hands[own].weight)] / self._units[own])

    def _mean(self, own: int, values: torch.Tensor) -> float:
        """The value of the game."""
        return float(self._root(own, values) @ self.form.hands[own].weight / self._pairs) / self.form.unit


class _Live(Mapping[str, Stored]):
    """The live numbers by their names in snapshots, copied to the host when they are asked for."""

    def __init__(self, numbers: Mapping[str, Numbers]) -> None:
        self._numbers = numbers

    def __getitem__(self, name: str) -> Stored:
        return self._numbers[name].stored()

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


def _bytes_of(*held: object) -> int:
    """Total bytes of tensors in nested tuples, lists and objects; tensors that share memory count once."""
    longest: dict[int, int] = {}

    def count(thing: object) -> None:
        if isinstance(thing, torch.Tensor):
            longest[thing.data_ptr()] = max(thing.nbytes, longest.get(thing.data_ptr(), 0))
        elif isinstance(thing, tuple | list):
            for each in thing:
                count(each)
        elif isinstance(thing, dict):
            for each in thing.values():
                count(each)
        elif isinstance(thing, Folds | Showdowns | Chances):
            count(vars(thing))

    count(held)
    return sum(longest.values())


if TYPE_CHECKING:
    _conforms: type[PublicEngine] = PortablePublicEngine

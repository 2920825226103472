"""CFR in PyTorch, on a CPU, a CUDA device or Apple's MPS.

`tables` has the game, and one iteration of it as tensor operations; `update` runs a schedule of them.
"""

from __future__ import annotations

import torch

from regretless.engines.contract import LEARNED, Evaluation, Snapshot, Updates
from regretless.engines.sequence_layout import Terms, terms_of
from regretless.engines.torch.tables import GameTables
from regretless.engines.torch.update import ScheduleTable
from regretless.errors import InvalidOption
from regretless.forms.compile import check_strategy
from regretless.forms.history import FloatArray, HistoryForm
from regretless.forms.sequence import SequenceForm, SequenceTree
from regretless.variants.variant import Schedule

__all__ = ["DTYPES", "TOLERANCE", "TorchEngine", "TorchSequenceSolve", "estimate", "torch_device"]

DTYPES = {"float32": torch.float32, "float64": torch.float64}
TOLERANCE = {"float32": 1e-4, "float64": 1e-10}  # of results of order 1, after some tens of iterations


def torch_device(name: str, dtype: str) -> torch.device:
    """The device of that name, if it exists and supports the number format."""
    if dtype not in DTYPES:
        raise InvalidOption("dtype", dtype, "must be float32 or float64")
    kind = name.split(":")[0]
    if kind not in ("cpu", "cuda", "mps"):
        raise InvalidOption("device", name, "must be cpu, cuda or mps")
    if kind == "cuda" and not torch.cuda.is_available():
        raise InvalidOption("device", name, "is not available: PyTorch sees no CUDA device")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise InvalidOption("device", name, "is not available on this machine")
    if kind == "mps" and dtype == "float64":
        raise InvalidOption("dtype", dtype, "is not available on MPS, which computes in float32")
    return torch.device(name)


class TorchSequenceSolve:
    """Tables on a device and the loop over a schedule, for one game or a batch."""

    def __init__(
        self,
        trees: tuple[SequenceTree, ...],
        terms: tuple[Terms, ...],
        *,
        updates: Updates,
        device: torch.device,
        dtype: torch.dtype,
        graph: bool,
    ) -> None:
        self.game = GameTables(trees, terms, device, dtype)
        self.schedule = ScheduleTable(device, dtype, graph=graph)
        everyone = tuple(range(len(trees)))
        self.turns = [everyone] if updates is Updates.SIMULTANEOUS else [(player,) for player in everyone]

    def advance(self, schedule: Schedule) -> None:
        """Run one iteration per row of `schedule`."""
        state = [tensor for seat in self.game.seats for tensor in (*vars(seat.tables).values(), seat.plan)]
        self.schedule.run(schedule, self._step, state)

    def _step(self) -> None:
        weights = self.schedule.take()
        for players in self.turns:
            self.game.play(players, weights)

    def snapshot(self, iteration: int) -> Snapshot:
        game = self.game
        arrays = {name: game.to_pairs([getattr(table, name) for table in game.tables]) for name in LEARNED}
        return Snapshot(iteration, arrays)

    def restore(self, snapshot: Snapshot) -> None:
        game = self.game
        for name in LEARNED:
            for table, values in zip(game.tables, game.from_pairs(snapshot.arrays[name])):
                getattr(table, name).copy_(values)
        game.replan()

    def average_strategy(self) -> FloatArray:
        return self.game.to_pairs(self.game.average())

    def evaluate(self, strategy: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Values and best-response values on the host, [players] or [players, games]."""
        with torch.no_grad():
            strategies = self.game.average() if strategy is None else self.game.from_pairs(strategy)
            values, best = self.game.evaluate(strategies)
            both = torch.stack([values, best]).to("cpu").to(torch.float64).numpy()
        return both[0], both[1]


def estimate(form: SequenceForm | HistoryForm, *, dtype: str = "float32", threads: int | None = None) -> int:
    """Bytes of all tensors: terms with their columns, what CFR updates, and the slices of levels."""
    history = form.history if isinstance(form, SequenceForm) else form
    number, sets, pairs = DTYPES[dtype].itemsize, len(history.keys), int(history.first_pair[-1])
    if isinstance(form, SequenceForm):
        terms = sum(len(matrix.value) for matrix in form.payoff)
    else:
        terms = history.players * len(history.terminal)
    payoffs = terms * (number + 8 * (history.players - 1)) + 8 * (pairs + history.players)
    return payoffs + pairs * (5 * number + 3 * 8) + sets * (number + 2 * 8)


class TorchEngine:
    """One game in PyTorch: two players by the sequence form, any number by the history form."""

    name = "torch"

    def __init__(
        self,
        form: SequenceForm | HistoryForm,
        *,
        updates: Updates = Updates.ALTERNATING,
        device: str = "cpu",
        dtype: str = "float32",
        threads: int | None = None,
        graph: bool = True,
    ) -> None:
        where = torch_device(device, dtype)
        if threads is not None and where.type == "cpu":
            torch.set_num_threads(threads)  # of the whole process: PyTorch knows no other way
        trees, terms = terms_of(form)
        self._solve = TorchSequenceSolve(trees, terms, updates=updates, device=where, dtype=DTYPES[dtype], graph=graph)
        self.form = form.history if isinstance(form, SequenceForm) else form
        self.device = where.type
        self.threads = torch.get_num_threads() if where.type == "cpu" else 1
        self.tolerance = TOLERANCE[dtype]
        self.updates = updates
        self.iteration = 0

    @property
    def memory_bytes(self) -> int:
        return self._solve.game.memory_bytes

    def advance(self, schedule: Schedule) -> None:
        self._solve.advance(schedule)
        self.iteration += len(schedule)

    def average_strategy(self) -> FloatArray:
        return self._solve.average_strategy()

    def evaluate(self, strategy: FloatArray | None = None) -> Evaluation:
        values, best = self._solve.evaluate(None if strategy is None else check_strategy(self.form, strategy))
        return Evaluation(values=tuple(values.tolist()), best_response_values=tuple(best.tolist()))

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        return self._solve.snapshot(self.iteration)

    def restore(self, snapshot: Snapshot) -> None:
        self._solve.restore(snapshot)
        self.iteration = snapshot.iteration

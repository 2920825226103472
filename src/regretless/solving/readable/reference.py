"""The readable recursion with the interface of an engine, so that the same loop, command and tests drive both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain

import numpy as np

from regretless.engines import LEARNED, Build, EngineEntry, Evaluation, FormKind, Sampling, Snapshot, Updates, register
from regretless.errors import InvalidGame, InvalidOption
from regretless.forms.compile import invert, strategy_array
from regretless.forms.history import FloatArray, HistoryForm
from regretless.games.game import AnyGame
from regretless.solving.readable.best_response import evaluate
from regretless.solving.readable.cfr import CFR
from regretless.variants.variant import Schedule

__all__ = ["Reference"]

BYTES_A_NUMBER = 32  # a Python float and the list slot that points to it


class Reference:
    """`CFR` on the rules of a game, with arrays over the pairs of its history form."""

    name = "reference"
    device = "cpu"
    threads = 1
    tolerance = 1e-12

    def __init__(
        self,
        game: AnyGame,
        form: HistoryForm,
        *,
        updates: Updates = Updates.ALTERNATING,
        sampling: Sampling = Sampling.FULL,
        seed: int = 0,
        batch_size: int = 1,
    ) -> None:
        if batch_size != 1:
            raise InvalidOption("batch_size", batch_size, "must be 1 for the reference engine")
        self.form = form
        self.cfr = CFR(game, updates=updates, sampling=sampling, seed=seed)
        self.cfr.information_sets = {key: self.cfr.information_sets[key] for key in form.keys}  # in the form's order

    @property
    def iteration(self) -> int:
        return self.cfr.iteration

    @property
    def memory_bytes(self) -> int:
        return BYTES_A_NUMBER * 4 * int(self.form.first_pair[-1])

    def advance(self, schedule: Schedule) -> None:
        with self._refusing_depth():
            self.cfr.advance(schedule)

    def average_strategy(self) -> FloatArray:
        return strategy_array(self.form, self.cfr.average_strategy())

    def evaluate(self, strategy: FloatArray | None = None) -> Evaluation:
        with self._refusing_depth():
            if strategy is None:
                return self.cfr.evaluate()
            return evaluate(self.cfr.game, invert(self.form, np.asarray(strategy)))

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        sets = self.cfr.information_sets.values()
        arrays = {
            name: np.fromiter(chain.from_iterable(getattr(each, name) for each in sets), dtype=np.float64)
            for name in LEARNED
        }
        if self.cfr.sampling is not Sampling.FULL:
            # The state of Python's random numbers: 625 integers below 2^32, exact as floats.
            arrays["sampler"] = np.array(self.cfr.random.getstate()[1], dtype=np.float64)
        return Snapshot(self.iteration, arrays)

    def restore(self, snapshot: Snapshot) -> None:
        self.cfr.iteration = snapshot.iteration
        first = self.form.first_pair.tolist()
        for information_set, start, end in zip(self.cfr.information_sets.values(), first, first[1:], strict=False):
            for name in LEARNED:
                setattr(information_set, name, snapshot.arrays[name][start:end].tolist())
        if "sampler" in snapshot.arrays:
            version, _, following = self.cfr.random.getstate()
            self.cfr.random.setstate((version, tuple(map(int, snapshot.arrays["sampler"])), following))

    @contextmanager
    def _refusing_depth(self) -> Iterator[None]:
        try:
            yield
        except RecursionError:
            moves = len(self.form.level) - 2
            raise InvalidGame(
                f"{self.form.name} is {moves:,} moves deep, too deep for the recursion of the reference engine: "
                "use any other engine"
            ) from None


register(
    Reference.name,
    EngineEntry(
        classes={
            FormKind.HISTORY: Build(path=f"{__name__}:Reference", rules=True),
            FormKind.SAMPLING: Build(path=f"{__name__}:Reference", rules=True, samplings=(Sampling.CHANCE,)),
        }
    ),
)

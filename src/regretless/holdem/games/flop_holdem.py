"""Flop hold'em solved from the deal: every hand of both players on every flop, without abstraction.

Values and exploitability are in big blinds; targets, and exploitability as usually quoted, are in mbb/g, thousandths of
a big blind per game. A solution is read by lines of play, `node("call, check, Qs Jh 2h, check")`; its `strategy` covers
only the first round, because the flop has 1.455 billion information sets. Its file contains the record and the arrays
of the engine, so it can always be resumed; nodes are read from an engine that is restored when the first is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from regretless import engines
from regretless.cards.deck import DECK
from regretless.cards.hands import HAND_COUNT
from regretless.cards.isomorphism import SUIT_PERMUTATIONS
from regretless.cards.ranges import Range
from regretless.engines import PublicEngine, available_cores
from regretless.errors import Advice, InvalidFile, InvalidOption, WouldNotFit
from regretless.files.container import Container
from regretless.forms.betting import flatten, limit_branches
from regretless.forms.memory import available_bytes
from regretless.forms.public import PublicForm
from regretless.forms.public_size import PublicSize, size_of_branches
from regretless.games.flop_holdem import FlopHoldem
from regretless.holdem.estimate import STORAGES
from regretless.holdem.flops import FLOP_CLASSES
from regretless.holdem.form.runouts import compile_holdem
from regretless.holdem.games.big_blinds import MILLI, UNIT, DealtSolution
from regretless.holdem.games.reader import FlopHoldemReader
from regretless.reprs import brief
from regretless.solving.game_solution import public_snapshot
from regretless.solving.options import NO_OPTIONS, SolveOptions
from regretless.solving.problem import Request
from regretless.solving.public_problem import PublicProblem
from regretless.solving.record import Record
from regretless.solving.solution import Contents, restore_engine

__all__ = [
    "FlopHoldemProblem",
    "FlopHoldemSolution",
    "compile_flop_holdem",
]


def compile_flop_holdem(game: FlopHoldem, flops: Mapping[tuple[int, ...], float] | None = None) -> PublicForm:
    """The whole game from the deal on: payoffs in chips, values in big blinds. Takes a few seconds.

    With `flops` (`compile_holdem`), it estimates what a strategy is worth from a sample of flops; best responses know
    which flops may come, so they gain more than in the whole game.
    """
    everything = Range.parse("100%")
    tree = flatten(limit_branches(game.betting, game.move_name))
    form = compile_holdem((), everything, everything, tree, deals=(3,), flops=flops, name=game.name)
    return replace(form, unit=game.big_blind)


@dataclass(frozen=True, kw_only=True)
class FlopHoldemSolution(DealtSolution):
    """Flop hold'em, solved. Values are in big blinds, the small blind's first."""

    __repr__ = brief

    @cached_property
    def reader(self) -> FlopHoldemReader:
        """Finds nodes of the solution."""
        reader: FlopHoldemReader = self.make_reader()
        return reader

    def _contents(self, resumable: bool) -> Contents:
        assert self.snapshot is not None
        return Contents({"weight": self.snapshot.weight}, self.snapshot.arrays)

    @classmethod
    def read(cls, file: Container, *, to_resume: bool = False) -> Self:
        path = file.path
        record = Record.read(file, players=2)
        snapshot = public_snapshot(file, record.iterations)
        if snapshot is None:
            raise InvalidFile(path, "is damaged: it contains no regrets")

        def restored() -> FlopHoldemReader:
            storage = file.bits("regret.0")
            game = FlopHoldem()
            check_fits(game, storage, threads=1, predicts=snapshot.predicts)
            form = compile_flop_holdem(game)
            engine = engines.create("auto", form, threads=1, storage=storage, predicts=snapshot.predicts)
            restore_engine(engine, snapshot, path)
            return FlopHoldemReader(form, engine)

        return cls(make_reader=restored, record=record, snapshot=snapshot, path=path)

    def as_json(self, *, strategy: bool = False) -> dict[str, Any]:
        return super().as_json(strategy=strategy) | {"big_blind": FlopHoldem.big_blind}


class FlopHoldemProblem(PublicProblem):
    """Flop hold'em. Targets are in mbb/g."""

    unit = UNIT
    scale = MILLI
    variant = "discounted"
    threads = None
    solution_type = FlopHoldemSolution
    rules: FlopHoldem

    def __init__(self, game: FlopHoldem, options: SolveOptions = NO_OPTIONS) -> None:
        super().__init__(game)
        if options.form == "history":
            raise InvalidOption("form", options.form, f"is not for {self.name}, whose rules are too large to enumerate")

    def in_units(self, target: float) -> float:
        return target / MILLI

    @cached_property
    def _size(self) -> PublicSize:
        return flop_holdem_size(self.rules)

    def public_size(self) -> PublicSize:
        return self._size

    def check_fits(self, request: Request) -> None:
        if not self.fits_on_gpu(request):
            storage, threads = request.settings.storage or STORAGES[0], request.threads or available_cores()
            check_fits(self.rules, storage, threads, predicts=request.predicts)

    def form(self) -> PublicForm:
        return compile_flop_holdem(self.rules)

    def solution(self, record: Record, form: PublicForm, engine: PublicEngine) -> FlopHoldemSolution:
        return FlopHoldemSolution(
            record=record,
            make_reader=lambda: FlopHoldemReader(form, engine),
            snapshot=engine.snapshot(copy=False),
        )


def flop_holdem_size(game: FlopHoldem) -> PublicSize:
    """The size of the whole game."""
    betting = size_of_branches(limit_branches(game.betting, game.move_name), streets=2)
    return betting.with_cards(
        deck=DECK, hands=(HAND_COUNT, HAND_COUNT), permutations=len(SUIT_PERMUTATIONS), runouts=(1, FLOP_CLASSES)
    )


def check_fits(game: FlopHoldem, storage: int, threads: int, *, predicts: bool = False) -> None:
    """Raise `WouldNotFit` if an engine takes more memory than is free; `predicts` as in `holdem.estimate`."""
    options = {"storage": storage, "threads": threads, "predicts": predicts}
    needed = engines.estimate("numba", engines.FormKind.PUBLIC, flop_holdem_size(game), **options) or 0
    if needed > (free := available_bytes()):
        advice = [Advice("storage", 16, "takes about half as much")] if storage == 32 else []
        raise WouldNotFit(f"{game.name} in {storage} bits", needed=needed, available=free, advice=advice)

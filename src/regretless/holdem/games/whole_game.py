"""Heads-up no-limit hold'em from the deal, solved with buckets on boards drawn at random: problem, reader, solution.

Exploitability is not measured while it is solved: with real cards, over every board, it takes far longer than the
iterations (`pricing`). Nothing is stored per board: what a hand does is what its bucket does, and its bucket follows
from the board. Besides the record and the game's TOML, a file contains

    average.P, regret.P, matched.P    what player P learned, per decision, action and bucket, in the engine's layout
    STREET.division                   the centroids or limits that give the bucket of any hand on any board
    history                           [points, 3] measurements, if there are any

so that it can be read without the tables of buckets, and always be resumed, with them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from regretless import engines
from regretless.engines import BucketedEngine, Snapshot, TableLayout
from regretless.errors import InvalidFile, InvalidOption, MissingOption, RegretlessError
from regretless.files.container import Container, StoredArrays
from regretless.files.fields import Fields
from regretless.forms.bucketed import BucketedForm
from regretless.holdem.buckets.build import build_buckets
from regretless.holdem.buckets.plan import BucketChoice, BucketPlan
from regretless.holdem.buckets.table import Buckets, DividedBuckets
from regretless.holdem.form.betting import betting_of
from regretless.holdem.games.big_blinds import MILLI, UNIT
from regretless.holdem.games.boards import GameBuckets, acting_streets, game_buckets, make_form
from regretless.holdem.games.bucketed import (
    AVERAGES,
    BucketedProblem,
    SavedTables,
    bucketed_sets,
    snapshot_strategy,
)
from regretless.holdem.games.flop_pricer import FlopPricer, FlopTree
from regretless.holdem.games.game import HoldemGame, read_saved_game
from regretless.holdem.games.pricing import PricedSolution
from regretless.holdem.games.reader import BucketedReader
from regretless.holdem.spots.spot_fields import StreetName
from regretless.reprs import brief
from regretless.solving.game_solution import LEARNED
from regretless.solving.kinds import Kind
from regretless.solving.options import SolveOptions
from regretless.solving.problem import Request
from regretless.solving.record import Record
from regretless.solving.solution import Contents, Solution

__all__ = ["NoLimitProblem", "NoLimitSolution"]

ABSTRACTION_FIELD = "abstraction"  # of the header


@dataclass(frozen=True, kw_only=True)
class NoLimitSolution(SavedTables, PricedSolution):
    """A solved game from the deal. Its `strategy` is that before the flop; `node` reads any line on any board."""

    rules: HoldemGame
    buckets: DividedBuckets | None = field(repr=False)  # None if nobody acts after the flop
    how_to_check: ClassVar[str] = ": regretless price evaluates it"

    __repr__ = brief

    @property
    def subject(self) -> HoldemGame:
        return self.rules

    @cached_property
    def reader(self) -> BucketedReader:
        """Finds nodes of the solution."""
        reader: BucketedReader = self.make_reader()
        return reader

    @property
    def boards(self) -> int:
        """Boards drawn so far."""
        return self.iterations * (self.settings.sample_runouts or 0)

    def as_json(self, *, strategy: bool = False) -> dict[str, Any]:
        settings, record = self.settings, self.record
        count = settings.sample_runouts or 0
        return super().as_json(strategy=strategy) | {
            "big_blind": self.rules.big_blind,
            "buckets": settings.buckets,
            "sample_runouts": count,
            "boards": self.boards,
            "boards_per_second": count / record.seconds_per_iteration if record.seconds_per_iteration > 0 else None,
        }

    def flop_player(self, betting: FlopTree, threads: int) -> FlopPricer:
        reader = self.reader
        return FlopPricer(betting, reader.payoffs, reader.buckets, reader.bucket_strategy, threads=threads)

    def strategy_digest(self, *, preflop: bool = False) -> str:
        if preflop:
            return super().strategy_digest(preflop=True)
        assert self.snapshot is not None
        digest = hashlib.sha256(self.rules.to_toml().encode())
        arrays = {name: self.snapshot.arrays[name] for name in AVERAGES}
        if self.buckets is not None:
            digest.update(json.dumps(self.buckets.header(), sort_keys=True).encode())
            arrays |= self.buckets.arrays()
        for name, array in sorted(arrays.items()):
            digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def _contents(self, resumable: bool) -> Contents:
        arrays = self.saved_tables(resumable)
        header: dict[str, object] = {"rules": self.rules.to_toml(), ABSTRACTION_FIELD: None}
        if self.buckets is not None:
            header[ABSTRACTION_FIELD] = self.buckets.header()
            arrays |= self.buckets.arrays()
        return Contents(header, arrays)

    @classmethod
    def read(cls, file: Container) -> Self:
        path = file.path
        header = Fields(path, file.header)
        record = Record.read(file, players=2)
        game = read_saved_game(header)
        buckets = DividedBuckets.read(file, ABSTRACTION_FIELD) if header.value(ABSTRACTION_FIELD) is not None else None
        try:
            of_game = game_buckets(game, buckets, () if buckets is None else buckets.plan.streets)
        except RegretlessError as error:
            raise InvalidFile(path, f"is damaged: {error}") from None
        form = make_form(game, of_game, count=1, seed=0)
        layout = TableLayout(form)
        dtype = np.float64 if record.settings.storage == 64 else np.float32
        for player, name in enumerate(AVERAGES):
            file.check(name, (layout.entries[player],), (dtype,))
        snapshot = Snapshot(record.iterations, StoredArrays(file, LEARNED))
        return cls(
            record=record,
            make_reader=lambda: BucketedReader(form, of_game, snapshot_strategy(layout, snapshot)),
            snapshot=snapshot,
            path=path,
            rules=game,
            buckets=buckets,
        )


class _LazyBuckets:
    """Tables of buckets, built when the first board is looked up: by then it is known that the game fits in memory."""

    def __init__(self, plan: BucketPlan, loaded: Buckets | None = None) -> None:
        self.plan, self._loaded = plan, loaded

    @cached_property
    def loaded(self) -> Buckets:
        return self._loaded or build_buckets(self.plan)

    def count(self, street: StreetName) -> int:
        return self.plan.count(street)

    def lookup(self, boards: NDArray[np.uint8]) -> NDArray[np.uint16]:
        return self.loaded.lookup(boards)


class NoLimitProblem(BucketedProblem[BucketedEngine]):
    """A game from the deal with buckets."""

    kind = Kind.DEALT
    unit = UNIT
    scale = MILLI
    variant = "linear"
    solution_type = NoLimitSolution
    measures = False

    def __init__(self, game: HoldemGame, options: SolveOptions) -> None:
        """The game with the buckets in the options, or the one that is resumed."""
        earlier = options.resume
        if isinstance(earlier, Solution) and not isinstance(earlier, NoLimitSolution):
            raise InvalidOption("resume", earlier.where, "is not a solve of a game from the deal")
        self._earlier = earlier if isinstance(earlier, NoLimitSolution) else None  # must have had the same buckets
        if self._earlier is not None:
            self._earlier.check_resumes(game)
        self.game = game if self._earlier is None else self._earlier.rules
        super().__init__(options, None if self._earlier is None else self._earlier.settings)
        self.name = self.game.name or "hold'em"

    def choose_buckets(self, text: str | None) -> BucketChoice | None:
        if text is None:
            if any(acting_streets(betting_of(self.game).tree).values()):
                hint = "give a file from regretless buckets, or flop=50,turn=50,river=50,method=percentile"
                raise MissingOption("buckets", f"{hint}; or flops, such as subset(25), to solve with real cards")
            return None
        if not isinstance(text, str):
            raise InvalidOption("buckets", text, "must be text such as flop=50,turn=50,river=50")
        return BucketChoice.parse(text)

    @cached_property
    def bucket_tables(self) -> _LazyBuckets | None:
        """Those of a file, or to be built."""
        choice, earlier = self.choice, self._earlier
        if choice is None:
            return None
        if not choice.file:
            if not choice.counts:
                return None
            counts: dict[str, Any] = dict(choice.counts)
            return _LazyBuckets(BucketPlan(**counts, method=choice.method))
        tables = Buckets.load(choice.file)
        if tables.plan.board:
            raise InvalidFile(choice.file, "has the buckets of one flop only: a game needs those of all boards")
        if earlier is not None and not _alike(earlier.buckets, DividedBuckets.of(tables)):
            raise InvalidFile(choice.file, f"has other buckets than {earlier.where} was started with")
        return _LazyBuckets(tables.plan, tables)

    @cached_property
    def buckets(self) -> GameBuckets:
        """The buckets of every street."""
        if self.choice is None:
            return game_buckets(self.game, None, ())
        streets = () if self.bucket_tables is None else self.bucket_tables.plan.streets
        covered = tuple(street for street in streets if street not in self.choice.lossless)
        return game_buckets(self.game, self.bucket_tables, covered, str(self.choice))

    def form(self) -> BucketedForm:
        return make_form(self.game, self.buckets, count=self.count, seed=self.seed)

    def create(self, form: BucketedForm, request: Request) -> BucketedEngine:
        return engines.create(
            request.engine, form, device=request.device, threads=request.threads, predicts=request.predicts
        )

    def size(self, form: BucketedForm) -> tuple[int, int]:
        """Betting nodes, and decisions × buckets."""
        return len(form.tree.kind), bucketed_sets(form)

    def solution(self, record: Record, form: BucketedForm, engine: BucketedEngine) -> NoLimitSolution:
        return NoLimitSolution(
            record=record,
            make_reader=lambda: BucketedReader(form, self.buckets, engine.strategy),
            snapshot=engine.snapshot(copy=False),
            rules=self.game,
            buckets=None if self.bucket_tables is None else DividedBuckets.of(self.bucket_tables.loaded),
        )


def _alike(first: DividedBuckets | None, second: DividedBuckets) -> bool:
    """Whether two abstractions give every hand the same bucket."""
    if first is None or first.header() != second.header():
        return False
    arrays, others = first.arrays(), second.arrays()
    return all(np.array_equal(arrays[name], others[name]) for name in arrays)

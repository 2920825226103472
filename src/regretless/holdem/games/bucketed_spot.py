"""A hold'em spot solved with buckets, on sampled runouts, and priced with real cards.

The first street is lossless unless its number of buckets is given; with a file of tables, it always is. Later streets
are lossless only where the choice says so. Tables are those of `holdem.buckets`: from a file for all
boards, or built here for the boards that contain the spot's flop, which takes seconds.

Besides the record and the spot's TOML, a file contains

    average.P        sums of strategies of player P, per decision, action and bucket, in the engine's layout
    bucket.P.S       [runouts, H] the bucket of each hand of player P on every runout of street S
    history          [points, 3] iteration, seconds, exploitability with real cards

and, if it can be resumed, the regrets. Runouts and strengths are recomputed, and values when the first node is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from regretless import engines
from regretless.engines import (
    BucketTables,
    PricedEngine,
    Snapshot,
    StrategyEvaluator,
    bucket_evaluator_beside,
    with_real_cards,
)
from regretless.errors import Advice, InvalidFile, InvalidOption, WouldNotFit
from regretless.files.container import Container, StoredArrays
from regretless.files.fields import Fields
from regretless.forms.bucketed import BucketedForm, BucketMaps, bucketed_form, lossless
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.memory import available_bytes
from regretless.forms.public import PublicForm
from regretless.forms.tree_hash import tree_hash
from regretless.holdem.buckets.build import build_buckets
from regretless.holdem.buckets.plan import BucketChoice, BucketPlan
from regretless.holdem.buckets.table import NO_BUCKET, Buckets
from regretless.holdem.estimate import spot_size
from regretless.holdem.form.runouts import compile_spot, runout_boards, spot_hands
from regretless.holdem.games.bucketed import (
    AVERAGES,
    BucketedProblem,
    SavedTables,
    bucketed_sets,
    snapshot_strategy,
)
from regretless.holdem.reading.encoded_strategies import encode_rows
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.reading.spot_results import EvaluatedResults
from regretless.holdem.solution import SpotSolution, spot_and_tree
from regretless.holdem.spots.locks import lock_text
from regretless.holdem.spots.spot import Spot
from regretless.reprs import brief
from regretless.solving.game_solution import LEARNED
from regretless.solving.kinds import Kind
from regretless.solving.options import SolveOptions
from regretless.solving.problem import Request
from regretless.solving.record import Record
from regretless.solving.solution import Contents, Solution

__all__ = ["BucketedSpotProblem", "BucketedSpotSolution", "spot_buckets"]


class SpotBuckets(NamedTuple):
    """The buckets of a spot's hands."""

    maps: BucketMaps
    counts: tuple[tuple[int, ...], tuple[int, ...]]  # numbers of buckets per player and street


def spot_buckets(spot: Spot, form: PublicForm, choice: BucketChoice, *, threads: int | None = None) -> SpotBuckets:
    """The maps of a spot's form."""
    tables = _tables(spot, choice, threads)
    hand_numbers = spot_hands(spot)
    maps = [list(of_player) for of_player in lossless(form)]
    counts = [[len(street.parent) * len(hands.weight) for street in form.streets] for hands in form.hands]
    for number, (street, boards) in enumerate(zip(spot.streets, runout_boards(form, spot.board), strict=True)):
        from_file = bool(choice.file) and number > 0 and street not in choice.lossless
        if tables is None or not (from_file or street in dict(choice.counts)):
            continue
        try:
            buckets = tables.lookup(boards).astype(np.int32)
        except InvalidOption as error:
            raise InvalidFile(choice.file, f"does not fit this spot: {error}") from None
        buckets[buckets == NO_BUCKET] = 0  # blocked hands, whose bucket is never read
        for player in range(2):
            maps[player][number] = buckets[:, hand_numbers[player]]
            counts[player][number] = tables.count(street)
    return SpotBuckets((tuple(maps[0]), tuple(maps[1])), (tuple(counts[0]), tuple(counts[1])))


def _tables(spot: Spot, choice: BucketChoice, threads: int | None) -> Buckets | None:
    """The tables of the streets that have any; None if all are lossless."""
    if choice.file:
        tables = Buckets.load(choice.file)
        choice.check(spot.streets[1:], tables.plan.streets)
        return tables
    choice.check(spot.streets[1:])
    if not choice.counts:
        return None
    board = spot.board[:3]
    plan = BucketPlan(**dict(choice.counts), method=choice.method, board=(board[0], board[1], board[2]))
    return build_buckets(plan, threads=threads)


@dataclass(frozen=True, kw_only=True)
class BucketedSpotSolution(SavedTables, SpotSolution):
    """A spot solved with buckets. Nodes, values and exploitability are those of real hands on real runouts."""

    maps: BucketMaps = field(repr=False)
    buckets: tuple[tuple[int, ...], tuple[int, ...]]  # per player: their number on each street

    __repr__ = brief

    def as_json(self, *, strategy: bool = False) -> dict[str, Any]:
        return super().as_json(strategy=strategy) | {"buckets": self.settings.buckets}

    def _contents(self, resumable: bool) -> Contents:
        arrays = self.saved_tables(resumable)
        for player, of_player in enumerate(self.maps):
            arrays |= {f"bucket.{player}.{street}": map_.astype(np.int32) for street, map_ in enumerate(of_player)}
        return Contents({"spot": self.spot.to_toml(), "buckets": [list(each) for each in self.buckets]}, arrays)

    @classmethod
    def read(cls, file: Container) -> Self:
        header = Fields(file.path, file.header)
        spot, _ = spot_and_tree(header)
        record = Record.read(file, players=2)
        form = compile_spot(spot)
        buckets = _read_counts(header, len(form.streets))
        maps = _read_maps(file, form, buckets)
        snapshot = Snapshot(record.iterations, StoredArrays(file, LEARNED))
        tables = BucketTables(bucketed_form(form, maps, buckets=buckets, count=1), np.float32)
        for player, name in enumerate(AVERAGES):
            file.check(name, (tables.layout.entries[player],), (np.float32,))

        def results() -> BucketedResults:
            return BucketedResults(form, maps, snapshot_strategy(tables.layout, snapshot))

        return cls(
            record=record,
            snapshot=snapshot,
            path=file.path,
            spot=spot,
            make_reader=lambda: SpotReader(spot, form, results()),
            maps=maps,
            buckets=buckets,
        )


class BucketedResults(EvaluatedResults):
    """Strategies of hands read from those of their buckets, and their exact values before the last street."""

    probability_bits = 32
    threads = 1

    def __init__(self, form: PublicForm, maps: BucketMaps, strategy: Callable[[int], FloatArray]) -> None:
        self.form = form
        self.strategy = with_real_cards(form, maps, strategy)

    def encoder(self, street: int, runouts: slice, rows: NDArray[np.generic]) -> Callable[[], None]:
        return partial(encode_rows, self.form, self.strategy, street, runouts, rows)

    @cached_property
    def early_values(self) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        evaluator = StrategyEvaluator(self.form)
        return evaluator.values_before_last(0, self.strategy), evaluator.values_before_last(1, self.strategy)


def _read_counts(header: Fields, streets: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    counts = header.value("buckets")
    if not isinstance(counts, list) or len(counts) != 2 or not all(_are_counts(each, streets) for each in counts):
        raise header.wrong("buckets", "is not a list of numbers of buckets per player and street")
    return tuple(counts[0]), tuple(counts[1])


def _are_counts(value: object, streets: int) -> bool:
    """Whether a value of a header is a number of buckets for each street."""
    if not isinstance(value, list) or len(value) != streets:
        return False
    return all(type(count) is int and 0 < count < 2**31 for count in value)


def _read_maps(file: Container, form: PublicForm, buckets: tuple[tuple[int, ...], tuple[int, ...]]) -> BucketMaps:
    """The maps of a file, refused where they point beyond the tables."""
    maps_of: list[tuple[IntArray, ...]] = []
    for player in range(2):
        maps = []
        for number, street in enumerate(form.streets):
            name = f"bucket.{player}.{number}"
            file.check(name, (len(street.parent), len(form.hands[player].weight)), (np.int32,))
            map_ = file.array(name)
            if map_.size and not (int(map_.min()) >= 0 and int(map_.max()) < buckets[player][number]):
                raise InvalidFile(file.path, f"is damaged: {name} has buckets that do not exist")
            maps.append(map_)
        maps_of.append(tuple(maps))
    return maps_of[0], maps_of[1]


PRICED_BYTES = 2 * 4  # per entry: probabilities, decision by decision and joined
MEASURE_EVERY = 100  # iterations at most, with a target: a measurement walks every runout


class BucketedSpotProblem(BucketedProblem[PricedEngine]):
    """A spot with buckets. Targets are in percent of the pot."""

    kind = Kind.BUCKETED
    unit = "% of the pot"
    variant = "discounted"  # measured: less exploitable than linear after as many runouts
    solution_type = BucketedSpotSolution
    max_iterations = 100_000
    choice: BucketChoice

    def __init__(self, spot: Spot, options: SolveOptions) -> None:
        """The spot with the buckets in the options, or the one that is resumed."""
        self.spot, earlier = spot, options.resume
        self._resumed: SpotBuckets | None = None
        if isinstance(earlier, BucketedSpotSolution):
            earlier.check_same(spot)
            self.spot, self._resumed = earlier.spot, SpotBuckets(earlier.maps, earlier.buckets)
            super().__init__(options, earlier.settings)
        else:
            if isinstance(earlier, Solution):
                reason = f"cannot resume {earlier.where}, which was started without"
                raise InvalidOption("buckets", options.buckets, reason)
            super().__init__(options, None)
        self.name = self.spot.name or "spot"
        self.scale = 100 / self.spot.pot

    def choose_buckets(self, text: str | None) -> BucketChoice:
        """The buckets in the options."""
        if self.spot.locks:
            raise InvalidOption("locks", lock_text(self.spot.locks[0]), "cannot be combined with buckets")
        if not isinstance(text, str):
            raise InvalidOption("buckets", text, "must be text such as turn=500,river=500")
        choice = BucketChoice.parse(text)
        for street in (*dict(choice.counts), *choice.lossless):
            if street not in self.spot.streets:
                raise InvalidOption("buckets", text, f"names the {street}, which is before this spot")
        if not choice.file:
            choice.check(self.spot.streets[1:])
        return choice

    @cached_property
    def public_form(self) -> PublicForm:
        """Every runout, which the exact price needs."""
        return compile_spot(self.spot)

    @cached_property
    def buckets(self) -> SpotBuckets:
        """The maps from hands to buckets, and the numbers of buckets."""
        return self._resumed or spot_buckets(self.spot, self.public_form, self.choice)

    def check_fits(self, request: Request) -> None:
        """Where nothing is merged, regrets and averages are those of a full solve; a price reads the strategy.

        Tables of buckets are small, and the engine counts them.
        """
        if self.choice.file or self.choice.counts:
            return
        size, threads = spot_size(self.spot), request.threads or engines.available_cores()
        options = {"storage": 32, "threads": threads, "predicts": request.predicts}
        learned = engines.estimate("numba", engines.FormKind.PUBLIC, size, **options) or 0
        needed, free = learned + PRICED_BYTES * size.entries, available_bytes()
        if needed > free:
            advice = [Advice("buckets", None, "with numbers take much less")]
            raise WouldNotFit(f"{self.name} without buckets", needed=needed, available=free, advice=advice)

    def measure_every(self, iterations: int, target: float | None) -> int | None:
        return iterations if target is None else min(MEASURE_EVERY, max(1, iterations // 10))

    def form(self) -> BucketedForm:
        maps, counts = self.buckets
        return bucketed_form(self.public_form, maps, buckets=counts, count=self.count, seed=self.seed)

    def tree_hash(self, form: BucketedForm) -> str:
        """Of the tree: a file holds the buckets, so a solve that is resumed has the same."""
        return tree_hash(form.tree)

    def create(self, form: BucketedForm, request: Request) -> PricedEngine:
        engine = engines.create(
            request.engine, form, device=request.device, threads=request.threads, predicts=request.predicts
        )
        return PricedEngine(engine, bucket_evaluator_beside(engine, self.public_form), self.buckets[0])

    def size(self, form: BucketedForm) -> tuple[int, int]:
        """Public nodes of the spot, and decisions × buckets."""
        runouts = np.array([len(street.parent) for street in self.public_form.streets])
        return int(runouts[form.tree.street].sum()), bucketed_sets(form)

    def solution(self, record: Record, form: BucketedForm, engine: PricedEngine) -> BucketedSpotSolution:
        def results() -> BucketedResults:
            return BucketedResults(self.public_form, self.buckets[0], engine.engine.strategy)

        maps, counts = self.buckets
        return BucketedSpotSolution(
            record=record,
            snapshot=engine.snapshot(copy=False),
            spot=self.spot,
            make_reader=lambda: SpotReader(self.spot, self.public_form, results()),
            maps=maps,
            buckets=counts,
        )

"""A game from the deal as a problem to solve with buckets, on boards drawn at random.

Exploitability is not measured while it is solved: with real cards, over every board, it takes far longer than the
iterations.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless import engines
from regretless.engines import BucketedEngine, FormKind, engine_if_able
from regretless.errors import InvalidFile, InvalidOption, MissingOption
from regretless.forms.bucketed import BucketedForm
from regretless.forms.public import NodeKind
from regretless.holdem.buckets.build import build_buckets
from regretless.holdem.buckets.choice import BucketChoice
from regretless.holdem.buckets.divided import DividedBuckets
from regretless.holdem.buckets.plan import BucketPlan
from regretless.holdem.buckets.table import Buckets
from regretless.holdem.form.betting import betting_of
from regretless.holdem.games.big_blinds import MILLI, UNIT
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.nolimit.boards import GameBuckets
from regretless.holdem.nolimit.form import acting_streets, game_buckets, make_form
from regretless.holdem.nolimit.reader import NoLimitReader
from regretless.holdem.nolimit.solution import NoLimitSolution
from regretless.holdem.spots.question import StreetName
from regretless.kinds import Kind
from regretless.solving.options import SolveOptions
from regretless.solving.problem import Machine, Problem, Request
from regretless.solving.record import Record, Settings
from regretless.solving.solution import Solution

__all__ = ["NoLimitProblem"]

SAMPLE_RUNOUTS = 16  # per iteration
ITERATIONS = 1000


class _Tables:
    """Tables of buckets, built when the first board is looked up: by then it is known that the game fits in memory."""

    def __init__(self, plan: BucketPlan, found: Buckets | None = None) -> None:
        self.plan, self._given = plan, found

    @cached_property
    def found(self) -> Buckets:
        return self._given or build_buckets(self.plan)

    def count(self, street: StreetName) -> int:
        return self.plan.count(street)

    def lookup(self, boards: Any) -> NDArray[np.uint16]:
        return self.found.lookup(boards)


class NoLimitProblem(Problem[BucketedForm, BucketedEngine]):
    """A game from the deal with buckets."""

    kind = Kind.DEALT
    unit = UNIT
    scale = MILLI
    form_name = "public"
    variant = "linear"
    forms = (FormKind.BUCKETED,)
    solution_type = NoLimitSolution
    measures = False

    def __init__(self, game: HoldemGame, options: SolveOptions) -> None:
        """The game with the buckets in the options, or the one that is resumed."""
        self.game, earlier = game, options.resume
        self._earlier: NoLimitSolution | None = None  # which must have had the same buckets
        if isinstance(earlier, NoLimitSolution):
            if replace(game, name=earlier.rules.name) != earlier.rules:
                reason = f"is a solve of a different game from {game.name or 'the one given'}"
                raise InvalidOption("resume", earlier.where, reason)
            settings = earlier.settings
            assert settings.sample_runouts is not None
            self.game, self._earlier = earlier.rules, earlier
            self.choice = None if settings.buckets is None else BucketChoice.parse(settings.buckets)
            self.count, self.seed = settings.sample_runouts, settings.seed
        else:
            if isinstance(earlier, Solution):
                raise InvalidOption("resume", earlier.where, "is not a solve of a game from the deal")
            self.choice = self._choose(options.buckets)
            self.count = SAMPLE_RUNOUTS if options.sample_runouts is None else options.sample_runouts
            self.seed = options.seed or 0
        self.name = self.game.name or "hold'em"

    def _choose(self, text: str | None) -> BucketChoice | None:
        if text is None:
            if any(acting_streets(betting_of(self.game).tree).values()):
                hint = "give a file from regretless buckets, or flop=50,turn=50,river=50,method=percentile"
                raise MissingOption("buckets", hint)
            return None
        if not isinstance(text, str):
            raise InvalidOption("buckets", text, "must be text such as flop=50,turn=50,river=50")
        return BucketChoice.parse(text)

    def spelled(self, options: SolveOptions) -> SolveOptions:
        if not isinstance(options.buckets, str):
            return options
        return replace(options, buckets=str(BucketChoice.parse(options.buckets)))

    def settle(self, settings: Settings) -> Settings:
        buckets = None if self.choice is None else str(self.choice)
        return replace(super().settle(settings), buckets=buckets, sample_runouts=self.count)

    @cached_property
    def tables(self) -> _Tables | None:
        """Those of a file, or to be built."""
        choice, earlier = self.choice, self._earlier
        if choice is None:
            return None
        if not choice.file:
            if not choice.counts:
                return None
            counts: dict[str, Any] = dict(choice.counts)
            return _Tables(BucketPlan(**counts, method=choice.method))
        tables = Buckets.load(choice.file)
        if tables.plan.board:
            raise InvalidFile(choice.file, "has the buckets of one flop only: a game needs those of all boards")
        if earlier is not None and not _alike(earlier.buckets, DividedBuckets.of(tables)):
            raise InvalidFile(choice.file, f"has other buckets than {earlier.where} was started with")
        return _Tables(tables.plan, tables)

    @cached_property
    def buckets(self) -> GameBuckets:
        """The buckets of every street."""
        if self.choice is None:
            return game_buckets(self.game, None, ())
        streets = () if self.tables is None else self.tables.plan.streets
        known = tuple(street for street in streets if street not in self.choice.lossless)
        return game_buckets(self.game, self.tables, known, str(self.choice))

    def end(self, iterations: int | None, target: float | None) -> tuple[int, float | None]:
        return iterations or ITERATIONS, None

    def form(self) -> BucketedForm:
        return make_form(self.game, self.buckets, count=self.count, seed=self.seed)

    def create(self, form: BucketedForm, request: Request) -> BucketedEngine:
        return engines.create(
            request.engine, form, device=request.device, threads=request.threads, predicts=request.predicts
        )

    def checkpoint_bytes(self, form: BucketedForm, engine: BucketedEngine) -> int:
        return engine.kept_bytes

    def size(self, form: BucketedForm) -> tuple[int, int]:
        """Betting nodes, and decisions × buckets."""
        tree = form.tree
        acts = tree.kind == NodeKind.DECISION
        sets = np.array(form.buckets)[tree.player[acts], tree.street[acts]].sum()
        return len(tree.kind), int(sets)

    def solution(self, record: Record, form: BucketedForm, engine: BucketedEngine) -> NoLimitSolution:
        return NoLimitSolution.reading(
            lambda: NoLimitReader(form, self.buckets, engine.strategy),
            record=record,
            snapshot=engine.snapshot(copy=False),
            rules=self.game,
            buckets=None if self.tables is None else DividedBuckets.of(self.tables.found),
        )

    # --- resuming ----------------------------------------------------------------------------------------------------

    def machine(self, earlier: Solution) -> Machine:
        """The engine and device of the earlier solve: they change the last bits of numbers, unlike threads."""
        return Machine(engine=engine_if_able(earlier.engine, self.forms), device=earlier.device)


def _alike(first: DividedBuckets | None, second: DividedBuckets) -> bool:
    """Whether two abstractions give every hand the same bucket."""
    if first is None or first.header() != second.header():
        return False
    mine, theirs = first.arrays(), second.arrays()
    return all(np.array_equal(mine[name], theirs[name]) for name in mine)

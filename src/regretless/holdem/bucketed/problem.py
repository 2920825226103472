"""A hold'em spot as a problem to solve with buckets and sampled runouts, priced with real cards."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from regretless import engines
from regretless.engines import FormKind, PricedEngine, bucket_evaluator_beside, engine_if_able
from regretless.errors import Advice, InvalidOption
from regretless.forms.bucketed import BucketedForm
from regretless.forms.drawn_runouts import bucketed_form
from regretless.forms.public import NodeKind, PublicForm
from regretless.forms.tree_hash import tree_hash
from regretless.holdem.bucketed.maps import SpotBuckets, spot_buckets
from regretless.holdem.bucketed.solution import BucketedAnswers, BucketedSpotSolution
from regretless.holdem.buckets.choice import BucketChoice
from regretless.holdem.form.runouts import compile_spot
from regretless.holdem.reading.reading import SpotReader
from regretless.holdem.spots.lock_text import lock_text
from regretless.holdem.spots.spot import Spot
from regretless.kinds import Kind
from regretless.solving.options import SolveOptions
from regretless.solving.problem import Machine, Problem, Request
from regretless.solving.record import Record, Settings
from regretless.solving.solution import Solution

__all__ = ["BucketedSpotProblem"]

SAMPLE_RUNOUTS = 16  # per iteration
ITERATIONS = 1000
MOST_ITERATIONS = 100_000  # limit if only a target is given
MEASURE_EVERY = 100  # iterations at most, with a target: a measurement walks every runout


class BucketedSpotProblem(Problem[BucketedForm, PricedEngine]):
    """A spot with buckets. Targets are in percent of the pot."""

    kind = Kind.BUCKETED
    unit = "% of the pot"
    form_name = "public"
    variant = "discounted"  # measured: less exploitable than linear after as many runouts
    forms = (FormKind.BUCKETED,)
    solution_type = BucketedSpotSolution

    def __init__(self, spot: Spot, options: SolveOptions) -> None:
        """The spot with the buckets in the options, or the one that is resumed."""
        self.spot, earlier = spot, options.resume
        self._resumed: SpotBuckets | None = None
        if isinstance(earlier, BucketedSpotSolution):
            earlier.check_same(spot)
            settings = earlier.settings
            assert settings.buckets is not None
            assert settings.sample_runouts is not None
            self.spot = earlier.spot
            self.choice = BucketChoice.parse(settings.buckets)
            self.count, self.seed = settings.sample_runouts, settings.seed
            self._resumed = earlier.maps, earlier.buckets
        else:
            self.choice = self._choose(options)
            self.count = SAMPLE_RUNOUTS if options.sample_runouts is None else options.sample_runouts
            self.seed = options.seed or 0
        self.name = self.spot.name or "spot"
        self.scale = 100 / self.spot.pot

    def _choose(self, options: SolveOptions) -> BucketChoice:
        if isinstance(earlier := options.resume, Solution):
            reason = f"cannot resume {earlier.where}, which was started without one"
            raise InvalidOption("buckets", options.buckets, reason)
        if self.spot.locks:
            raise InvalidOption("locks", lock_text(self.spot.locks[0]), "cannot be combined with buckets")
        if not isinstance(options.buckets, str):
            raise InvalidOption("buckets", options.buckets, "must be text such as turn=500,river=500")
        choice = BucketChoice.parse(options.buckets)
        for street in (*dict(choice.counts), *choice.lossless):
            if street not in self.spot.streets:
                raise InvalidOption("buckets", options.buckets, f"names the {street}, which is before this spot")
        if not choice.file:
            choice.check(self.spot.streets[1:])
        return choice

    def spelled(self, options: SolveOptions) -> SolveOptions:
        if not isinstance(options.buckets, str):
            return options
        return replace(options, buckets=str(BucketChoice.parse(options.buckets)))

    def settle(self, settings: Settings) -> Settings:
        return replace(super().settle(settings), buckets=str(self.choice), sample_runouts=self.count)

    @cached_property
    def public_form(self) -> PublicForm:
        """Every runout, which the exact price needs."""
        return compile_spot(self.spot)

    @cached_property
    def buckets(self) -> SpotBuckets:
        """The maps from hands to buckets, and the numbers of buckets."""
        return self._resumed or spot_buckets(self.spot, self.public_form, self.choice)

    def in_units(self, target: float) -> float:
        return target / 100 * self.spot.pot

    def end(self, iterations: int | None, target: float | None) -> tuple[int, float | None]:
        if iterations is None:
            iterations = ITERATIONS if target is None else MOST_ITERATIONS
        return iterations, target

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

    def checkpoint_bytes(self, form: BucketedForm, engine: PricedEngine) -> int:
        return engine.kept_bytes

    def size(self, form: BucketedForm) -> tuple[int, int]:
        """Public nodes of the spot, and decisions × buckets."""
        tree = form.tree
        acts = tree.kind == NodeKind.DECISION
        runouts = np.array([len(street.parent) for street in self.public_form.streets])
        sets = np.array(form.buckets)[tree.player[acts], tree.street[acts]].sum()
        return int(runouts[tree.street].sum()), int(sets)

    def solution(self, record: Record, form: BucketedForm, engine: PricedEngine) -> BucketedSpotSolution:
        def answers() -> BucketedAnswers:
            return BucketedAnswers(self.public_form, self.buckets[0], engine.engine.strategy)

        maps, counts = self.buckets
        return BucketedSpotSolution(
            record=record,
            snapshot=engine.snapshot(copy=False),
            spot=self.spot,
            make_reader=lambda: SpotReader(self.spot, self.public_form, answers()),
            maps=maps,
            buckets=counts,
        )

    # --- resuming ----------------------------------------------------------------------------------------------------

    def machine(self, earlier: Solution) -> Machine:
        """The engine and device of the earlier solve: they change the last bits of numbers, unlike threads."""
        return Machine(engine=engine_if_able(earlier.engine, self.forms), device=earlier.device)

    if_final = (Advice("keep_regrets", None, "saves them", keyword="save(path, resumable=True)"),)

    def why_final(self, earlier: Solution) -> str:
        return "is a finished solve without its regrets, which a resume needs"

"""A hold'em spot as a problem to solve: betting tree × runouts × hands, for any engine of the public form."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Unpack

from regretless.engines import PublicEngine, devices
from regretless.errors import InvalidOption, MissingOption
from regretless.forms.public import PublicForm
from regretless.forms.public_size import PublicSize
from regretless.forms.tree_hash import tree_hash
from regretless.holdem.estimate import STORAGES, spot_size
from regretless.holdem.fitting import check_fits
from regretless.holdem.form.runouts import SpotParts, compile_spot, parts_of
from regretless.holdem.locking import apply_locks, with_sources
from regretless.holdem.reading.spot_reader import SpotReader
from regretless.holdem.reading.spot_results import EngineResults
from regretless.holdem.solution import SpotSolution
from regretless.holdem.spots.locks import AnyLock
from regretless.holdem.spots.spot import Spot
from regretless.solving.kinds import Kind
from regretless.solving.options import NO_OPTIONS, SolveOptions, SpotKeywords
from regretless.solving.problem import Machine, Request
from regretless.solving.public_problem import PublicFormProblem
from regretless.solving.record import Record
from regretless.solving.solution import Solution
from regretless.solving.solve import solve_problem
from regretless.variants.presets import read_variant
from regretless.variants.variant import Variant, stores_predictions

__all__ = ["TARGET", "SpotProblem", "solve_spot", "spot_predicts"]

TARGET = 0.3  # percent of the pot; default if neither a target nor a number of iterations is given
VARIANTS = {3: "postflop", 4: "turn", 5: "river"}  # fastest, as measured, by cards on the board


def solve_spot(spot: Spot | None = None, **keywords: Unpack[SpotKeywords]) -> SpotSolution:
    """Solve a spot; keywords as in `rl.solve`, except `buckets`. With `resume`, the spot may be omitted.

    >>> ranges = {"oop": {"range": "AK, KQs, QJs, 99-77, 22"}, "ip": {"range": "AA-QQ, KQ, JTs, 55"}}
    >>> fields = {"board": "Kh Qs Js 2c 3d", "pot": 100, "stack": 200, "bets": {"bet": "50%, 100%"}}
    >>> spot = Spot.from_mapping(ranges | fields)
    >>> solution = solve_spot(spot, target=0.1)
    >>> solution.exploitability_pct_pot <= 0.1, round(sum(solution.ev.values()))
    (True, 100)
    >>> solution.root.actions
    ('check', 'bet 50', 'bet 100')
    """
    options = SolveOptions.read(keywords)
    if isinstance(options.resume, str | os.PathLike):
        options = replace(options, resume=SpotSolution.load(os.fspath(options.resume)))
    if spot is None and options.resume is None:
        raise MissingOption("spot", "give a spot, or a solve to resume")
    solution = solve_problem(SpotProblem(spot, options), options)
    assert isinstance(solution, SpotSolution)
    return solution


def spot_predicts(spot: Spot, variant: str | Variant | None) -> bool:
    """Whether this variant, or else the spot's default, stores predictions beside the regrets."""
    return stores_predictions(read_variant(VARIANTS[len(spot.board)] if variant is None else variant))


class SpotProblem(PublicFormProblem):
    """A spot with its locks. Targets are in percent of the pot."""

    kind = Kind.SPOT
    unit = "% of the pot"
    solution_type = SpotSolution
    default_target = TARGET
    default_iterations = max_iterations = 10_000

    def __init__(self, spot: Spot | None, options: SolveOptions = NO_OPTIONS) -> None:
        """The spot with the locks in the options, or the one that is resumed."""
        self.spot = _spot(spot, options)
        if options.sample_runouts is not None and len(self.spot.streets) == 1:
            raise InvalidOption("sample_runouts", options.sample_runouts, "needs cards to come, and a river has none")
        self.name = self.spot.name or "spot"
        self.scale = 100 / self.spot.pot
        self.variant = VARIANTS[len(self.spot.board)]

    @cached_property
    def _parts(self) -> SpotParts:
        return parts_of(self.spot)

    @cached_property
    def _size(self) -> PublicSize:
        return spot_size(self.spot, self._parts)

    def public_size(self) -> PublicSize:
        return self._size

    def check_fits(self, request: Request) -> None:
        if request.choice.on_gpu:
            self.check_fits_gpu(request)
            return
        storage = request.settings.storage
        if storage not in STORAGES:
            storage = STORAGES[0]  # other engines take at least as much
        threads = request.threads or devices.available_cores()
        check_fits(self.spot, storage=storage, threads=threads, predicts=request.predicts, size=self.public_size())

    def form(self) -> PublicForm:
        return compile_spot(self.spot, self._parts)

    def tree_hash(self, form: PublicForm) -> str:
        return tree_hash(form.tree)

    def prepare(self, engine: PublicEngine, *, resumed: bool) -> None:
        apply_locks(engine, self.spot, resumed=resumed)

    def size(self, form: PublicForm) -> tuple[int, int]:
        size = self.public_size()
        return int(size.public_nodes.sum()), size.information_sets

    def solution(self, record: Record, form: PublicForm, engine: PublicEngine) -> SpotSolution:
        return SpotSolution(
            record=record,
            snapshot=engine.snapshot(copy=False),
            spot=self.spot,
            make_reader=lambda: SpotReader(self.spot, form, EngineResults(engine)),
        )

    # --- resuming ----------------------------------------------------------------------------------------------------

    def machine(self, earlier: Solution) -> Machine:
        """The earlier device if this machine has it, because another device changes the last bits.

        Threads do not, so they are chosen anew.
        """
        if earlier.settings.storage not in STORAGES:
            return Machine(engine=earlier.engine)
        has = earlier.device == "cpu" or (earlier.device == "cuda" and devices.cuda_devices() > 0)
        return Machine(device=earlier.device if has else None)


def _spot(spot: Spot | None, options: SolveOptions) -> Spot:
    locks: Sequence[AnyLock] = options.locks or ()
    if not isinstance(locks, list | tuple) or not all(isinstance(lock, AnyLock) for lock in locks):
        raise InvalidOption("locks", locks, "is not a list of locks")
    earlier = options.resume
    if earlier is not None and locks:
        raise InvalidOption("locks", locks, "cannot be changed by a resume")
    if isinstance(earlier, SpotSolution):
        earlier.check_same(spot)
        return earlier.spot
    if spot is None:
        resumed = earlier.where if isinstance(earlier, Solution) else earlier
        raise InvalidOption("resume", resumed, "is not the solve of a spot")
    if locks:
        spot = replace(spot, locks=(*spot.locks, *locks))
    return with_sources(spot)

"""The numba engine of the public form: alternating vector CFR on rows of hands.

Arithmetic is in 32 bits, at terminals in 64 where blockers remove nearly all of a range and 32-bit differences would
cancel. Regrets and averages are stored in 32 or 16 bits (`engines/formats.py`).

The parts, in the order in which numbers pass through them: `engines/layout.py` and `stored.py` (where numbers are
stored), `plan` (the rows of each node), `tables` (hands and runouts), `jobs` (the rows themselves), `lanes` (vectors),
`nodes` and `terminals` (the arithmetic), `walk` (one runout after another), `iterate` (whole iterations), `team`
(threads).

`StrategyEvaluator` gives exact values and exploitability of strategies that come from elsewhere. It reads them runout
by runout, so it takes a small fraction of the memory of a solve.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regretless.compiling.numba_internals import signatures
from regretless.engines.contract import Arriving, Evaluation, Mode, PartEngine, PublicStrategy
from regretless.engines.formats import SALT, largest_value, met_weights, needs_wide_tiles, number_format
from regretless.engines.layout import block_ends
from regretless.engines.learned import Numbers
from regretless.engines.numba.public.drawn import DrawnRunoutRows
from regretless.engines.numba.public.jobs import (
    Job,
    Learned,
    WalkScratch,
    aligned,
    bytes_of,
    divide,
    lock_rows,
    make_blocks,
    make_scratch,
    make_steps,
    second_runouts,
)
from regretless.engines.numba.public.kernels.iterate import APART, BELOW, FIRST, GROUP, LAST, iterate
from regretless.engines.numba.public.kernels.processor import converts_halves
from regretless.engines.numba.public.kernels.walk import BEST, LEARN, MEAN
from regretless.engines.numba.public.plan import make_plans
from regretless.engines.numba.public.records import check_limits
from regretless.engines.numba.public.sizes import team_members
from regretless.engines.numba.public.tables import fill_lists, make_tables
from regretless.engines.numba.public.team import RunoutWalk, StreamedStrategy, Team, Walk
from regretless.engines.sampled import RunoutSampling
from regretless.engines.stored import StoredEngine
from regretless.errors import InvalidOption
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import PublicForm
from regretless.forms.public_size import size_of_form
from regretless.variants.variant import Schedule, predicts

__all__ = ["NumbaPublicEngine", "StrategyEvaluator", "kernels_are_compiled"]


MAX_ROWS = 256  # iterations per order
WALKS = {Mode.LEARN: LEARN, Mode.BEST: BEST, Mode.MEAN: MEAN}


class NumbaPublicEngine(StoredEngine):
    """One public form on the processor."""

    name = "numba"
    device = "cpu"
    tolerance = 1e-5

    def __init__(
        self,
        form: PublicForm,
        *,
        threads: int = 1,
        storage: int = 32,
        own_reach: bool = True,
        runouts: RunoutSampling | None = None,
    ) -> None:
        """`storage` is the number of bits per regret or average, 32 or 16.

        With `runouts`, iterations walk only some, and schedules must be those of its variant. Without `own_reach`,
        averages weight every iteration's strategy equally, however likely the player is to get there; this also
        converges.
        """
        check_limits(form)
        number = number_format(storage)
        if number.regret == np.float16 and not converts_halves():
            raise InvalidOption("storage", storage, "needs a processor that converts half-precision floats (F16C)")
        super().__init__(form, number, aligned)
        self.threads = team_members(size_of_form(form), threads)
        self._met = met_weights(form.hands, form.deck)
        self._pairs = float(form.hands[0].weight @ self._met[0])
        self._units = [number.unit(largest_value(form, self._met[own], own)) for own in range(2)]
        self._tile_type = np.float64 if needs_wide_tiles(form.hands, self._met) else np.float32
        self._plans = make_plans(self.layout, self._tile_type)
        self._tables = make_tables(form)
        self._steps = make_steps(MAX_ROWS)
        reach_share = number.reach_share if own_reach else 0.0
        self._steps.extras["reach_share"] = reach_share
        self._division = divide(self._plans[0], second_runouts(form), self.threads, len(block_ends(form)) - 1)
        self._drawn: DrawnRunoutRows | None = None
        slots = self._division.slots
        if runouts is not None:
            self._drawn = DrawnRunoutRows(form, runouts, number, reach_share)
            self._drawn_division = self._drawn.divide(self._plans[0], self.threads, self._division)
            slots = max(slots, self._drawn_division.slots)
            self._division, self._drawn_division = (
                each._replace(slots=slots) for each in (self._division, self._drawn_division)
            )
        self._scratch = self._make_scratch(slots)
        self._blocks = make_blocks(form, self._plans, self._units, self.threads)
        self._team = Team(self._division)
        self._used: tuple[int, bool] | None = None  # `changes`, and whether on drawn runouts, of the arguments in use
        # Compile the kernels or load them from disk, so that setup and not the first iteration pays for it.
        self._run(0, [])

    @property
    def kept_bytes(self) -> int:
        """Regrets, averages, and the tables for finding and evaluating them."""
        return bytes_of(list(self._arrays().values()), self._plans, self._tables)

    @property
    def memory_bytes(self) -> int:
        """`kept_bytes` and the threads' working rows."""
        drawn = 0 if self._drawn is None else self._drawn.nbytes
        return self.kept_bytes + bytes_of(self._blocks, self._scratch) + drawn

    def advance(self, schedule: Schedule) -> None:
        """Run one iteration per row of `schedule`."""
        if predicts(schedule):
            self.store_predictions()
        learning = [Walk(own, LEARN) for own in range(2) if own not in self.fixed]
        if self._drawn is not None:
            self._advance_drawn(self._drawn, len(schedule), learning)
            return
        has_locks = any(self.locked)
        rows_per_order = 1 if has_locks else MAX_ROWS  # locks are restored after every walk
        for first in range(0, len(schedule), rows_per_order):
            rows = schedule[first : first + rows_per_order]
            weight = self._write_steps(rows)
            if has_locks:
                for walk in learning:
                    self._run(1, [walk])
                    self.restore_locks(walk.own)
            else:
                self._run(len(rows), learning)
            self.iteration, self.weight = self.iteration + len(rows), weight

    def _advance_drawn(self, drawn: DrawnRunoutRows, count: int, learning: list[Walk]) -> None:
        """So many iterations, each on runouts of its own."""
        for _ in range(count):
            if drawn.draw(self.iteration + 1, self._tables[0].runouts):
                self._used = None
            for walk in learning:
                self._run(1, [walk])
                self.restore_locks(walk.own)
            self.iteration += 1
            self.weight = drawn.total_weight(self.iteration)

    def _write_steps(self, schedule: Schedule) -> float:
        """Prepare the next iterations; returns the total weight of the average after them."""
        weights, extras = (each[: len(schedule)] for each in self._steps)
        weights[:] = schedule
        weights["average_decay"], weights["average_weight"], weight = self.format.in_steps(
            schedule["average_decay"], schedule["average_weight"], self.weight
        )
        extras["salt"] = np.arange(self.iteration + 1, self.iteration + 1 + len(schedule)) * SALT % 2**24
        return weight

    def evaluate(self, strategy: PublicStrategy | None = None) -> Evaluation:
        """Values and best responses, in the form's unit, by default of the average strategy.

        A strategy that is handed in is evaluated in 32 bits, whatever the storage. Hands that are equivalent on a
        runout all play what the first of them plays. In a best response, locked hands still follow the evaluated
        strategy; a fixed player's best response is the evaluated strategy.
        """
        walks = []
        for own in range(2):
            if own not in self.fixed:
                walks.append(Walk(own, BEST))
            walks.append(Walk(own, MEAN))
        if strategy is None:
            self._run(1, walks)
            roots = {walk: self._mean(walk) for walk in walks}
        else:
            roots = self._evaluate_streamed(strategy, walks)
        values = roots[Walk(0, MEAN)], roots[Walk(1, MEAN)]
        # A best response is worth at least as much; rounding must not make it worth less.
        best = [max(roots.get(Walk(own, BEST), values[own]), values[own]) for own in range(2)]
        return Evaluation(values, (best[0], best[1]))

    def root_values(self, player: int, strategy: PublicStrategy | None = None, *, best: bool = False) -> FloatArray:
        """[H] each hand's expected value; 0 where no opposing hand is possible.

        Both players follow a strategy, by default their averages; if `best`, the player best-responds to it.
        """
        walk = self._measuring(player, best=best)
        if strategy is None:
            self._run(1, [walk])
        else:
            self._evaluate_streamed(strategy, [walk])
        values = self._root(walk) / self._units[player]
        met = self._met[player]
        return np.divide(values, met, out=np.zeros_like(values), where=met > 0)

    def values_before_last(
        self, player: int, strategy: PublicStrategy | None = None, *, best: bool = False
    ) -> list[NDArray[np.float32]]:
        """For each street before the last, [runouts, nodes of the street, H] values times the opposing reach.

        Both players follow a strategy, by default their averages; if `best`, the player best-responds to it. Nodes are
        in tree order. The last street's values, by far the most, can be recomputed from one runout's strategies.
        """
        tree, plan, scratch = self.form.tree, self._plans[player], self._make_scratch()
        row = np.zeros(len(tree.street), dtype=np.int64)
        row[plan.nodes["node"]] = plan.nodes["value_at"]
        hands = np.arange(len(self.form.hands[player].weight))
        streets = range(len(self.form.streets) - 1)
        rows = [row[tree.street == street][:, None] + hands for street in streets]
        values = [
            np.empty((len(self.form.streets[street].parent), *rows[street].shape), np.float32) for street in streets
        ]
        if not streets:
            return values
        streamed = None if strategy is None else StreamedStrategy(self.layout, strategy)
        job = self._job(player)
        walk = RunoutWalk(
            self._measuring(player, best=best), job if streamed is None else streamed.job(player, job), scratch
        )
        walk.run(FIRST)
        for runout in range(second_runouts(self.form)):
            if streamed is not None:
                streamed.read(runout)
                streamed.aim(player, walk.job)
            walk.run(BELOW, runout)
            if len(streets) > 1:  # the walk overwrites these values on the next runout
                values[1][runout] = scratch.value[rows[1]] / self._units[player]
        walk.run(LAST)
        values[0][0] = scratch.value[rows[0]] / self._units[player]
        return values

    def _measuring(self, player: int, *, best: bool) -> Walk:
        """The walk of a player who best-responds or plays the evaluated strategy, as a fixed player always does."""
        return Walk(player, BEST if best and player not in self.fixed else MEAN)

    def _evaluate_streamed(self, strategy: PublicStrategy, walks: list[Walk]) -> dict[Walk, float]:
        """The root values of a strategy in these walks, which run side by side so that each decision is read once."""
        streamed = StreamedStrategy(self.layout, strategy)
        runout_walks = [
            RunoutWalk(walk, streamed.job(walk.own, self._job(walk.own)), self._make_scratch()) for walk in walks
        ]
        for each in runout_walks:
            each.run(FIRST)
        for runout in range(second_runouts(self.form)):
            streamed.read(runout)
            for each in runout_walks:
                streamed.aim(each.walk.own, each.job)
                each.run(BELOW, runout)
        for each in runout_walks:
            each.run(LAST)
        return {walk: self._mean(walk) for walk in walks}

    # --- a game in parts ---------------------------------------------------------------------------------------------

    def begin(self, schedule: Schedule) -> None:
        """Begin an iteration that is walked in parts."""
        if predicts(schedule):
            self.store_predictions()
        self.weight = self._write_steps(schedule)
        self.iteration += 1

    def down(self, own: int, mode: Mode) -> Arriving:
        """Reach where the second street begins."""
        self._run(1, [Walk(own, WALKS[mode])], parts=FIRST)
        opponent, value = self._entries[own]
        return Arriving(self._scratch.opponent[opponent], self._scratch.value[value])

    def below(self, own: int, mode: Mode, arriving: Arriving) -> FloatArray:
        """[blocks, lines, hands], as in `iterate`."""
        opponent, value = self._entries[own]
        self._scratch.opponent[opponent], self._scratch.value[value] = arriving.opponent, arriving.own
        self._run(1, [Walk(own, WALKS[mode])], parts=BELOW | APART)
        blocks = self._blocks[own]
        return self._second_lines(own, blocks.lines.reshape(-1, blocks.size)).copy()

    def up(self, own: int, mode: Mode, sums: FloatArray) -> float:
        """The value of the game, from sums added up in the same order as in `iterate`."""
        total = self._second_lines(own, self._scratch.line[None, : self._blocks[own].size])[0]
        total[:] = 0.0
        for first in range(0, len(sums), GROUP):
            group = sums[first].copy()
            for block in sums[first + 1 : first + GROUP]:
                group += block
            total += group
        self._run(1, [Walk(own, WALKS[mode])], parts=LAST)
        return self._mean(Walk(own, WALKS[mode]))

    @cached_property
    def _entries(self) -> list[tuple[IntArray, IntArray]]:
        """By own player: [lines, hands] indices of the opponent's and of the own reach that enter the second street."""
        indices = []
        for plan in self._plans:
            street = plan.streets[1]
            lines = plan.lines[street["first_line"] : street["last_line"], None]
            opponent = lines["opponent_at"] + np.arange(plan.other_hands)
            indices.append((opponent, lines["own_at"] + np.arange(plan.own_hands)))
        return indices

    def _second_lines(self, own: int, lines: FloatArray) -> FloatArray:
        """[buffers, lines, hands] the lines of the second street in [buffers, size] values of lines."""
        plan = self._plans[own]
        street = plan.streets[1]
        by_line = lines.reshape(len(lines), -1, plan.own_hands)
        return by_line[:, street["first_line"] : street["last_line"]]

    def _make_scratch(self, slots: int = 1) -> WalkScratch:
        return make_scratch(self._plans, self.form.deck, self._tile_type, slots)

    def _job(self, own: int) -> Job:
        kernels, other = self.format.in_kernels, 1 - own
        learned = Learned(
            kernels(self._regret[own]),
            kernels(self._matched[own]),
            kernels(self._average[own]),
            kernels(self._matched[other]),
            kernels(self._average[other]),
            *lock_rows(self.form, self._plans[own], self.locked[own]),
        )
        return Job(self._plans[own], self._tables[own], learned, self._blocks[own])

    def _root(self, walk: Walk) -> FloatArray:
        """[H] values at the root after a walk, in the unit of the storage, times the opposing weight of each hand."""
        first = walk.mode * self._plans[walk.own].own_hands
        return self._blocks[walk.own].root[first : first + len(self.form.hands[walk.own].weight)]

    def _mean(self, walk: Walk) -> float:
        """The value of the game after a walk."""
        summed = float(self._root(walk) @ self.form.hands[walk.own].weight)
        return summed / self._units[walk.own] / self._pairs / self.form.unit

    def _run(self, rows: int, walks: list[Walk], parts: int = FIRST | BELOW | LAST) -> None:
        """These walks, once for each of the first rows of the steps; walks that do not learn need one."""
        drawn = self._drawn if any(walk.mode == LEARN for walk in walks) else None
        if self._used != (self.changes, drawn is not None):
            first, second = self._job(0), self._job(1)
            if drawn is None:
                self._team.use(self._steps, first, second, self._scratch, self._division)
            else:
                jobs = drawn.job(first), drawn.job(second)
                self._team.use(drawn.steps, *jobs, self._scratch, self._drawn_division)
            self._used = self.changes, drawn is not None
        self._team.run(rows, walks, predicts=self.predicts, parts=parts)


class StrategyEvaluator(NumbaPublicEngine):
    """An engine without regrets and averages: it only evaluates strategies that are handed in."""

    def _zeros(self, player: int, dtype: np.dtype[np.generic]) -> Numbers:
        return np.zeros(0, dtype=dtype)


def kernels_are_compiled(storage: int = 32) -> bool:
    """Whether a solve with 32-bit terminals can start at once; otherwise setup compiles for about 20 seconds."""
    try:
        return bool(signatures(fill_lists)) and (storage, 32) in map(_bits, signatures(iterate))
    except (AttributeError, OSError):  # another version of numba, or an unreadable cache: say nothing
        return True


def _bits(signature: Any) -> tuple[int, int]:
    """Bits of a regret and of a number in a tile, from the types of the arguments of `iterate`."""
    *_, regret, reach = signature
    return int(regret.dtype.bitwidth), int(reach.dtype.bitwidth)


if TYPE_CHECKING:
    _conforms: type[PartEngine] = NumbaPublicEngine

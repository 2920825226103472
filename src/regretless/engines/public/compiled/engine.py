"""The numba engine of the public form: alternating vector CFR on rows of hands.

Arithmetic is in 32 bits, at terminals in 64 where blockers remove nearly all of a range and 32 would cancel. What is
learned is kept in 32 bits or in 16:

    regrets     halves (eleven significant bits, from 6e-5 to 65504), in a unit of each player that makes the most a
                hand can win or lose in one iteration 8 to 16, so that sums of thousands of iterations fit
    averages    whole numbers: with W the sum of the weights of all iterations, S / W is at most 1 and counted in
                steps of 1 / 65535, so S ← S · decay + gain · reach · σ becomes

                    s ← s · decay · (W before / W) + 65535 · gain / W · reach · σ

                where a 256th of the reach is the same for all, so that strategies off the path are not lost

The parts, in the order of the data: `public_plan` (where rows are kept), `public_tables` (hands and runouts),
`public_buffers` (the rows themselves), `_public_nodes` and `_public_terminals` (the arithmetic), `_public_walk` (one
runout), `_public_iterate` (one walk).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.engines.contract import Evaluation
from regretless.engines.public.compiled.buffers import aligned, as_kernels_see, bytes_of, make_blocks, make_scratch
from regretless.engines.public.compiled.iterate import BEGIN, BLOCKS, FINISH, Job, iterate
from regretless.engines.public.compiled.locks import STEPS, PublicLocks, node_numbers, one_of
from regretless.engines.public.compiled.plan import LANES, make_plans
from regretless.engines.public.compiled.tables import make_tables
from regretless.engines.public.compiled.walk import BEST, LEARN, MEAN, Learned, Scratch
from regretless.engines.threads import Workers
from regretless.forms.blockers import met
from regretless.forms.history import FloatArray
from regretless.forms.public import PublicForm
from regretless.reprs import brief
from regretless.variants.variant import Schedule, Weights

__all__ = ["PublicEngine", "PublicSnapshot"]

SALT = 0x9E3779  # makes roundings of 16-bit numbers differ from iteration to iteration
LOWEST = -3e38  # a floor that changes nothing
MOST_CANCELLED = 8  # times what is left, over all pairs of hands, before terminals need 64-bit numbers
MOST_CANCELLED_OF_A_HAND = 1000  # the same for a single hand, whose strategy alone would suffer

Float32 = NDArray[np.float32]
Stored = NDArray[Any]  # float32; in 16 bits, float16 for regrets and uint16 for averages

_NO_LOCKS = (np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32))


@dataclass(frozen=True)
class PublicSnapshot:
    """Where a solve stands, as the engine keeps it."""

    iteration: int
    regret: tuple[Stored, ...]  # of each player
    average: tuple[Stored, ...]
    matched: tuple[Stored, ...] | None  # only where the rule predicts
    weight: float  # of all iterations in the average; counts in 16 bits

    __repr__ = brief


class PublicEngine:
    """One public form on the processor.

    >>> from regretless.forms.public_poker import kuhn_public
    >>> from regretless.variants import Plus, schedule
    >>> engine = PublicEngine(kuhn_public())
    >>> engine.advance(schedule(Plus(), first=1, count=100))
    >>> engine.evaluate().exploitability < 0.002
    True
    """

    name = "numba"
    device = "cpu"
    tolerance = 1e-5

    def __init__(self, form: PublicForm, *, threads: int = 1, storage: int = 32, own_reach: bool = True) -> None:
        """`storage` is how many bits a regret or an average takes, 32 or 16.

        Without `own_reach` averages weigh every iteration's strategy alike, however likely the player gets there; it
        converges all the same.
        """
        self.form = form
        self.own_reach = own_reach
        self.threads = threads
        self.iteration = 0
        self._met = _met_weight(form, 0), _met_weight(form, 1)
        self._pairs = float(form.hands[0].weight @ self._met[0])
        tile_type = np.float64 if cancels(form, self._met) else np.float32
        self.plans = make_plans(form, tile_type)
        self.tables = make_tables(form)
        self.units = (_unit(form, self._met, 0), _unit(form, self._met, 1)) if storage == 16 else (1.0, 1.0)
        self._weight = 0.0
        regrets, averages = (np.float32, np.float32) if storage == 32 else (np.float16, np.uint16)
        self._regret = [aligned(plan.entries, regrets) for plan in self.plans]
        self._average = [aligned(plan.entries, averages) for plan in self.plans]
        self._matched = list(self._regret)
        self._scratch = [make_scratch(self.plans, self.tables, tile_type) for _ in range(threads)]
        self._blocks = make_blocks(form, self.plans, self.units, threads)
        self._locks = PublicLocks(form, self.plans, self.tables)
        self._pool = Workers(threads) if threads > 1 and len(form.streets) > 1 else None
        # Compile, or read from disk, what a solve needs: part of setting up, not of the first iteration.
        self._run(np.zeros((0, 9), dtype=np.float32), 0, 0, 0, MEAN)

    @property
    def kept_bytes(self) -> int:
        """Regrets, averages, and the tables they are found and evaluated by."""
        arrays: list[object] = [*self._regret, *self._average, *self._matched]
        for own in range(2):
            arrays += [*self.plans[own], *self.tables[own], *self.tables[own].showdowns]
        return bytes_of(arrays)

    @property
    def memory_bytes(self) -> int:
        """All of it: what is kept, and the rows that every thread works in."""
        arrays: list[object] = [*self._blocks[0], *self._blocks[1]]
        for scratch in self._scratch:
            arrays += [*scratch, *scratch.tile]
        return self.kept_bytes + bytes_of(arrays)

    def advance(self, schedule: Schedule) -> None:
        """Run as many iterations as `schedule` has rows."""
        count = len(schedule)
        salts = np.arange(self.iteration + 1, self.iteration + 1 + count) * SALT % 2**24  # whole numbers of 32 bits
        columns = [schedule[name] for name in Weights._fields]
        rows = np.column_stack([*columns, np.full(count, self._reach_share), salts]).astype(np.float32)
        rows[:, 2] = np.where(schedule["floor"] > 0, 0.0, LOWEST)
        if self._average[0].dtype == np.uint16:
            rows[:, 3:5] = self._in_steps(schedule["average_decay"], schedule["average_weight"])
        # Without a prediction, a factor on all regrets changes no strategy, and none is kept beside them.
        predicts = bool((schedule["prediction"] != 0).any() or (schedule["prediction_discount"] <= 0).any())
        if predicts and not self._predicts:
            self._matched = [aligned(len(regret), regret.dtype) for regret in self._regret]
            for matched, regret in zip(self._matched, self._regret, strict=True):
                matched[:] = regret
        if self._pool is None and not self._locks:
            self._run(rows, 0, 2, BEGIN | BLOCKS | FINISH, LEARN)
        else:
            for row in rows:
                for own in range(2):
                    if own not in self._locks.fixed:
                        self._walk(own, LEARN, row[None])
                        self._locks.hold(self._learned, own)
        self.iteration += len(schedule)

    @property
    def _reach_share(self) -> float:
        """How much the own reach weighs in averages; the rest weighs all alike.

        With 16 bits a little is left for strategies that are never played: by own reach alone they would round to 0.
        """
        if not self.own_reach:
            return 0.0
        return 1.0 if self._average[0].dtype == np.float32 else 1.0 - 1.0 / 256

    def _in_steps(self, decay: FloatArray, gain: FloatArray) -> FloatArray:
        """[rows, 2] decay and gain of averages that are counted in steps."""
        pairs = []
        for kept, added in zip(decay.tolist(), gain.tolist(), strict=True):
            before, self._weight = self._weight * kept, self._weight * kept + added
            pairs.append((before / self._weight, STEPS * added / self._weight) if self._weight > 0 else (0.0, 0.0))
        return np.array(pairs)

    def lock(self, node: int, strategy: FloatArray, runout: int = 0, hands: NDArray[np.bool_] | None = None) -> None:
        """Fix what a player does at a betting node on a runout of its street, for all hands or for some.

        `strategy` is [actions, H]. The rest of the game is then solved around it, and a best response of that player
        keeps to it too.
        """
        self._locks.lock(self._learned, node, strategy, runout, hands)

    def fix(self, player: int, strategy: Callable[[int, int], FloatArray]) -> None:
        """Give every decision of a player: `strategy` of a betting node and a runout is [actions, H].

        The player is then never updated, and a best response of theirs is what is given.
        """
        self._locks.fix(self._learned, player, strategy)

    def unlock(self) -> None:
        """Let every hand choose again; what was learned stays."""
        self._locks.clear()

    @property
    def _learned(self) -> tuple[list[Stored], list[Stored], list[Stored]]:
        return self._regret, self._matched, self._average

    def kept_strategy(self, node: int, runout: int) -> FloatArray:
        """[actions, H] a locked strategy, exactly as the averages keep it."""
        blocks = self.node_numbers(self._average, node, runout)
        hands = len(self.form.hands[int(self.form.tree.player[node])].weight)
        return np.asarray(blocks.reshape(len(blocks), -1)[:, :hands] / np.float64(one_of(blocks)))

    def as_kept(self, strategy: FloatArray) -> FloatArray:
        """A strategy as `kept_strategy` would read it back: in 16 bits probabilities are rounded."""
        if one_of(self._average[0]) == 1:
            return np.asarray(strategy.astype(np.float32), dtype=np.float64)
        return np.asarray(np.rint(strategy * STEPS) / STEPS)

    def evaluate(self) -> Evaluation:
        """Values and best responses of the average strategy, in the form's chips."""
        values = self._value(0, MEAN), self._value(1, MEAN)
        first, second = (values[own] if own in self._locks.fixed else self._value(own, BEST) for own in range(2))
        best = first, second
        # A best response is worth no less; where it is worth the same, rounding must not say otherwise.
        return Evaluation(values, (max(best[0], values[0]), max(best[1], values[1])))

    def root_values(self, player: int) -> FloatArray:
        """[H] each hand's expected value under the average strategies; 0 where no opposing hand is possible."""
        self._walk(player, MEAN)
        values = self._root(player)
        met = self._met[player]
        return np.divide(values, met, out=np.zeros_like(values), where=met > 0)

    def node_numbers(self, numbers: Sequence[Stored], node: int, runout: int = 0) -> Stored:
        """[actions, hands / 16, 16] a writable view of what belongs to a betting node on a runout of its street.

        `numbers` are regrets, averages or predictions of both players, as in a snapshot.
        """
        return node_numbers(self.form, self.plans, numbers, node, runout)

    def node_strategy(self, node: int, runout: int = 0) -> FloatArray:
        """[actions, H] average strategy at a betting node of the form on a runout of its street."""
        blocks = self.node_numbers(self._average, node, runout)
        sums = blocks.reshape(len(blocks), -1).astype(np.float64)
        sums = sums[:, : len(self.form.hands[int(self.form.tree.player[node])].weight)]
        total = sums.sum(axis=0)
        return np.where(total > 0, sums / np.where(total > 0, total, 1.0), 1.0 / len(sums))

    def snapshot(self, *, copy: bool = True) -> PublicSnapshot:
        """What was learned; without `copy`, the engine's own arrays, which the next iteration changes."""

        def taken(arrays: list[NDArray[Any]]) -> tuple[Stored, ...]:
            return tuple(each.copy() if copy else each for each in arrays)

        return PublicSnapshot(
            iteration=self.iteration,
            regret=taken(self._regret),
            average=taken(self._average),
            matched=taken(self._matched) if self._predicts else None,
            weight=self._weight,
        )

    def restore(self, snapshot: PublicSnapshot) -> None:
        """Resume from there; hands that play alike all take the numbers of the one that stands for them."""
        self.iteration = snapshot.iteration
        self._weight = snapshot.weight
        for player in range(2):
            self._regret[player][:] = snapshot.regret[player]
            self._average[player][:] = snapshot.average[player]
            if snapshot.matched is not None:
                self._matched[player] = aligned(len(self._regret[player]), self._regret[player].dtype)
                self._matched[player][:] = snapshot.matched[player]
            else:
                self._matched[player] = self._regret[player]
            for numbers in (self._regret, self._average, self._matched):
                self._make_alike(numbers[player], player)

    def _make_alike(self, numbers: Stored, player: int) -> None:
        """Give hands that play alike the same numbers."""
        plan, alike = self.plans[player], self.tables[player].alike_hands.reshape(-1, self.plans[player].own_hands)
        decisions = plan.nodes[plan.nodes["mine"] == 1]
        for number, street in enumerate(self.form.streets):
            size, begin = int(plan.streets[number]["own_size"]), int(plan.streets[number]["own_at"])
            rows = numbers[begin : begin + len(street.parent) * size].reshape(len(street.parent), size)
            on_street = decisions[self.form.tree.street[decisions["node"]] == number]
            for symmetry in np.setdiff1d(street.symmetry, 0):
                runouts = np.flatnonzero(street.symmetry == symmetry)
                others = np.flatnonzero(alike[symmetry] != np.arange(plan.own_hands))
                for node in on_street:
                    actions, block = int(node["actions"]), int(node["block"])
                    to, source = (
                        (block + hands // LANES * LANES * actions + hands % LANES)[:, None] + np.arange(actions) * LANES
                        for hands in (others, alike[symmetry][others].astype(np.int64))
                    )
                    rows[runouts[:, None], to.ravel()] = rows[runouts[:, None], source.ravel()]

    @property
    def _predicts(self) -> bool:
        return self._matched[0] is not self._regret[0]

    def _job(self, own: int, mode: int) -> Job:
        locks = self._locks.arrays(own, aligned) if mode == BEST and self._locks.nodes[own] else _NO_LOCKS
        regret, matched, average, other_matched, other_average = map(
            as_kernels_see,
            (
                self._regret[own],
                self._matched[own],
                self._average[own],
                self._matched[1 - own],
                self._average[1 - own],
            ),
        )
        learned = Learned(regret, matched, average, other_matched, other_average, *locks)
        return Job(self.plans[own], self.tables[own], learned, self._blocks[own])

    def _root(self, own: int) -> FloatArray:
        """[H] values at the root after a walk, times the opponent's weight that a hand meets."""
        return self._blocks[own].root[: len(self.form.hands[own].weight)] / np.float64(self.units[own])

    def _value(self, own: int, mode: int) -> float:
        self._walk(own, mode)
        return float(self._root(own) @ self.form.hands[own].weight / self._pairs)

    def _run(
        self,
        rows: Float32,
        first_own: int,
        last_own: int,
        parts: int,
        mode: int,
        scratch: Scratch | None = None,
    ) -> None:
        iterate(
            rows,
            first_own,
            last_own,
            parts,
            mode,
            self._predicts,
            self._job(0, mode),
            self._job(1, mode),
            self._scratch[0],
            self._scratch[0] if scratch is None else scratch,
        )

    def _walk(self, own: int, mode: int, rows: Float32 | None = None) -> None:
        """One walk of one player, shared among the threads."""
        if rows is None:
            rows = np.zeros((1, 9), dtype=np.float32)
        if self._pool is None:
            self._run(rows, own, own + 1, BEGIN | BLOCKS | FINISH, mode)
            return
        self._run(rows, own, own + 1, BEGIN, mode)
        waiting = [
            self._pool.submit(self._run, rows, own, own + 1, BLOCKS, mode, scratch) for scratch in self._scratch[1:]
        ]
        self._run(rows, own, own + 1, BLOCKS, mode)
        for each in waiting:
            each.result()
        self._run(rows, own, own + 1, FINISH, mode)


def _unit(form: PublicForm, met: tuple[FloatArray, FloatArray], own: int) -> float:
    """The power of two that makes the largest value of a player's hand 8 to 16.

    Values of one player are in proportion to the other's weights. In a unit of both, those of the player who meets the
    lighter range could be too small for a half.
    """
    most = float(np.abs([form.payoffs.win[:, own], form.payoffs.lose[:, own]]).max() * met[own].max())
    return 2.0 ** (4 - np.ceil(np.log2(most))) if most > 0 else 1.0


def _met_weight(form: PublicForm, player: int) -> FloatArray:
    """[H] weight of the other range that shares no card with each hand."""
    mine, theirs = form.hands[player], form.hands[1 - player]
    found: FloatArray = met(mine, theirs, theirs.weight[None], form.deck)[0]
    return found


def cancels(form: PublicForm, met: tuple[FloatArray, FloatArray]) -> bool:
    """Whether sums over the range minus sums over blockers would leave too few of 24 bits.

    `met` [H] of each player is the weight that each hand meets. Two measures of how much larger the sums are than what
    is left of them: over all pairs of hands, which is what exploitability is made of, and for the worst hand.
    """
    weights = [float(held.weight.sum()) for held in form.hands]
    pairs = float(form.hands[0].weight @ met[0])
    worst = max(
        float(np.max(weights[1 - own] / met[own][(met[own] > 0) & (form.hands[own].weight > 0)], initial=1.0))
        for own in range(2)
    )
    return weights[0] * weights[1] > MOST_CANCELLED * pairs or worst > MOST_CANCELLED_OF_A_HAND

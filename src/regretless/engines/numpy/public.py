"""CFR on the public form in plain NumPy and 64-bit numbers: the reference for the fast engine.

It recurses over every public node, and a terminal is a matrix over pairs of hands, O(n · m): for small forms only.

With sampled runouts (`forms/sampled.py`), a walk that learns only visits those that its iteration draws, multiplies
their values by a factor where the deal is made, and applies the variant's numbers for this visit of the runout. Walks
that evaluate visit every runout.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regretless.engines.contract import Arriving, Evaluation, Mode, PartEngine, PublicStrategy
from regretless.engines.formats import NumberFormat, Stored
from regretless.engines.layout import checked_rows
from regretless.engines.numpy.update import next_average, next_regret, to_match
from regretless.engines.sampled import RunoutSampling, VisitWeights
from regretless.engines.stored import PublicNode, StoredEngine
from regretless.forms.blockers import compatible
from regretless.forms.history import FloatArray
from regretless.forms.public import NodeKind, PublicForm
from regretless.forms.sampled import SampledRunouts
from regretless.forms.walking import walking_order
from regretless.variants.variant import Schedule, Weights

__all__ = ["PublicReference", "matched"]

DOUBLE = np.dtype(np.float64)
DOUBLES = NumberFormat(bits=64, regret=DOUBLE, average=DOUBLE, regret_in_kernels=DOUBLE)

_NONE = Weights()


@dataclass(frozen=True)
class _Drawn:
    """A runout that an iteration walks."""

    factor: float  # by how much its values count more than if all were walked
    weights: Weights


@dataclass(frozen=True)
class _Walk:
    """A walk for one player's values; both follow `strategy` where they neither learn nor best-respond."""

    own: int
    mode: Mode
    strategy: PublicStrategy
    weights: Weights = _NONE
    drawn: dict[tuple[int, int], _Drawn] | None = None  # by street and runout; None: all runouts are walked
    values: dict[PublicNode, FloatArray] = field(default_factory=dict)  # at every node and runout walked
    # In a trunk, where lines of the second street begin: the reach that arrives, and the values of the lines.
    arriving: dict[int, tuple[FloatArray, FloatArray]] = field(default_factory=dict)
    sums: dict[int, FloatArray] = field(default_factory=dict)


class PublicReference(StoredEngine):
    """The readable engine of the public form.

    >>> from regretless.forms.public_poker import compile_public
    >>> from regretless.games import Kuhn
    >>> from regretless.variants import Plus, schedule
    >>> engine = PublicReference(compile_public(Kuhn()))
    >>> engine.advance(schedule(Plus(), first=1, count=100))
    >>> round(engine.evaluate().exploitability, 6)
    0.001194
    """

    name = "numpy"
    device = "cpu"
    threads = 1
    tolerance = 1e-12

    def __init__(self, form: PublicForm, *, runouts: RunoutSampling | None = None) -> None:
        """With `runouts`, iterations walk only some, and schedules must be those of its variant."""
        super().__init__(form, DOUBLES)
        self._sampled: SampledRunouts | None = None
        if runouts is not None:
            self._sampled, self._visit_weights = runouts.of(form), VisitWeights(runouts.variant)
        self.store_predictions()
        first, second = form.hands
        self.compatible = compatible(first, second)  # [H0, H1]
        self.pairs = float(first.weight @ self.compatible @ second.weight)
        self._weights = _NONE  # of the iteration that is walked in parts

    @property
    def memory_bytes(self) -> int:
        """`kept_bytes` and the table of compatible hands."""
        return self.kept_bytes + self.compatible.nbytes

    def advance(self, schedule: Schedule) -> None:
        """Run one alternating iteration per row of `schedule`."""
        for row in schedule.tolist():
            drawn = self._draw(self.iteration + 1)
            for own in range(2):
                if own not in self.fixed:
                    self._root(_Walk(own, Mode.LEARN, self._current, Weights(*row), drawn))
                    self.restore_locks(own)
            self.iteration += 1

    def _draw(self, iteration: int) -> dict[tuple[int, int], _Drawn] | None:
        if self._sampled is None:
            return None
        rows = self._visit_weights.reach(iteration)
        return {
            (street, runout): _Drawn(factor, Weights(*rows[visit - 1].item()))
            for street, draw in enumerate(self._sampled.draw(iteration))
            for runout, factor, visit in zip(
                draw.runout.tolist(), draw.factor.tolist(), draw.visit.tolist(), strict=True
            )
        }

    def _current(self, node: int, runout: int) -> FloatArray:
        """[actions, H] the strategy to play next."""
        return matched(self._read(self._matched, (node, runout)))

    def _read(self, numbers: list[Stored], public_node: PublicNode) -> FloatArray:
        node, runout = public_node
        rows = self.layout.read(numbers[self.form.tree.player[node]], node, slice(runout, runout + 1))[0]
        return np.asarray(rows, dtype=np.float64)

    def root_values(self, player: int) -> FloatArray:
        """[H] each hand's expected value under the average strategies; 0 where no opposing hand is possible."""
        values = self._root(_Walk(player, Mode.MEAN, self.strategy))
        met = (self.compatible if player == 0 else self.compatible.T) @ self.form.hands[1 - player].weight
        shares: FloatArray = np.divide(values, met, out=np.zeros_like(values), where=met > 0)
        return shares

    def evaluate(self, strategy: PublicStrategy | None = None) -> Evaluation:
        """Values and best responses of a strategy, by default of the average."""

        def alike(node: int, runout: int) -> FloatArray:
            return checked_rows(self.form, strategy or self.strategy, node, runout)

        def value(own: int, mode: Mode) -> float:
            return self._mean(self._root(_Walk(own, mode, alike)), own)

        values, best = ([value(own, mode) for own in range(2)] for mode in (Mode.MEAN, Mode.BEST))
        return Evaluation(values=tuple(values), best_response_values=tuple(best))

    def values_everywhere(
        self, player: int, strategy: PublicStrategy | None = None, *, best: bool = False
    ) -> dict[PublicNode, FloatArray]:
        """[H] values times the opposing reach at every betting node on every runout of its street.

        Both players follow a strategy, by default their averages; if `best`, the player best-responds to it.
        """
        walk = _Walk(player, Mode.BEST if best else Mode.MEAN, strategy or self.strategy)
        self._root(walk)
        return walk.values

    def values_before_last(self, player: int, *, best: bool = False) -> list[NDArray[np.float32]]:
        """For each street before the last, [runouts, nodes of the street, H] values times the opposing reach."""
        tree, values = self.form.tree, self.values_everywhere(player, best=best)
        return [
            np.array(
                [
                    [values[node, runout] for node in np.flatnonzero(tree.street == street).tolist()]
                    for runout in range(len(self.form.streets[street].parent))
                ],
                dtype=np.float32,
            )
            for street in range(len(self.form.streets) - 1)
        ]

    # --- a game in parts ---------------------------------------------------------------------------------------------

    @property
    def _is_trunk(self) -> bool:
        return self.form.part is not None and len(self.form.streets[1].parent) == 0

    @property
    def _entries(self) -> list[int]:
        """The first node of every line of the second street."""
        order = walking_order(self.form.tree)
        return [int(order.node[order.line_start[line]]) for line in order.lines_of(1)]

    def begin(self, schedule: Schedule) -> None:
        """Begin an iteration that is walked in parts."""
        (row,) = schedule.tolist()
        self._weights = Weights(*row)
        self.iteration += 1

    def down(self, own: int, mode: Mode) -> Arriving:
        """Reach where the second street begins; nothing is learned yet."""
        walk = _Walk(own, Mode.MEAN, self._current if mode is Mode.LEARN else self.strategy)
        self._root(walk)
        opponent, own_reach = zip(*(walk.arriving[node] for node in self._entries), strict=True)
        return Arriving(np.array(opponent), np.array(own_reach))

    def below(self, own: int, mode: Mode, arriving: Arriving) -> FloatArray:
        """[runouts, lines, H]: every runout is a block."""
        walk = self._walk_in_parts(own, mode)
        rows = list(zip(self._entries, arriving.opponent, arriving.own, strict=True))
        runouts = range(len(self.form.streets[1].parent))
        return np.array([[self._dealt(walk, node, runout, *reach) for node, *reach in rows] for runout in runouts])

    def up(self, own: int, mode: Mode, sums: FloatArray) -> float:
        """The value of the game."""
        walk = self._walk_in_parts(own, mode)
        total = np.zeros(sums.shape[1:])
        for block in sums:
            total += block
        walk.sums.update(zip(self._entries, total, strict=True))
        return self._mean(self._root(walk), own)

    def _walk_in_parts(self, own: int, mode: Mode) -> _Walk:
        learns = mode is Mode.LEARN
        return _Walk(own, mode, self._current if learns else self.strategy, self._weights if learns else _NONE)

    def _mean(self, values: FloatArray, own: int) -> float:
        """The value of the game, given [H] values at the root."""
        return float(values @ self.form.hands[own].weight) / self.pairs / self.form.unit

    def _root(self, walk: _Walk) -> FloatArray:
        """[H] values at the root."""
        own, other = self.form.hands[walk.own], self.form.hands[1 - walk.own]
        return self._walk(walk, 0, 0, other.weight, np.ones(len(own.weight)))

    def _walk(self, walk: _Walk, node: int, runout: int, reach: FloatArray, own_reach: FloatArray) -> FloatArray:
        """[H] counterfactual values of the own player's hands at a public node."""
        tree, own = self.form.tree, walk.own
        children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        kind, public_node = tree.kind[node], (node, runout)
        if kind == NodeKind.DECISION:
            strategy = walk.strategy(node, runout)
            acting = tree.player[node] == own
            below = np.array(
                [
                    self._walk(walk, child, runout, reach, own_reach * play)
                    if acting
                    else self._walk(walk, child, runout, reach * play, own_reach)
                    for child, play in zip(children, strategy, strict=True)
                ]
            )
            values: FloatArray = (
                self._decide(walk, public_node, strategy, below, own_reach) if acting else below.sum(axis=0)
            )
        else:
            values = (
                self._deal(walk, children[0], runout, reach, own_reach)
                if kind == NodeKind.CHANCE
                else self._terminal(own, node, runout, reach)
            )
            values = values[self.form.symmetry.hands[own][self.form.streets[tree.street[node]].symmetry[runout]]]
        walk.values[public_node] = values
        return values

    def _decide(
        self, walk: _Walk, public_node: PublicNode, strategy: FloatArray, below: FloatArray, own_reach: FloatArray
    ) -> FloatArray:
        """[H] values at a decision of the own player."""
        mean: FloatArray = (strategy * below).sum(axis=0)
        if walk.mode is Mode.BEST and walk.own not in self.fixed:
            lock = self.locked[walk.own].get(public_node)
            highest = below.max(axis=0)
            return highest if lock is None else np.where(lock.hands, mean, highest)
        if walk.mode is Mode.LEARN:
            street, runout = int(self.form.tree.street[public_node[0]]), public_node[1]
            weights = walk.weights if walk.drawn is None else walk.drawn[street, runout].weights
            self._update(public_node, below - mean, own_reach, weights)
        return mean

    def _deal(self, walk: _Walk, node: int, parent: int, reach: FloatArray, own_reach: FloatArray) -> FloatArray:
        number = int(self.form.tree.street[node])
        street, total = self.form.streets[number], np.zeros(len(self.form.hands[walk.own].weight))
        if self._is_trunk and number == 1:
            walk.arriving[node] = reach, own_reach
            return walk.sums.get(node, total)
        for runout in np.flatnonzero(street.parent == parent).tolist():
            if walk.drawn is None:
                total += self._dealt(walk, node, runout, reach, own_reach)
            elif (number, runout) in walk.drawn:
                total += self._dealt(walk, node, runout, reach, own_reach) * walk.drawn[number, runout].factor
        return total

    def _dealt(self, walk: _Walk, node: int, runout: int, reach: FloatArray, own_reach: FloatArray) -> FloatArray:
        """[H] what a runout and its copies add to the value of the deal that leads to a node."""
        own, street = walk.own, self.form.streets[int(self.form.tree.street[node])]
        alive = ~street.dead[1 - own][runout]
        values = self._walk(walk, node, runout, reach * alive, own_reach)
        total = np.zeros(len(values))
        for copy in street.copies[street.first_copy[runout] : street.first_copy[runout + 1]]:
            total += street.probability[runout] * values[self.form.permutations[own][copy]]
        return total

    def _terminal(self, own: int, node: int, runout: int, reach: FloatArray) -> FloatArray:
        form = self.form
        win, lose, tie = (each[node, own] for each in (form.payoffs.win, form.payoffs.lose, form.payoffs.tie))
        meets = self.compatible if own == 0 else self.compatible.T
        dead = form.streets[int(form.tree.street[node])].dead[own][runout]
        if form.tree.kind[node] == NodeKind.FOLD:
            pays = np.full(meets.shape, lose if form.tree.player[node] == own else win)
        else:
            own_strength, other_strength = form.strength[own][runout][:, None], form.strength[1 - own][runout]
            pays = np.where(own_strength > other_strength, win, np.where(own_strength < other_strength, lose, tie))
        return np.where(dead, 0.0, (meets * pays) @ reach)

    def _update(self, public_node: PublicNode, new: FloatArray, own_reach: FloatArray, weights: Weights) -> None:
        node, runout = public_node
        player = self.form.tree.player[node]
        average = next_average(self._read(self._average, public_node), own_reach, self._current(node, runout), weights)
        regret = next_regret(self._read(self._regret, public_node), new, weights)
        matched_to = to_match(regret, new, weights)
        for numbers, rows in ((self._average, average), (self._regret, regret), (self._matched, matched_to)):
            self.layout.write(numbers[player], node, runout, rows)


def matched(sums: FloatArray) -> FloatArray:
    """Columns in proportion to their positive part, uniform where nothing is positive."""
    positive = np.maximum(sums, 0.0)
    total = positive.sum(axis=0)
    return np.where(total > 0, positive / np.where(total > 0, total, 1.0), 1.0 / len(sums))


if TYPE_CHECKING:
    _conforms: type[PartEngine] = PublicReference

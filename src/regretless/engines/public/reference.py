"""CFR on the public form in plain NumPy and 64-bit numbers: what the fast engine is tested against.

Every public node is visited by recursion, and a terminal is a matrix over pairs of hands, O(n · m): for small forms.
"""

from __future__ import annotations

import numpy as np

from regretless.engines.contract import Evaluation
from regretless.forms.blockers import compatible
from regretless.forms.history import FloatArray
from regretless.forms.public import Kind, PublicForm
from regretless.variants.variant import Schedule, Weights

__all__ = ["PublicReference", "matched"]

Place = tuple[int, int]  # betting node, runout of its street


class PublicReference:
    """The readable engine of the public form.

    >>> from regretless.forms.public_poker import kuhn_public
    >>> from regretless.variants import Plus, schedule
    >>> engine = PublicReference(kuhn_public())
    >>> engine.advance(schedule(Plus(), first=1, count=100))
    >>> round(engine.evaluate().exploitability, 6)
    0.001194
    """

    name = "public-reference"
    device = "cpu"
    threads = 1
    tolerance = 1e-12

    def __init__(self, form: PublicForm) -> None:
        self.form = form
        self.iteration = 0
        self.regret: dict[Place, FloatArray] = {}  # [actions, H] each
        self.average: dict[Place, FloatArray] = {}
        self.strategy: dict[Place, FloatArray] = {}
        tree = form.tree
        for node in np.flatnonzero(tree.kind == Kind.DECISION).tolist():
            shape = (
                int(tree.first_child[node + 1] - tree.first_child[node]),
                len(form.hands[tree.player[node]].weight),
            )
            for runout in range(len(form.streets[tree.street[node]].parent)):
                self.regret[node, runout] = np.zeros(shape)
                self.average[node, runout] = np.zeros(shape)
                self.strategy[node, runout] = np.full(shape, 1.0 / shape[0])
        first, second = form.hands
        self.compatible = compatible(first, second)  # [H0, H1]
        self.pairs = float(first.weight @ self.compatible @ second.weight)

    @property
    def memory_bytes(self) -> int:
        return 3 * sum(each.nbytes for each in self.regret.values())

    def advance(self, schedule: Schedule) -> None:
        """Alternating iterations, a row of weights each."""
        for row in schedule.tolist():
            for own in range(2):
                reach = self.form.hands[1 - own].weight
                self._walk(own, 0, 0, reach, np.ones(len(self.form.hands[own].weight)), "learn", Weights(*row))
            self.iteration += 1

    def node_strategy(self, node: int, runout: int = 0) -> FloatArray:
        """[actions, H] average strategy."""
        return matched(self.average[node, runout])

    def root_values(self, player: int) -> FloatArray:
        """[H] what each hand expects when both play their average strategies; 0 where no opposing hand is possible."""
        reach = self.form.hands[1 - player].weight
        values = self._walk(player, 0, 0, reach, np.zeros(0), "mean", Weights())
        met = (self.compatible if player == 0 else self.compatible.T) @ reach
        shares: FloatArray = np.divide(values, met, out=np.zeros_like(values), where=met > 0)
        return shares

    def evaluate(self) -> Evaluation:
        """Values and best responses of the average strategy."""
        values, best = ([self._root(own, mode) for own in range(2)] for mode in ("mean", "best"))
        return Evaluation(values=tuple(values), best_response_values=tuple(best))

    def _root(self, own: int, mode: str) -> float:
        values = self._walk(own, 0, 0, self.form.hands[1 - own].weight, np.zeros(0), mode, Weights())
        return float(values @ self.form.hands[own].weight) / self.pairs

    def _walk(
        self, own: int, node: int, runout: int, reach: FloatArray, own_reach: FloatArray, mode: str, weights: Weights
    ) -> FloatArray:
        """[H] counterfactual values of the own player's hands at a public node."""
        tree = self.form.tree
        children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        kind = tree.kind[node]
        if kind != Kind.DECISION:
            values = (
                self._deal(own, children[0], runout, reach, own_reach, mode, weights)
                if kind == Kind.CHANCE
                else self._terminal(own, node, runout, reach)
            )
            alike = self.form.symmetry.hands[own][self.form.streets[tree.street[node]].symmetry[runout]]
            return np.asarray(values[alike])
        place = (node, runout)
        acting = tree.player[node] == own
        strategy = self.strategy[place] if mode == "learn" else matched(self.average[place])
        below = np.array(
            [
                self._walk(own, child, runout, reach, own_reach * play, mode, weights)
                if acting and mode == "learn"
                else self._walk(own, child, runout, reach if acting else reach * play, own_reach, mode, weights)
                for child, play in zip(children, strategy, strict=True)
            ]
        )
        if not acting:
            return np.asarray(below.sum(axis=0))
        if mode == "best":
            return np.asarray(below.max(axis=0))
        worth: FloatArray = (strategy * below).sum(axis=0)
        if mode == "learn":
            self._update(place, below - worth, own_reach, weights)
        return worth

    def _deal(
        self, own: int, node: int, parent: int, reach: FloatArray, own_reach: FloatArray, mode: str, weights: Weights
    ) -> FloatArray:
        street_number = int(self.form.tree.street[node])
        street = self.form.streets[street_number]
        total = np.zeros(len(self.form.hands[own].weight))
        for runout in np.flatnonzero(street.parent == parent).tolist():
            alive = ~street.dead[1 - own][runout]
            values = self._walk(own, node, runout, reach * alive, own_reach, mode, weights)
            for copy in street.copies[street.first_copy[runout] : street.first_copy[runout + 1]]:
                total += street.probability * values[self.form.permutations[own][copy]]
        return total

    def _terminal(self, own: int, node: int, runout: int, reach: FloatArray) -> FloatArray:
        form = self.form
        win, lose, tie = (each[node, own] for each in (form.payoffs.win, form.payoffs.lose, form.payoffs.tie))
        meets = self.compatible if own == 0 else self.compatible.T
        dead = form.streets[int(form.tree.street[node])].dead[own][runout]
        if form.tree.kind[node] == Kind.FOLD:
            pays = np.full(meets.shape, lose if form.tree.player[node] == own else win)
        else:
            mine, theirs = form.strength[own][runout][:, None], form.strength[1 - own][runout][None, :]
            pays = np.where(mine > theirs, win, np.where(mine < theirs, lose, tie))
        return np.where(dead, 0.0, (meets * pays) @ reach)

    def _update(self, place: Place, new: FloatArray, own_reach: FloatArray, weights: Weights) -> None:
        """The rule's numbers, in the order of `rules/rule.py`."""
        average, old = self.average[place], self.regret[place]
        self.average[place] = (
            average * weights.average_decay + weights.average_weight * own_reach * self.strategy[place]
        )
        kept = old * np.where(old > 0, weights.positive_discount, weights.negative_discount) + new
        self.regret[place] = np.maximum(kept, 0.0) if weights.floor else kept
        self.strategy[place] = matched(self.regret[place] * weights.prediction_discount + weights.prediction * new)


def matched(sums: FloatArray) -> FloatArray:
    """Columns in proportion to what is positive, uniform where nothing is."""
    positive = np.maximum(sums, 0.0)
    total = positive.sum(axis=0)
    return np.where(total > 0, positive / np.where(total > 0, total, 1.0), 1.0 / len(sums))

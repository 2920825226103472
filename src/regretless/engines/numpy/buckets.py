"""Partial vector CFR in plain NumPy and 64-bit numbers: the reference for the fast engines.

Iteration t draws B runouts and updates the players in turn. For the updating player i, with b over the runouts of
the batch and h over hands:

1. Down the tree flow the opponent's reach r[b, h], from the weights of their range, and the player's own reach
   o[b, h], from the weights of their own range. Both are multiplied by probabilities of actions, σ[a, bucket(b, h)],
   and where a street begins by the runout's weight, or 0 for a blocked hand (for o too: a runout that stands for more
   deals counts for more in the average).
2. Up the tree flow the values v[b, h] of the own hands: a terminal against r; Σ_a σ_a v_a where the player acts,
   Σ_a v_a where the opponent does, Σ_b v where the first cards are dealt.
3. At a decision of the player, with w the weights of the range, each bucket k gains

       regret of a    Σ_{b, h in k} w[h] · (v_a[b, h] − v[b, h])
       average of a   σ[a, k] · Σ_{b, h in k} o[b, h]

   times the variant's numbers (`variants/variant.py`). In the public form a hand is alone in its information set, and
   its weight only scales its regrets; here hands of different weights share a bucket.

All runouts of a batch use the same strategies. Johanson, Bard, Lanctot, Gibson & Bowling (2012), "Efficient Nash
equilibrium approximation through Monte Carlo counterfactual regret minimization", call it public chance sampling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regretless.engines.bucket_tables import BucketTables
from regretless.engines.contract import BucketedEngine
from regretless.engines.numpy.public import matched
from regretless.engines.numpy.update import next_average, next_regret, to_match
from regretless.forms.blockers import compatible
from regretless.forms.bucketed import BucketedForm, Runouts
from regretless.forms.history import FloatArray, IntArray
from regretless.forms.public import NodeKind
from regretless.variants.variant import Schedule, Weights

__all__ = ["BucketedReference"]


@dataclass(frozen=True)
class _BatchWalk:
    """One player's walk and update on a batch of runouts."""

    own: int
    runouts: Runouts
    weights: Weights


class BucketedReference(BucketTables):
    """The readable engine of the bucketed form.

    >>> from regretless.forms.bucketed import bucketed_form, lossless
    >>> from regretless.forms.public_poker import compile_public
    >>> from regretless.games import Leduc
    >>> from regretless.variants import Plus, schedule
    >>> form = compile_public(Leduc())
    >>> engine = BucketedReference(bucketed_form(form, lossless(form), count=2))
    >>> engine.advance(schedule(Plus(), first=1, count=10))
    >>> engine.iteration, engine.strategy(0).shape
    (10, (2, 6))
    """

    name = "numpy"
    device = "cpu"
    threads = 1
    tolerance = 1e-12

    def __init__(self, form: BucketedForm) -> None:
        super().__init__(form, np.float64)
        self.store_predictions()
        self.compatible = compatible(*form.hands)  # [H0, H1]

    @property
    def memory_bytes(self) -> int:
        """`kept_bytes` and the table of compatible hands."""
        return self.kept_bytes + self.compatible.nbytes

    def advance(self, schedule: Schedule) -> None:
        """Run one alternating iteration per row of `schedule`."""
        for row in schedule.tolist():
            runouts = self.form.runouts.draw(self.iteration + 1)
            for own in range(2):
                other_weight, own_weight = self.form.hands[1 - own].weight, self.form.hands[own].weight
                self._walk(_BatchWalk(own, runouts, Weights(*row)), 0, other_weight[None], own_weight[None])
            self.iteration += 1

    def _walk(self, walk: _BatchWalk, node: int, reach: FloatArray, own_reach: FloatArray) -> FloatArray:
        """[B, H] counterfactual values of the own hands; B is 1 on street 0."""
        tree, own = self.form.tree, walk.own
        children = range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
        street, kind, player = int(tree.street[node]), tree.kind[node], int(tree.player[node])
        if kind == NodeKind.DECISION:
            bucket = walk.runouts.bucket[player][street]
            current = matched(self.layout.rows(self._matched[player], node))
            strategy = current[:, bucket] * (bucket >= 0)  # [actions, B, H]
            if player != own:
                below = [self._walk(walk, child, reach * play, own_reach) for child, play in zip(children, strategy)]
                return np.asarray(np.sum(below, axis=0))
            below = [self._walk(walk, child, reach, own_reach * play) for child, play in zip(children, strategy)]
            self._update(walk, node, np.array(below), own_reach, current, bucket)
            return np.asarray((strategy * below).sum(axis=0))
        if kind == NodeKind.CHANCE:
            live = [bucket[street + 1] >= 0 for bucket in walk.runouts.bucket]
            weight = walk.runouts.weight[street + 1][:, None]
            values = self._walk(walk, children[0], reach * weight * live[1 - own], own_reach * weight * live[own])
            return values.sum(axis=0, keepdims=True) if street == 0 else values
        return self._terminal(walk, node, reach)

    def _terminal(self, walk: _BatchWalk, node: int, reach: FloatArray) -> FloatArray:
        form, own = self.form, walk.own
        win, lose, tie = (each[node, own] for each in (form.payoffs.win, form.payoffs.lose, form.payoffs.tie))
        meets = self.compatible if own == 0 else self.compatible.T
        live = walk.runouts.bucket[own][int(form.tree.street[node])] >= 0
        if form.tree.kind[node] == NodeKind.FOLD:
            return np.asarray((reach @ meets.T) * (lose if form.tree.player[node] == own else win) * live)
        strengths = zip(walk.runouts.strength[own], walk.runouts.strength[1 - own], strict=True)
        pays = [
            np.where(own_hand[:, None] > other_hand, win, np.where(own_hand[:, None] < other_hand, lose, tie)) * meets
            for own_hand, other_hand in strengths
        ]
        return np.array([pay @ row for pay, row in zip(pays, reach)]) * live

    def _update(
        self,
        walk: _BatchWalk,
        node: int,
        below: FloatArray,
        own_reach: FloatArray,
        current: FloatArray,
        bucket: IntArray,
    ) -> None:
        own, weights, live = walk.own, walk.weights, bucket >= 0
        range_weight = np.broadcast_to(self.form.hands[own].weight, bucket.shape)

        def in_buckets(values: FloatArray) -> FloatArray:
            return np.asarray(np.bincount(bucket[live], values[live], minlength=current.shape[1]), dtype=np.float64)

        summed = np.array([in_buckets(range_weight * values) for values in below])  # [actions, K]
        new = summed - (current * summed).sum(axis=0)
        arriving = in_buckets(np.broadcast_to(own_reach, bucket.shape))
        regret, average, predicted = (
            self.layout.rows(numbers[own], node) for numbers in (self._regret, self._average, self._matched)
        )
        average[:] = next_average(average, arriving, current, weights)
        regret[:] = next_regret(regret, new, weights)
        predicted[:] = to_match(regret, new, weights)


if TYPE_CHECKING:
    _conforms: type[BucketedEngine] = BucketedReference

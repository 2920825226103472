"""Exact exploitability of what was learned, on any game that can be enumerated.

The policy is evaluated at every information set, and the strategy is handed to an existing engine, so there is only one
implementation of best responses. (Flop hold'em has its own way: `holdem_evaluation.py`.)
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from regretless import engines
from regretless.deep.policies import AdvantagePolicy, AnyPolicy, MixturePolicy
from regretless.deep.worlds import HistoryWorld
from regretless.engines import Evaluation
from regretless.forms.compile import invert
from regretless.forms.history import FloatArray, Strategy
from regretless.forms.sequence import SequenceTree, sequence_tree

__all__ = ["EnumeratingJudge", "Judge", "pair_strategy"]


def pair_strategy(world: HistoryWorld, policy: AnyPolicy) -> FloatArray:
    """[pairs] the policy at every information set, in the pair order of the history form."""
    if isinstance(policy, MixturePolicy):
        return _mixture_strategy(world, policy)
    observations, legal = world.information_sets()
    form = world.form
    sets = np.repeat(np.arange(len(form.keys)), np.diff(form.first_pair))
    probabilities = policy.probabilities(observations, legal).cpu().numpy().astype(np.float64)
    chosen: FloatArray = probabilities[sets, world.column]
    return chosen / np.add.reduceat(chosen, form.first_pair[:-1])[sets]


def _mixture_strategy(world: HistoryWorld, policy: MixturePolicy) -> FloatArray:
    """The average over networks, each weighed by t and by its own probability of reaching the information set."""
    form = world.form
    average = np.zeros(int(form.first_pair[-1]))
    for player in range(form.players):
        tree = sequence_tree(form, player)
        for weight, network in zip(policy.weights, policy.networks[player], strict=True):
            strategy = pair_strategy(world, AdvantagePolicy(network))
            average[tree.pair[1:]] += weight * _realization(tree, strategy)[1:]
    sets = np.repeat(np.arange(len(form.keys)), np.diff(form.first_pair))
    total = np.add.reduceat(average, form.first_pair[:-1])[sets]
    counts = np.diff(form.first_pair)[sets]
    return np.where(total > 0.0, average / np.where(total > 0.0, total, 1.0), 1.0 / counts)


def _realization(tree: SequenceTree, strategy: FloatArray) -> FloatArray:
    """[S] the product of the player's own probabilities along each sequence."""
    plan = np.ones(len(tree.pair))
    for first, last in zip(tree.level[:-1], tree.level[1:]):
        sequences = slice(tree.first_sequence[first], tree.first_sequence[last])
        parents = np.repeat(tree.parent_sequence[first:last], np.diff(tree.first_sequence[first : last + 1]))
        plan[sequences] = plan[parents] * strategy[tree.pair[sequences]]
    return plan


class Judge(Protocol):
    """Measures policies."""

    def evaluate(self, policy: AnyPolicy) -> Evaluation:
        """Exact values and best responses, in the game's units."""


class EnumeratingJudge:
    """For games whose information sets can be enumerated."""

    def __init__(self, world: HistoryWorld) -> None:
        self.world = world
        self._engine = engines.create("numpy", world.form)  # has no kernels to load, and one pass is quick

    def evaluate(self, policy: AnyPolicy) -> Evaluation:
        return self._engine.evaluate(pair_strategy(self.world, policy))

    def strategy(self, policy: AnyPolicy) -> Strategy:
        """Information set -> action -> probability."""
        return invert(self.world.form, pair_strategy(self.world, policy))

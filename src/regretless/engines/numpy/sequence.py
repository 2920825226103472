"""CFR on arrays in plain NumPy, float64: the reference for every other engine, on the sequence and the history form.

The engines of both forms share one idea. All that an iteration needs from the game is the *payoff* of each sequence of
the updating player: the value, against the others' strategies, of the terminals that end this sequence. The rest
happens in the player's own tree of sequences:

1. payoffs   of every sequence, from the others' strategies. Here the two forms differ: the sequence form takes one
             sparse product with the other player's realization plan; the history form walks all nodes, depth by depth.
2. up        deepest level first: an information set has the value v = Σ_a σ(a) · u(a); the regret of an action is
             u(a) − v; and v is added to u of the sequence that leads to the set.
3. update    S ← S · average_decay + average_weight · plan, then R and the next σ, as in `variants/variant.py`.
4. down      root first: plan(a) = plan(sequence that leads there) · σ(a).

A best response is step 2 with a maximum in place of the mixture.

Zinkevich et al., NeurIPS 2007; Koller, Megiddo & von Stengel, 1996.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise

import numpy as np

from regretless.engines.contract import LEARNED, Evaluation, Snapshot, Updates
from regretless.engines.numpy.update import next_average, next_regret, to_match
from regretless.forms.compile import check_strategy
from regretless.forms.history import FloatArray, HistoryForm
from regretless.forms.memory import memory_bytes
from regretless.forms.normalise import normalise
from regretless.forms.sequence import (
    SequenceForm,
    SequenceTree,
    realization_plan,
    sequence_levels,
    sequence_tree,
    terminal_sequences,
)
from regretless.variants.variant import Schedule, Weights

__all__ = ["NumpyHistoryEngine", "NumpySequenceEngine", "estimate"]

STATE_ARRAYS = 4  # regret, average, strategy and plan, over all sequences

Profile = list[tuple[FloatArray, FloatArray]]  # for each player: strategy and realization plan over their sequences


class _PlayerState:
    """What CFR keeps for one player, over the sequences of their tree."""

    def __init__(self, tree: SequenceTree) -> None:
        self.tree = tree
        self.levels = sequence_levels(tree)
        self.first = tree.first_sequence - 1  # the same slices without the empty sequence
        sequences = len(tree.pair)
        self.regret = np.zeros(sequences)
        self.average = np.zeros(sequences)
        self.strategy = np.ones(sequences)
        self.strategy[1:] = normalise(np.zeros(sequences - 1), self.first)
        self.plan = self.realize(self.strategy)

    def realize(self, strategy: FloatArray) -> FloatArray:
        """Step 4."""
        return realization_plan(self.levels, strategy)

    def new_regret(self, payoffs: FloatArray) -> FloatArray:
        """Step 2."""
        values = payoffs.copy()
        regret = np.zeros(len(values))
        for level in reversed(self.levels):
            of_actions = values[level.sequences]
            of_sets = np.add.reduceat(self.strategy[level.sequences] * of_actions, level.start)
            regret[level.sequences] = of_actions - of_sets[level.owner]
            np.add.at(values, level.parent, of_sets)
        return regret

    def best_response_value(self, payoffs: FloatArray) -> float:
        """Step 2 with a maximum: the value of the player's best response."""
        values = payoffs.copy()
        for level in reversed(self.levels):
            np.add.at(values, level.parent, np.maximum.reduceat(values[level.sequences], level.start))
        return float(values[0])

    def update(self, payoffs: FloatArray, weights: Weights) -> None:
        """Steps 2 to 4."""
        new = self.new_regret(payoffs)
        self.average = next_average(self.average, self.plan, 1.0, weights)  # the plan is reach times strategy
        self.regret = next_regret(self.regret, new, weights)
        self.strategy[1:] = normalise(np.maximum(to_match(self.regret, new, weights)[1:], 0.0), self.first)
        self.plan = self.realize(self.strategy)


class _NumpyEngine(ABC):
    """Everything but step 1."""

    name = "numpy"
    device = "cpu"
    threads = 1
    tolerance = 1e-12

    def __init__(self, form: HistoryForm, trees: tuple[SequenceTree, ...], updates: Updates) -> None:
        self.form = form
        self.updates = updates
        self.iteration = 0
        self.players = [_PlayerState(tree) for tree in trees]

    @abstractmethod
    def payoffs(self, player: int, profile: Profile) -> FloatArray:
        """Step 1: [S] the payoff of each sequence of `player` against the others."""

    @property
    def memory_bytes(self) -> int:
        state = sum(STATE_ARRAYS * player.plan.nbytes for player in self.players)
        return memory_bytes(self.form) + sum(memory_bytes(player.tree) for player in self.players) + state

    def advance(self, schedule: Schedule) -> None:
        for weights in map(Weights._make, schedule.tolist()):
            if self.updates is Updates.SIMULTANEOUS:
                profile = self._profile()
                payoffs = [self.payoffs(number, profile) for number in range(len(self.players))]
                for player, own_payoffs in zip(self.players, payoffs):
                    player.update(own_payoffs, weights)
            else:
                for number, player in enumerate(self.players):
                    player.update(self.payoffs(number, self._profile()), weights)
            self.iteration += 1

    def _profile(self) -> Profile:
        return [(player.strategy, player.plan) for player in self.players]

    def average_strategy(self) -> FloatArray:
        average = self._in_pair_order([player.average for player in self.players])
        return normalise(average, self.form.first_pair)

    def evaluate(self, strategy: FloatArray | None = None) -> Evaluation:
        played = self.average_strategy() if strategy is None else check_strategy(self.form, strategy)
        strategies = [np.append(1.0, played[player.tree.pair[1:]]) for player in self.players]
        profile = [(strategy, player.realize(strategy)) for player, strategy in zip(self.players, strategies)]
        payoffs = [self.payoffs(number, profile) for number in range(len(profile))]
        return Evaluation(
            values=tuple(float(plan @ own_payoffs) for (_, plan), own_payoffs in zip(profile, payoffs)),
            best_response_values=tuple(
                player.best_response_value(own_payoffs) for player, own_payoffs in zip(self.players, payoffs)
            ),
        )

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        arrays = {name: self._in_pair_order([getattr(player, name) for player in self.players]) for name in LEARNED}
        return Snapshot(self.iteration, arrays)

    def restore(self, snapshot: Snapshot) -> None:
        self.iteration = snapshot.iteration
        for player in self.players:
            pair = player.tree.pair[1:]
            for name in LEARNED:
                getattr(player, name)[1:] = snapshot.arrays[name][pair]
            player.plan = player.realize(player.strategy)

    def _in_pair_order(self, arrays: list[FloatArray]) -> FloatArray:
        pairs = np.zeros(self.form.first_pair[-1])
        for player, array in zip(self.players, arrays):
            pairs[player.tree.pair[1:]] = array[1:]
        return pairs


def estimate(form: HistoryForm | SequenceForm) -> int:
    """Bytes that an engine allocates beside the compiled game."""
    history = form.history if isinstance(form, SequenceForm) else form
    sets, pairs, players = len(history.keys), int(history.first_pair[-1]), history.players
    state = STATE_ARRAYS * 8 * (pairs + players)
    if isinstance(form, SequenceForm):
        return state
    trees = 4 * (3 * sets + pairs + 2 * players)  # of `SequenceTree`, without the few numbers of `level`
    ends = 4 * players * len(history.terminal)
    movers = len(history.parent)
    return state + trees + ends + movers


class NumpySequenceEngine(_NumpyEngine):
    """Two players, on the sequence form: step 1 is a sparse product.

    >>> from regretless.forms import compile_history, compile_sequence
    >>> from regretless.games import Kuhn
    >>> from regretless.variants import Plus, schedule
    >>> engine = NumpySequenceEngine(compile_sequence(compile_history(Kuhn())))
    >>> engine.advance(schedule(Plus(), first=1, count=100))
    >>> round(engine.evaluate().exploitability, 6)
    0.001194
    """

    def __init__(self, form: SequenceForm, *, updates: Updates = Updates.ALTERNATING) -> None:
        super().__init__(form.history, form.trees, updates)
        self.matrices = form.payoff
        self.rows = tuple(np.flatnonzero(np.diff(matrix.start)) for matrix in form.payoff)  # those with entries

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + memory_bytes(self.matrices)

    def payoffs(self, player: int, profile: Profile) -> FloatArray:
        matrix, rows = self.matrices[player], self.rows[player]
        _, plan = profile[1 - player]
        result = np.zeros(len(matrix.start) - 1)
        if len(rows):
            result[rows] = np.add.reduceat(matrix.value * plan[matrix.column], matrix.start[rows])
        return result


class NumpyHistoryEngine(_NumpyEngine):
    """Any number of players, on the history form: step 1 walks the nodes of the game, depth by depth.

    On the way down, the probabilities of chance and of all players but i are multiplied; the product weighs i's payoff
    at a terminal, which is added to the sequence of i that ends there.
    """

    def __init__(self, form: HistoryForm, *, updates: Updates = Updates.ALTERNATING) -> None:
        trees = tuple(sequence_tree(form, player) for player in range(form.players))
        super().__init__(form, trees, updates)
        self.ends = [terminal_sequences(form, player, tree) for player, tree in enumerate(trees)]
        self.mover = np.full(len(form.parent), -1, np.int8)  # [N] who entered the node; −1 if chance, and at the root
        self.mover[1:] = form.player[form.parent[1:]]

    @property
    def memory_bytes(self) -> int:
        return super().memory_bytes + sum(ends.nbytes for ends in self.ends) + self.mover.nbytes

    def payoffs(self, player: int, profile: Profile) -> FloatArray:
        form = self.form
        played = self._in_pair_order([strategy for strategy, _ in profile])
        reach = form.chance.copy()
        others = np.flatnonzero((self.mover >= 0) & (self.mover != player))
        reach[others] = played[form.pair[others]]
        for start, end in pairwise(form.level[1:].tolist()):
            reach[start:end] *= reach[form.parent[start:end]]
        weighted = reach[form.terminal] * form.payoff[:, player]
        total = np.zeros(len(self.players[player].plan))
        np.add.at(total, self.ends[player], weighted)
        return total

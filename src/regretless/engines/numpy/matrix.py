"""CFR as Kim (2024) writes it: sparse products and element-wise operations over nodes, nothing else.

With the matrices of `forms/matrices.py`, s(v) the probability of entering node v from its parent, and ∘ element-wise:

1. s  = chance + M(Q,V)ᵀ σ
2. u  = payoffs;                       for l = D … 1:   u ← u + L(l) (s ∘ u)                       values   [N, P]
3. π₋ = 1 at the root, else 0;         for l = 1 … D:   π₋ ← π₋ + (L(l)ᵀ π₋) ∘ (s, or 1 where i moved)   [N, P]
   π  the same with the roles swapped:                  π ← π + (L(l)ᵀ π) ∘ (1, or s where i moved)      [N, P]
4. r  = M(Q,V) Σ_i M(V,I) ∘ π₋ ∘ (u − Gᵀ u)                                                        regrets  [Q]
5. the update of `variants/variant.py`, with sums over information sets as M(H,Q)ᵀ M(H,Q) z        next σ   [Q]

Steps 2 and 3 touch one depth at a time, so each product with L(l) is one with its only block that is not zero, added
to the part of u, π₋ or π for that depth.

It exists beside the faster engines because it follows the paper, and it takes any number of players. The same code runs
on SciPy and on CuPy: `device` chooses the module.

Kim: GPU-Accelerated Counterfactual Regret Minimization, 2024, arXiv 2408.14778.
"""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

from regretless.engines.contract import LEARNED, Evaluation, Snapshot, Updates
from regretless.engines.numpy.update import next_average, next_regret, to_match
from regretless.errors import MissingExtra
from regretless.forms.compile import check_strategy, uniform_array
from regretless.forms.history import FloatArray, HistoryForm
from regretless.forms.matrices import matrices
from regretless.forms.memory import memory_bytes
from regretless.forms.sequence import sequence_tree, terminal_sequences
from regretless.variants.variant import Schedule, Weights

__all__ = ["MatrixEngine", "estimate"]

Array = Any  # numpy.ndarray or cupy.ndarray
Sparse = Any  # a matrix of scipy.sparse or cupyx.scipy.sparse

BLOCK_BYTES = 1000  # of Python's objects for a sparse matrix, however small


class MatrixEngine:
    """Any number of players, on the history form, by sparse products."""

    name = "matrix"
    threads = 1
    tolerance = 1e-11

    def __init__(self, form: HistoryForm, *, updates: Updates = Updates.ALTERNATING, device: str = "cpu") -> None:
        self.form = form
        self.updates = updates
        self.device = device
        self.iteration = 0
        self.xp, self.sparse = _modules(device)
        put = self.xp.asarray
        of = matrices(form)
        depths = [slice(start, end) for start, end in pairwise(form.level.tolist())]
        self.levels = list(zip(depths, depths[1:], map(self.put_sparse, of.levels)))
        self.levels_down = list(zip(depths, depths[1:], (self.put_sparse(level.T) for level in of.levels)))
        self.to_children = self.put_sparse(of.tree.T)
        self.pair_nodes = self.put_sparse(of.pair_nodes)
        self.to_nodes = self.put_sparse(of.pair_nodes.T)
        self.set_sum = self.put_sparse(of.set_pairs.T @ of.set_pairs)  # sums over the set of each pair
        self.moved = put(of.node_movers.toarray())
        self.chance = put(np.where(form.pair < 0, form.chance, 0.0)[:, None])
        self.payoff = put(np.zeros((len(form.parent), form.players)))
        self.payoff[put(form.terminal)] = put(form.payoff)
        nodes_of_pair = np.bincount(form.pair[form.pair >= 0], minlength=form.first_pair[-1])
        self.share_of_node = put(1.0 / nodes_of_pair)
        owner = np.repeat(form.information_set_player, np.diff(form.first_pair))
        self.owned = [put((owner == player).astype(np.float64)) for player in range(form.players)]
        self.uniform = put(uniform_array(form))
        self.regret: Array = self.xp.zeros_like(self.uniform)
        self.average: Array = self.xp.zeros_like(self.uniform)
        self.strategy: Array = self.uniform.copy()
        self.responses = [_Response(form, player, self) for player in range(form.players)]

    @property
    def memory_bytes(self) -> int:
        blocks = [block for _, _, block in (*self.levels, *self.levels_down)]
        blocks += [sums for response in self.responses for _, sums, _ in response.levels]
        payoffs = [response.payoff for response in self.responses]
        stored = [*blocks, *payoffs, self.to_children, self.pair_nodes, self.to_nodes, self.set_sum]
        sparse = sum(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes for matrix in stored)
        sparse += sum(actions.nbytes for response in self.responses for actions, _, _ in response.levels)
        sparse += BLOCK_BYTES * len(blocks)
        return int(memory_bytes(self.form) + sparse + self.payoff.nbytes + self.moved.nbytes + 4 * self.regret.nbytes)

    def advance(self, schedule: Schedule) -> None:
        everyone = range(self.form.players)
        for weights in map(Weights._make, schedule.tolist()):
            if self.updates is Updates.SIMULTANEOUS:
                self._update(weights, sum(self.owned))
            else:
                for player in everyone:
                    self._update(weights, self.owned[player])
            self.iteration += 1

    def average_strategy(self) -> FloatArray:
        return self._host(self._match(self.average))

    def evaluate(self, strategy: FloatArray | None = None) -> Evaluation:
        played = self._match(self.average) if strategy is None else self.xp.asarray(check_strategy(self.form, strategy))
        enter = self._enter(played)
        values = self._values(enter)
        others = self._reach(self.moved + (1.0 - self.moved) * enter)
        return Evaluation(
            values=tuple(self._host(values[0]).tolist()),
            best_response_values=tuple(response.value(others) for response in self.responses),
        )

    def snapshot(self, *, copy: bool = True) -> Snapshot:
        return Snapshot(self.iteration, {name: self._host(getattr(self, name)) for name in LEARNED})

    def restore(self, snapshot: Snapshot) -> None:
        self.iteration = snapshot.iteration
        self.regret, self.average, self.strategy = (self.xp.array(snapshot.arrays[name]) for name in LEARNED)

    def _update(self, weights: Weights, updated: Array) -> None:
        """One pass over the game; only pairs where `updated` is 1 change."""
        xp = self.xp
        enter = self._enter(self.strategy)
        values = self._values(enter)
        others = self._reach(self.moved + (1.0 - self.moved) * enter)
        own = self._reach(self.moved * enter + (1.0 - self.moved))
        gain = (self.moved * others * (values - self.to_children @ values)).sum(axis=1)
        new = self.pair_nodes @ gain
        # All nodes of an information set have the same own reach, so their mean is that of the set, times σ.
        plan = (self.pair_nodes @ (self.moved * own).sum(axis=1)) * self.share_of_node

        regret = next_regret(self.regret, new, weights)
        average = next_average(self.average, plan, 1.0, weights)  # the plan is reach times strategy
        strategy = self._match(to_match(regret, new, weights))
        chosen = updated > 0
        self.regret = xp.where(chosen, regret, self.regret)
        self.average = xp.where(chosen, average, self.average)
        self.strategy = xp.where(chosen, strategy, self.strategy)

    def _enter(self, strategy: Array) -> Array:
        """Step 1.  [N, 1]"""
        return self.chance + (self.to_nodes @ strategy)[:, None]

    def _values(self, enter: Array) -> Array:
        """Step 2.  [N, P]"""
        values = self.payoff.copy()
        for above, below, level in reversed(self.levels):
            values[above] += level @ (enter[below] * values[below])
        return values

    def _reach(self, factor: Array) -> Array:
        """Step 3, for factors [N, P] of each player."""
        reach = self.xp.zeros_like(self.payoff)
        reach[0] = 1.0
        for above, below, level in self.levels_down:
            reach[below] = (level @ reach[above]) * factor[below]
        return reach

    def _match(self, regret: Array) -> Array:
        positive = self.xp.maximum(regret, 0.0)
        total = self.set_sum @ positive
        counts = total >= np.finfo(total.dtype).tiny  # see `numpy/sequence.py`
        return self.xp.where(counts, positive / self.xp.where(counts, total, 1.0), self.uniform)

    def put_sparse(self, matrix: Sparse) -> Sparse:
        """A matrix of SciPy on the engine's device."""
        from scipy.sparse import csr_matrix

        return self.sparse.csr_matrix(csr_matrix(matrix))

    def _host(self, array: Array) -> FloatArray:
        return np.array(array.get() if self.device == "cuda" else array)


def estimate(form: HistoryForm) -> int:
    """Bytes that an engine allocates beside the compiled game: sparse rows take 16 for an entry and 8 for a row."""
    nodes, pairs, sets = len(form.parent), int(form.first_pair[-1]), len(form.keys)
    moved, ends = int(np.count_nonzero(form.pair >= 0)), len(form.terminal)
    between = 3 * (16 + 8) * nodes + 3 * BLOCK_BYTES * len(form.level)  # levels, both ways, and the whole tree
    within = 2 * 16 * moved + 8 * (nodes + 2 * pairs) + 16 * int((np.diff(form.first_pair) ** 2).sum())
    responses = form.players * 12 * ends + 4 * pairs + (16 + 8) * sets + 8 * 2 * pairs  # payoffs, sums, actions
    return between + within + responses + 2 * 8 * nodes * form.players + 4 * 8 * pairs


class _Response:
    """One player's best response: payoffs of sequences, then the best action in every set, deepest level first."""

    def __init__(self, form: HistoryForm, player: int, engine: MatrixEngine) -> None:
        from scipy.sparse import csr_array

        self.xp, put = engine.xp, engine.xp.asarray
        self.player = player
        tree = sequence_tree(form, player)
        sequences = len(tree.pair)
        ends = terminal_sequences(form, player, tree)
        payoff = csr_array((form.payoff[:, player], (ends, form.terminal)), shape=(sequences, len(form.parent)))
        self.payoff = engine.put_sparse(payoff)
        self.levels: list[tuple[Array, Sparse, slice]] = []  # actions, sums, and the sequences to which they are added
        above = slice(0, 1)  # the empty sequence leads to the sets of the first level
        for start, end in pairwise(tree.level.tolist()):
            first, count = tree.first_sequence[start:end], np.diff(tree.first_sequence[start : end + 1])
            step = np.arange(count.max())  # short sets repeat their first action
            actions = np.where(step < count[:, None], first[:, None] + step, first[:, None])
            parents = tree.parent_sequence[start:end] - above.start
            sums = csr_array(
                (np.ones(end - start), (parents, np.arange(end - start))), (above.stop - above.start, end - start)
            )
            self.levels.append((put(actions), engine.put_sparse(sums), above))
            above = slice(int(tree.first_sequence[start]), int(tree.first_sequence[end]))

    def value(self, others: Array) -> float:
        values = self.payoff @ others[:, self.player]
        for actions, sums, above in reversed(self.levels):
            values[above] += sums @ values[actions].max(axis=1)
        return float(values[0])


def _modules(device: str) -> tuple[ModuleType, ModuleType]:
    """The array library of a device and its sparse matrices."""
    array, sparse, extra = (
        ("cupy", "cupyx.scipy.sparse", "gpu") if device == "cuda" else ("numpy", "scipy.sparse", "exact")
    )
    try:
        return import_module(array), import_module(sparse)
    except ImportError:
        raise MissingExtra(array if extra == "gpu" else "scipy", extra) from None

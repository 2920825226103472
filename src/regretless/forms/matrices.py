"""The history form as the sparse matrices of Kim (2024).

| matrix  | shape  | entry 1 where                                                                     |
|---------|--------|-----------------------------------------------------------------------------------|
| G       | [N, N] | the row is the parent of the column: all edges of the game tree                   |
| L(l)    | [N, N] | the same, for edges into depth l only: G = L(1) + … + L(D)                        |
| M(Q, V) | [Q, N] | the pair of the row leads to the node of the column                               |
| M(H, Q) | [I, Q] | the pair of the column belongs to the information set of the row                  |
| M(V, I) | [N, P] | a move of the player of the column leads to the node of the row                   |

All rows of L(l) but those of depth l − 1 and all columns but those of depth l are zero, so only that block is stored,
[nodes of depth l − 1, nodes of depth l]: a game may be thousands of moves deep.

N nodes, Q pairs of information set and action, I information sets, P players (Kim's I). With s the probability
of entering each node from its parent, CFR needs only products with them: reach flows down by π ← π + (L(l)ᵀ π) ∘ s for
l = 1, …, D, values flow up by u ← u + L(l) (s ∘ u) for l = D, …, 1, and sums over information sets are M(H, Q) times a
vector over pairs.

Kim: GPU-Accelerated Counterfactual Regret Minimization, 2024, arXiv 2408.14778. Kim & Sandholm: Parallelizing
Counterfactual Regret Minimization, 2026, arXiv 2605.14277.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from regretless.errors import MissingExtra
from regretless.forms.history import HistoryForm, IntArray
from regretless.reprs import brief

__all__ = ["Matrices", "matrices"]

Sparse = Any  # scipy.sparse.csr_array; SciPy is optional and has no type annotations


@dataclass(frozen=True)
class Matrices:
    """The matrices of a game, in compressed sparse rows; all entries are 1.0."""

    tree: Sparse  # G
    levels: tuple[Sparse, ...]  # the blocks of L(1), …, L(D)
    pair_nodes: Sparse  # M(Q, V)
    set_pairs: Sparse  # M(H, Q)
    node_movers: Sparse  # M(V, I)

    __repr__ = brief


def matrices(form: HistoryForm) -> Matrices:
    """Build the matrices of a game from its arrays."""
    nodes = len(form.parent)
    children = np.arange(1, nodes)
    bounds = form.level.tolist()
    moved = np.flatnonzero(form.pair >= 0)
    pairs = int(form.first_pair[-1])
    movers = form.player[form.parent[moved]]
    return Matrices(
        tree=_ones(form.parent[1:], children, (nodes, nodes)),
        levels=tuple(
            _ones(form.parent[start:end] - above, np.arange(end - start), (start - above, end - start))
            for above, start, end in zip(bounds, bounds[1:], bounds[2:])
        ),
        pair_nodes=_ones(form.pair[moved], moved, (pairs, nodes)),
        set_pairs=_ones(form.set_of_pair, np.arange(pairs), (len(form.keys), pairs)),
        node_movers=_ones(moved, movers, (nodes, form.players)),
    )


def _ones(row: IntArray, column: IntArray, shape: tuple[int, int]) -> Sparse:
    try:
        from scipy.sparse import csr_array
    except ImportError:
        raise MissingExtra("scipy", "exact") from None
    return csr_array((np.ones(len(row)), (row, column)), shape=shape)

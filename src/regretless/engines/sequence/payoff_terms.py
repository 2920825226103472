"""The payoffs of a game as terms: own sequence, one sequence of each other player, a number.

The payoff of a sequence s of player i against the others' plans x_j is

    q(s) = Σ over terms t that end s of value(t) · Π_{j ≠ i} x_j(sequence of j in t)

In a two-player game the terms are the entries of the sparse payoff matrix; in a game of n players they are its
terminals, each with n − 1 columns. An engine that works on terms serves both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regretless.engines.sequence.layout import slices
from regretless.forms.history import FloatArray, HistoryForm, IntArray
from regretless.forms.sequence import SequenceForm, SequenceTree, sequence_tree, terminal_reach, terminal_sequences

__all__ = ["Terms", "terms_of"]


@dataclass(frozen=True)
class Terms:
    """Payoffs of one player, grouped by the player's own sequence. S sequences, T terms."""

    start: IntArray  # [S+1]            terms of sequence s are start[s] : start[s+1]
    columns: tuple[IntArray, ...]  # [others] of [T]  sequence of each other player, in the order of players
    value: FloatArray  # [T] or [T, games]


def terms_of(form: SequenceForm | HistoryForm) -> tuple[tuple[SequenceTree, ...], tuple[Terms, ...]]:
    """Trees and terms of every player."""
    if isinstance(form, SequenceForm):
        return form.trees, tuple(Terms(matrix.start, (matrix.column,), matrix.value) for matrix in form.payoff)
    trees = tuple(sequence_tree(form, player) for player in range(form.players))
    ends = [terminal_sequences(form, player, tree) for player, tree in enumerate(trees)]
    reach = terminal_reach(form)
    terms = []
    for player, tree in enumerate(trees):
        order = np.argsort(ends[player], kind="stable")
        others = tuple(ends[other][order] for other in range(form.players) if other != player)
        start = slices(np.bincount(ends[player], minlength=len(tree.pair)))
        terms.append(Terms(start, others, (reach * form.payoff[:, player])[order]))
    return trees, tuple(terms)

"""The sequence form of a two-player game (Koller, Megiddo & von Stengel, 1996).

A *sequence* of a player is the pairs (information set, action) on the way to a node, the other player's moves and
chance left out; with perfect recall the last pair says it all. Three things remain of the game:

1. each player's decisions as a tree of sequences, level by level;
2. a realization plan x over sequences: x = 1 for the empty sequence, and in each information set the plan of its
   actions sums to the plan of the sequence that leads there;
3. one sparse matrix per player of payoffs over pairs of sequences, with chance folded in: row s of
   `payoff[player] @ opponent_plan` is what the terminals that end the player's sequence s are worth.

An iteration of CFR is then, for each player, one sweep down the opponent's tree, one sparse product and one sweep up
the player's own tree. Goofspiel with 6 cards has 969,523 histories but 74,076 pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

from regretless.forms.history import FloatArray, HistoryForm, IntArray

__all__ = ["SequenceForm", "SequenceTree", "SparseMatrix"]


@dataclass(frozen=True)
class SequenceTree:
    """One player's decisions as a tree of sequences, deepest level last. I information sets, S sequences, L levels.

    Sequence 0 is the empty sequence. The actions of an information set are adjacent, so
    `first_sequence[i] : first_sequence[i + 1]` are the sequences that end in information set i.
    """

    information_set: IntArray  # [I]    its number in the history form
    parent_sequence: IntArray  # [I]    sequence that leads to the set
    first_sequence: IntArray  # [I+1]   slices of sequences; first_sequence[0] is 1
    level: IntArray  # [L+1]            slices of information sets, root first
    pair: IntArray  # [S]               pair of the history form that ends the sequence; -1 for the empty one


@dataclass(frozen=True)
class SparseMatrix:
    """Compressed rows."""

    start: IntArray  # [rows+1]    entries of row r are start[r] : start[r+1]
    column: IntArray  # [entries]
    value: FloatArray  # [entries]
    columns: int


@dataclass(frozen=True)
class SequenceForm:
    """A two-player game over sequences."""

    history: HistoryForm  # what it was derived from
    trees: tuple[SequenceTree, SequenceTree]
    payoff: tuple[SparseMatrix, SparseMatrix]  # [S of the player, S of the other]  the player's own utility times chance

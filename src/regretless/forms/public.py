"""The public form: what everybody sees, once, with a vector over private hands at every node.

A public state is a *betting node* (what has been done) together with a *runout* (what has been dealt in the open), so
the form is a product and stores its factors alone:

    betting tree × runouts of each street × hands of each player × payoffs of each terminal

1. The betting tree knows no cards. A chance node has one child: whatever is dealt, the same bets are possible.
2. A street's runouts are its deals. Deals that differ by a renaming of suits which changes neither the board nor the
   ranges are stored once, with the permutations of hands that give the others (its *copies*).
3. A player holds one of H hands. Two hands that share a card exclude each other (a *blocker*).
4. A terminal pays by who wins: three numbers a player, so rake and ties need no rule of their own.

With w the weights of both ranges and v(h, k) what a player gets with h against k, the value of the game is

    Σ w0[h] · w1[k] · v(h, k)  /  Σ w0[h] · w1[k]        over the pairs of hands that share no card,

and where chance deals, every deal that blocks neither hand is equally likely. Kuhn, Leduc, flop hold'em and hold'em
postflop are all of this kind; the arrays say nothing of ranks or suits.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from regretless.forms.history import FloatArray, IntArray
from regretless.reprs import brief

__all__ = ["DEAD", "BettingTree", "Hands", "Kind", "Payoffs", "PublicForm", "Street", "Symmetry", "no_symmetry"]

BoolArray = NDArray[np.bool_]

DEAD = -1  # strength of a hand that the runout blocks


class Kind(IntEnum):
    """What happens at a betting node."""

    DECISION = 0  # a player acts
    CHANCE = 1  # the street ends and cards are dealt
    FOLD = 2  # a player gave up
    SHOWDOWN = 3  # hands are compared


@dataclass(frozen=True)
class BettingTree:
    """Public actions alone, breadth first: N betting nodes, the children of a node adjacent. Node 0 is the root.

    A chance node belongs to the street that it ends and has exactly one child, which may be a chance node or a showdown
    when nobody can bet any more. A showdown belongs to the last street.
    """

    kind: IntArray  # [N]           a `Kind`
    player: IntArray  # [N]         who acts at a decision, who folded at a fold; -1 elsewhere
    street: IntArray  # [N]         0 on the street of the root
    parent: IntArray  # [N]         -1 at the root
    first_child: IntArray  # [N+1]  children of node n are first_child[n] : first_child[n+1]
    paid: FloatArray  # [N, 2]      chips each player has put in since the root (or in all, where the starting pot is 0)
    starting_pot: float  #          chips already there at the root, of nobody's
    labels: tuple[str, ...]  # [N]  the action that leads here, as a person reads it; "" at the root and after chance

    __repr__ = brief


@dataclass(frozen=True)
class Street:
    """What can be dealt up to a street: R runouts, those of one parent adjacent. Street 0 has one, of no cards."""

    cards: IntArray  # [R, C]        the C cards this street adds, a representative of the merged deals
    parent: IntArray  # [R]          runout of the street before; 0 on street 0
    first_child: IntArray  # [R+1]   runouts of the next street are first_child[r] : first_child[r+1]; all 0 on the last
    probability: float  #            of a single deal, given hands that it does not block; 1 on street 0
    first_copy: IntArray  # [R+1]    copies of runout r are copies[first_copy[r] : first_copy[r+1]]
    copies: IntArray  # [copies]     a row of `PublicForm.permutations`; each runout's first is 0, the identity
    symmetry: IntArray  # [R]        a row of `PublicForm.symmetry`: which hands play alike on this runout
    dead: tuple[BoolArray, BoolArray]  # [R, H] of each player: hands that the runout blocks, earlier streets included

    __repr__ = brief


@dataclass(frozen=True)
class Hands:
    """The private hands of one player: H of them, in one order for the whole game."""

    weight: FloatArray  # [H]   how likely the range holds it, before blockers
    cards: IntArray  # [H, 2]   the cards it blocks; -1 for the second where hands have one card
    same: IntArray  # [H]       the other player's hand with the same two cards; -1 where none, and in games of one card

    __repr__ = brief


@dataclass(frozen=True)
class Symmetry:
    """Cards and hands that play alike on a runout, because suit permutations that leave it in place exchange them.

    K different sets of such permutations occur, the first with the identity alone. Of the cards (or hands) that a set
    exchanges, the first stands for all: engines keep their numbers equal to its numbers, bit for bit. Otherwise
    rounding would separate them over thousands of iterations, and copies of a runout would no longer be copies.
    """

    cards: IntArray  # [K, deck]                    the card that stands for each card
    hands: tuple[IntArray, IntArray]  # [K, H] of each player: the hand that stands for each hand

    __repr__ = brief


def no_symmetry(deck: int, hands: tuple[Hands, Hands]) -> Symmetry:
    """Every card and every hand stands for itself."""
    first, second = (np.arange(len(held.weight), dtype=np.int16)[None] for held in hands)
    return Symmetry(np.arange(deck, dtype=np.int16)[None], (first, second))


@dataclass(frozen=True)
class Payoffs:
    """What each player gets at a terminal, in chips: [N, 2] each, 0 at other nodes.

    At a fold the player who folded gets `lose`, the other `win`. With rake the two players' do not sum to the pot.
    """

    win: FloatArray
    lose: FloatArray
    tie: FloatArray

    __repr__ = brief


@dataclass(frozen=True)
class PublicForm:
    """A two-player poker game as arrays. G suit permutations, F runouts of the last street."""

    name: str
    deck: int  # cards that blockers are numbered by: 52 in hold'em
    tree: BettingTree
    streets: tuple[Street, ...]
    hands: tuple[Hands, Hands]
    payoffs: Payoffs
    permutations: tuple[
        IntArray, IntArray
    ]  # [G, H] of each player; a copy's value of hand h is that of hand permutation[h]
    symmetry: Symmetry
    strength: tuple[IntArray, IntArray]  # [F, H] of each player: larger wins, equal ties, `DEAD` where blocked

    __repr__ = brief

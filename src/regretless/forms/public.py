"""The public form: the public tree, stored once, with a vector over private hands at every node.

A public state is a *betting node* (the actions so far) together with a *runout* (the public cards so far), so the form
is a product and stores only its factors:

    betting tree × runouts of each street × hands of each player × payoffs of each terminal

1. The betting tree contains no cards. A chance node has one child: the same bets are possible whatever is dealt.
2. A street's runouts are its deals. Deals that differ only by a renaming of suits that preserves the board and the
   ranges are stored once, with the permutations of hands that give the others (its *copies*).
3. A player holds one of H hands. Two hands that share a card exclude each other (*blockers*).
4. A terminal's payoff depends on who wins: three numbers per player, so rake and ties need no special case.

With w the weights of the ranges and v(h, k) the payoff of hand h against hand k, the value of the game is

    Σ w0[h] · w1[k] · v(h, k)  /  Σ w0[h] · w1[k]        over the pairs of hands that share no card,

and where chance deals, a deal that blocks neither hand has the probability of its runout: in most games all are equally
likely, but a few flops may stand for all, each with its weight. Kuhn, Leduc, flop hold'em and postflop hold'em all have
this form; the arrays know nothing of ranks or suits.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from regretless.forms.history import FloatArray, IntArray
from regretless.reprs import brief

__all__ = [
    "DEAD", "BettingTree", "Hands", "NodeKind", "Part", "Payoffs", "PublicForm", "Street", "Symmetry", "no_symmetry",
]  # fmt: skip

BoolArray = NDArray[np.bool_]

DEAD = -1  # strength of a hand that the runout blocks


class NodeKind(IntEnum):
    """What happens at a betting node."""

    DECISION = 0  # a player acts
    CHANCE = 1  # the street ends and cards are dealt
    FOLD = 2  # a player has folded
    SHOWDOWN = 3  # hands are compared


@dataclass(frozen=True, eq=False)
class BettingTree:
    """Public actions only, breadth first: N betting nodes, siblings adjacent. Node 0 is the root.

    Many forms may share one, so its arrays are read-only, and what is derived from it can be kept by its identity.
    A chance node belongs to the street that it ends and has exactly one child, which is a chance node or a showdown
    if nobody can bet any more. A showdown belongs to the last street.
    """

    kind: IntArray  # [N]           a `NodeKind`
    player: IntArray  # [N]         who acts at a decision, who folded at a fold; -1 elsewhere
    street: IntArray  # [N]         0 on the street of the root
    parent: IntArray  # [N]         -1 at the root
    first_child: IntArray  # [N+1]  children of node n are first_child[n] : first_child[n+1]
    paid: FloatArray  # [N, 2]      chips each player has put in since the root (in total, if the starting pot is 0)
    starting_pot: float  #          chips in the pot at the root
    labels: tuple[str, ...]  # [N]  the action that leads here, for display; "" at the root and after chance

    __repr__ = brief


@dataclass(frozen=True)
class Street:
    """The deals up to a street: R runouts, children of one parent adjacent. Street 0 has one runout, with no cards."""

    cards: IntArray  # [R, C]        the C cards this street adds; one deal represents those merged with it
    parent: IntArray  # [R]          runout of the street before; 0 on street 0
    first_child: IntArray  # [R+1]   runouts of the next street are first_child[r] : first_child[r+1]; all 0 on the last
    probability: FloatArray  # [R]   of a single deal, given hands that it does not block; 1 on street 0
    first_copy: IntArray  # [R+1]    copies of runout r are copies[first_copy[r] : first_copy[r+1]]
    copies: IntArray  # [copies]     a row of `PublicForm.permutations`; each runout's first is 0, the identity
    symmetry: IntArray  # [R]        a row of `PublicForm.symmetry`: which hands are equivalent on this runout
    dead: tuple[BoolArray, BoolArray]  # [R, H] per player: hands blocked by the runout or earlier streets

    __repr__ = brief


@dataclass(frozen=True)
class Hands:
    """The private hands of one player: H of them, in one order for the whole game."""

    weight: FloatArray  # [H]   weight in the range, before blockers
    cards: IntArray  # [H, 2]   the cards it blocks; the second is -1 in one-card games
    same: IntArray  # [H]       the other player's hand with the same two cards; -1 if none, and in one-card games

    __repr__ = brief


@dataclass(frozen=True)
class Symmetry:
    """Equivalent cards and hands on a runout: suit permutations that leave the runout unchanged exchange them.

    There are K different sets of such permutations, the first with only the identity. The first of the cards (or
    hands) that a set exchanges represents them all: engines keep the numbers of the others equal to it, bit for bit.
    Otherwise rounding would make them drift apart over thousands of iterations, and copies of a runout would differ.
    """

    cards: IntArray  # [K, deck]                    the card that represents each card
    hands: tuple[IntArray, IntArray]  # [K, H] per player: the hand that represents each hand

    __repr__ = brief


def no_symmetry(deck: int, hands: tuple[Hands, Hands]) -> Symmetry:
    """Every card and every hand represents itself."""
    first, second = (np.arange(len(each.weight), dtype=np.int16)[None] for each in hands)
    return Symmetry(np.arange(deck, dtype=np.int16)[None], (first, second))


@dataclass(frozen=True)
class Payoffs:
    """Payoff of each player at a terminal, in chips: [N, 2] each, 0 at other nodes.

    At a fold, the player who folded gets `lose` and the other `win`. With rake, the two do not sum to the pot.
    """

    win: FloatArray
    lose: FloatArray
    tie: FloatArray

    __repr__ = brief


@dataclass(frozen=True)
class Part:
    """Where the runouts of a part of a form are among those of the whole."""

    first: tuple[int, ...]  # [S]    of each street, the number of its first runout in the whole
    runouts: tuple[int, ...]  # [S]  of each street of the whole


@dataclass(frozen=True)
class PublicForm:
    """A two-player poker game as arrays. G suit permutations, F runouts of the last street."""

    name: str
    deck: int  # number of cards: 52 in hold'em
    tree: BettingTree
    streets: tuple[Street, ...]
    hands: tuple[Hands, Hands]
    payoffs: Payoffs
    permutations: tuple[IntArray, IntArray]  # [G, H] per player: the hand whose value each hand has on a copy
    symmetry: Symmetry
    strength: tuple[IntArray, IntArray]  # [F, H] per player: larger wins, equal ties, `DEAD` where blocked
    unit: float = 1.0  # chips in the unit that values of the whole game are given in, such as a big blind
    part: Part | None = None  # where its runouts are in the whole game, if it is a part of one (`parts.py`)

    __repr__ = brief

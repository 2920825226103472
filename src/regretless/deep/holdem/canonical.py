"""Canonical suits: situations that differ only in the names of the suits become the same seven cards.

A situation is what one player sees: two hole cards (a set), three of the flop (a set), the turn and the river. A
renaming of suits permutes the four suits' *signatures*,

    signature(suit) = (ranks of the flop, ranks held, turn, river, as far as they are of this suit),

and changes nothing else. So two situations are isomorphic exactly when their four signatures are the same up to order,
and sorting the signatures gives a canonical form: the suit with the largest becomes spades, the next hearts, and so on.
Suits with equal signatures are interchangeable, so ties need no rule. On the flop this is the form of
`cards.isomorphism.canonical_situation`; later, that one ignores the order in which turn and river came, which players
remember.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import torch

__all__ = ["ABSENT", "CARDS", "FLOP", "GROUPS", "HOLE", "RIVER", "TURN", "canonical_cards"]

HOLE, FLOP, TURN, RIVER = slice(0, 2), slice(2, 5), slice(5, 6), slice(6, 7)
GROUPS = (HOLE, FLOP, TURN, RIVER)
CARDS = 7
ABSENT = -1  # in place of a card that has not been dealt

RANKS, SUITS = 13, 4
# Bits of a signature below those of the flop's and the held ranks; turn and river are numbers of four bits.
_FLOP_BITS, _HOLE_BITS, _TURN_BITS = 21, 8, 4


def canonical_cards(cards: torch.Tensor) -> torch.Tensor:
    """The canonical form of each row of seven cards: hole cards, flop, turn, river, `ABSENT` where not dealt yet.

    Hole cards and flop come out with the highest card first. Works for any signed integer type, which is kept.

    >>> from regretless.cards.deck import board_text, parse_board
    >>> row = [*parse_board("Ac Kd"), *parse_board("Jd 2d Qc"), -1, -1]
    >>> board_text(canonical_cards(torch.tensor([row]))[0, :5].tolist())
    'As Kh Qs Jh 2h'
    """
    columns = cards.t().to(torch.int64)  # [7, n]: long rows are faster
    suit = columns & SUITS - 1  # of no card: any, since it adds nothing
    places = torch.arange(CARDS, device=cards.device)[:, None] * (RANKS * SUITS + 1)
    signature = torch.zeros(SUITS, len(cards), dtype=torch.int64, device=cards.device)
    signature.scatter_add_(0, suit, _signatures(cards.device)[places + columns + 1])
    name = torch.zeros(SUITS, len(cards), dtype=torch.int64, device=cards.device)  # suits with smaller signatures
    for one, other in combinations(range(SUITS), 2):
        smaller = signature[one] <= signature[other]
        name[other] += smaller
        name[one] += ~smaller
    renamed = torch.where(columns < 0, ABSENT, (columns & -SUITS) + name.gather(0, suit))
    left, right, *flop, turn, river = renamed
    highest = torch.maximum(torch.maximum(flop[0], flop[1]), flop[2])
    lowest = torch.minimum(torch.minimum(flop[0], flop[1]), flop[2])
    middle = flop[0] + flop[1] + flop[2] - highest - lowest
    found = [torch.maximum(left, right), torch.minimum(left, right), highest, middle, lowest, turn, river]
    return torch.stack(found, dim=1).to(cards.dtype)


@cache
def _signatures(device: torch.device) -> torch.Tensor:
    """[7 × 53] what a card (first: none) adds to the signature of its suit in each of the seven places."""
    rank = torch.arange(RANKS * SUITS) // SUITS
    bit, number = 1 << rank, rank + 1  # a turn or river of rank 0 differs from none
    dealt = [bit << _HOLE_BITS] * 2 + [bit << _FLOP_BITS] * 3 + [number << _TURN_BITS, number]
    table = torch.zeros(CARDS, RANKS * SUITS + 1, dtype=torch.int64)
    table[:, 1:] = torch.stack(dealt)
    return table.ravel().to(device)

"""Hold'em cards as tensors: canonical suits, strengths of hands, and the encoder of cards and bets.

**Canonical suits.** Situations that differ only in the names of the suits become the same seven cards. A situation is
what one player sees: two hole cards (a set), three of the flop (a set), the turn and the river. A renaming of suits
permutes the four suits' *signatures*,

    signature(suit) = (ranks of the flop, ranks of the hole cards, turn, river, as far as they are of this suit),

and changes nothing else. So two situations are isomorphic exactly when their four signatures are the same up to order,
and sorting the signatures gives a canonical form: the suit with the largest becomes spades, the next hearts, and so on.
Suits with equal signatures are interchangeable, so ties need no rule. On the flop this is the form of
`cards.isomorphism.canonical_situation`; later, that one ignores the order in which turn and river came, which players
remember.

**Strengths.** The lookup of `cards.strength_tables`, for a batch on a device.

**The encoder.** A card's embedding is the sum of three, of its rank (13), its suit (4) and itself (52); a card that has
not been dealt is 0. Embeddings are summed within hole cards, flop, turn and river, and concatenated:

    cards = ReLU(W₃ ReLU(W₂ ReLU(W₁ [hole; flop; turn; river])))
    bets  = two layers with a skip, over the bet features of the decision

The first layer is computed in another order: with c the counts of the cards in each group and E the embeddings,
W₁ [c₁ E; c₂ E; …] = Σ cᵢ (E W₁ᵢᵀ), a single product of the counts with a small table. It gives the same numbers, costs
less, and its gradient is a product too, so training on a GPU does not depend on the order of atomic additions.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import torch
import torch.nn.functional as functional
from torch import Tensor, nn

from regretless.cards.deck import DECK
from regretless.cards.strength_tables import HIGH_BITS, LOW_BITS, SUIT_BITS, strength_tables
from regretless.deep.networks import BetBranch, CardBranch

__all__ = ["ABSENT", "CARDS", "FLOP", "GROUPS", "HOLE", "RIVER", "TURN", "CardsAndBets", "Strengths", "canonical_cards"]

HOLE, FLOP, TURN, RIVER = slice(0, 2), slice(2, 5), slice(5, 6), slice(6, 7)
GROUPS = (HOLE, FLOP, TURN, RIVER)
CARDS = 7
ABSENT = -1  # stands for a card that has not been dealt

RANKS, SUITS = 13, 4
FLUSH = 5  # cards of one suit
# How far the ranks of the flop, those of the hole cards and the turn are shifted in a signature; turn and river are
# numbers of four bits.
_FLOP_BITS, _HOLE_BITS, _TURN_BITS = 21, 8, 4


def canonical_cards(cards: Tensor) -> Tensor:
    """The canonical form of each row of seven cards: hole cards, flop, turn, river, `ABSENT` where not dealt yet.

    Hole cards and flop come out with the highest card first. Works for any signed integer type, which is kept.

    >>> from regretless.cards.deck import board_text, parse_board
    >>> row = [*parse_board("Ac Kd"), *parse_board("Jd 2d Qc"), -1, -1]
    >>> board_text(canonical_cards(torch.tensor([row]))[0, :5].tolist())
    'As Kh Qs Jh 2h'
    """
    columns = cards.t().to(torch.int64)  # [7, n]: long rows are faster
    suit = columns & SUITS - 1  # where there is no card, any suit will do: nothing is added to its signature
    row = torch.arange(CARDS, device=cards.device)[:, None] * (RANKS * SUITS + 1)
    signature = torch.zeros(SUITS, len(cards), dtype=torch.int64, device=cards.device)
    signature.scatter_add_(0, suit, _signatures(cards.device)[row + columns + 1])
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
    canonical = [torch.maximum(left, right), torch.minimum(left, right), highest, middle, lowest, turn, river]
    return torch.stack(canonical, dim=1).to(cards.dtype)


@cache
def _signatures(device: torch.device) -> Tensor:
    """[7 × 53] what a card (first: no card) adds to the signature of its suit, for each of the seven columns."""
    rank = torch.arange(RANKS * SUITS) // SUITS
    bit, number = 1 << rank, rank + 1  # a turn or river of rank 0 differs from none
    dealt = [bit << _HOLE_BITS] * 2 + [bit << _FLOP_BITS] * 3 + [number << _TURN_BITS, number]
    table = torch.zeros(CARDS, RANKS * SUITS + 1, dtype=torch.int64)
    table[:, 1:] = torch.stack(dealt)
    return table.ravel().to(device)


class Strengths:
    """The tables on a device.

    >>> from regretless.cards.deck import parse_board
    >>> flush, straight = parse_board("AhJh9h6h2h"), parse_board("AhKdQcJsTh")
    >>> first, second = Strengths("cpu").of(torch.tensor([flush, straight])).tolist()
    >>> first > second
    True
    """

    def __init__(self, device: torch.device | str) -> None:
        tables = strength_tables()
        self.card_key = torch.tensor(tables.card_key, device=device)
        self.card_bit = torch.tensor(tables.card_bit, device=device)
        self.low_position = torch.tensor(tables.low_position.astype("int32"), device=device)
        self.high_offset = torch.tensor(tables.high_offset, device=device)
        self.rank_strength = torch.tensor(tables.rank_strength, device=device)
        self.flush_strength = torch.tensor(tables.flush_strength, device=device)
        self.suits = torch.arange(SUITS, device=device)

    def of(self, cards: Tensor) -> Tensor:
        """int16 strength of each row of 5, 6 or 7 different cards: larger is better, equal for equal hands."""
        index = cards.to(torch.int64)
        key, bits = self.card_key[index].sum(dim=1), self.card_bit[index].sum(dim=1)
        high, low = key >> LOW_BITS & (1 << HIGH_BITS) - 1, key & (1 << LOW_BITS) - 1
        without_flush = self.rank_strength[self.high_offset[cards.shape[1] - FLUSH, high] + self.low_position[low]]
        counts = key[:, None] >> SUIT_BITS + 4 * self.suits & 15  # [n, 4] cards of each suit
        largest, suit = counts.max(dim=1)
        with_flush = self.flush_strength[bits >> RANKS * suit & (1 << RANKS) - 1]
        return torch.where(largest >= FLUSH, with_flush, without_flush)


class CardsAndBets(nn.Module):
    """From observations of `HoldemWorld` [n, 8] to features [n, 2 × width]."""

    bets: Tensor  # [decisions, 48]   bet features
    column: Tensor  # [7]             where the counts of each card's group begin; column 0 of each is for no card

    def __init__(self, bets: Tensor, width: int) -> None:
        """`bets` has the bet features of every decision."""
        super().__init__()
        self.rank = nn.Embedding(RANKS, width)
        self.suit = nn.Embedding(SUITS, width)
        self.card = nn.Embedding(DECK, width)
        self.card_branch = CardBranch(len(GROUPS) * width, width)
        self.bet_branch = BetBranch(bets.shape[1], width)
        self.register_buffer("bets", bets, persistent=False)
        first = [1 + number * (DECK + 1) for number, group in enumerate(GROUPS) for _ in range(CARDS)[group]]
        self.register_buffer("column", torch.tensor(first), persistent=False)
        self.out_features = 2 * width

    def embeddings(self) -> Tensor:
        """[53, width] of no card, then of every card."""
        ranks = self.rank.weight.repeat_interleave(SUITS, dim=0)
        suits = self.suit.weight.repeat(RANKS, 1)
        return torch.cat([torch.zeros_like(ranks[:1]), ranks + suits + self.card.weight])

    def forward(self, observations: Tensor) -> Tensor:
        branch = self.card_branch
        index = observations[:, :CARDS].long() + self.column
        weight = branch.first.weight
        counts = torch.zeros(len(index), len(GROUPS) * (DECK + 1), dtype=weight.dtype, device=index.device)
        counts.scatter_add_(1, index, torch.ones_like(index, dtype=counts.dtype))
        by_group = weight.view(len(weight), len(GROUPS), -1)  # [width, 4, width]
        table = torch.einsum("cv,wgv->gcw", self.embeddings(), by_group).flatten(0, 1)  # [4 × 53, width]
        hidden = functional.relu(counts @ table + branch.first.bias)
        cards = functional.relu(branch.third(functional.relu(branch.second(hidden))))
        return torch.cat([cards, self.bet_branch(self.bets[observations[:, CARDS].long()])], dim=1)

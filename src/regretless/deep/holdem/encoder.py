"""Features of hold'em: embedded cards and bets.

A card's embedding is the sum of three, of its rank (13), its suit (4) and itself (52); a card that has not been dealt
is 0. Embeddings are summed within hole cards, flop, turn and river, and concatenated:

    cards = ReLU(W₃ ReLU(W₂ ReLU(W₁ [hole; flop; turn; river])))
    bets  = two layers with a skip, over the bet features of the decision

The first layer is computed in another order: with c the counts of the cards in each group and E the embeddings,
W₁ [c₁ E; c₂ E; …] = Σ cᵢ (E W₁ᵢᵀ), a single product of the counts with a small table. It gives the same numbers, costs
less, and its gradient is a product too, so training on a GPU does not depend on the order of atomic additions.
"""

from __future__ import annotations

import torch
import torch.nn.functional as functional
from torch import Tensor, nn

from regretless.cards.deck import DECK
from regretless.deep.holdem.canonical import CARDS, GROUPS
from regretless.deep.networks.encoder import BetBranch, CardBranch

__all__ = ["CardsAndBets"]

RANKS, SUITS = 13, 4


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

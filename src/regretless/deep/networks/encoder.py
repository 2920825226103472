"""What turns an observation into features for the trunk of a network.

`ObservationEncoder` is the interface; hold'em has its own with card embeddings. `TableEncoder` is for games whose
observations are numbered: each has a row of features in one or two tables, for cards and for bets, and a table is a
branch of layers:

    cards    three linear–ReLU layers
    bets     linear–ReLU, then linear + skip, ReLU

A game that is not poker has a single table and the layers of cards.
"""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as functional
from torch import Tensor, nn

__all__ = ["BetBranch", "CardBranch", "ObservationEncoder", "TableEncoder"]


class ObservationEncoder(Protocol):
    """A `torch.nn.Module` from observations [n, K] to features [n, out_features]."""

    @property
    def out_features(self) -> int: ...

    def __call__(self, observations: Tensor) -> Tensor: ...


class CardBranch(nn.Module):
    """Three linear–ReLU layers."""

    def __init__(self, in_features: int, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(in_features, width)
        self.second = nn.Linear(width, width)
        self.third = nn.Linear(width, width)

    def forward(self, cards: Tensor) -> Tensor:
        return functional.relu(self.third(functional.relu(self.second(functional.relu(self.first(cards))))))


class BetBranch(nn.Module):
    """Two layers, the second with a skip."""

    def __init__(self, in_features: int, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(in_features, width)
        self.second = nn.Linear(width, width)

    def forward(self, bets: Tensor) -> Tensor:
        hidden = functional.relu(self.first(bets))
        return functional.relu(self.second(hidden) + hidden)


class TableEncoder(nn.Module):
    """Features by the number of the observation, K = 1.

    Many observations share their cards or their bets, so a branch sees each distinct row of its table once, and its
    output is looked up.
    """

    cards: Tensor  # [distinct cards, card features]
    card_row: Tensor  # [observations]  row of `cards`
    bets: Tensor  # [distinct bets, bet features]; no rows if the game has none
    bet_row: Tensor  # [observations]

    def __init__(self, cards: Tensor, bets: Tensor | None, width: int) -> None:
        """`cards` and `bets` have a row for every observation."""
        super().__init__()
        rows, card_row = torch.unique(cards, dim=0, return_inverse=True)
        self.register_buffer("cards", rows, persistent=False)
        self.register_buffer("card_row", card_row, persistent=False)
        self.card_branch = CardBranch(cards.shape[1], width)
        self.bet_branch = None
        if bets is not None:
            rows, bet_row = torch.unique(bets, dim=0, return_inverse=True)
            self.register_buffer("bets", rows, persistent=False)
            self.register_buffer("bet_row", bet_row, persistent=False)
            self.bet_branch = BetBranch(bets.shape[1], width)
        self.out_features = width if bets is None else 2 * width

    def forward(self, observations: Tensor) -> Tensor:
        number = observations[:, 0].long()
        cards = _branch(self.card_branch, self.cards, self.card_row[number])
        if self.bet_branch is None:
            return cards
        return torch.cat((cards, _branch(self.bet_branch, self.bets, self.bet_row[number])), dim=1)


def _branch(branch: nn.Module, table: Tensor, row: Tensor) -> Tensor:
    """The branch's output for rows of its table, by way of the whole table where that is less work."""
    if len(table) < len(row):
        return functional.embedding(row, branch(table.float()))
    return branch(table[row].float())

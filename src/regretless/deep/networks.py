"""One architecture for advantages and policies: encoder, trunk, head.

    features = encoder(observations)
    hidden = ReLU(W₁ features)                                 with a skip if the widths match
    hidden = ReLU(W₂ hidden + hidden);  hidden = ReLU(W₃ hidden + hidden)
    output = W₄ normalise(hidden)                              zero mean and unit variance over the units

The head starts at 0, so an untrained network gives 0 for every action, as Algorithm 1 of Brown et al. (2019; see
`deep_cfr`) asks of the first one: regret matching then plays uniformly. A value network's outputs are advantages; a
policy network's are logits, for a softmax over the legal actions.

An encoder turns observations into features. `ObservationEncoder` is the interface; hold'em has its own with card
embeddings (`holdem_cards.py`). `TableEncoder` is for games whose observations are numbered: each has a row of features
in one or two tables, for cards and for bets, and each table has a branch of layers:

    cards    three linear–ReLU layers
    bets     linear–ReLU, then linear + skip, ReLU

A game that is not poker has a single table and the layers of cards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

import torch
import torch.nn.functional as functional
from torch import Tensor, nn

__all__ = [
    "BetBranch", "CardBranch", "Network", "ObservationEncoder", "TableEncoder", "legal_softmax", "new_network",
    "regret_matching",
]  # fmt: skip


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


class Network(nn.Module):
    """From observations [n, K] to one number per action [n, A]."""

    def __init__(self, encoder: ObservationEncoder, actions: int, width: int) -> None:
        super().__init__()
        self.encoder = cast(nn.Module, encoder)
        sizes = [encoder.out_features, width, width]
        self.trunk = nn.ModuleList(nn.Linear(size, width) for size in sizes)
        self.head = nn.Linear(width, actions)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, observations: Tensor) -> Tensor:
        hidden = self.encoder(observations)
        for layer in self.trunk:
            moved = layer(hidden)
            hidden = functional.relu(moved + hidden if moved.shape == hidden.shape else moved)
        return self.head(functional.layer_norm(hidden, hidden.shape[1:]))


def new_network(
    encoder: Callable[[int], ObservationEncoder], *, actions: int, width: int, seed: int, device: torch.device
) -> Network:
    """An untrained network; its parameters depend on the seed only, not on the device or on PyTorch's global state."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # `torch.manual_seed` would also seed the devices' generators
        network = Network(encoder(width), actions, width)
    return network.to(device)


def regret_matching(advantages: Tensor, legal: Tensor) -> Tensor:
    """[n, A] probabilities in proportion to positive advantages; where there are none, all on the largest.

    As in Brown et al., the largest is played, not all actions uniformly; actions that tie for it share equally.
    """
    positive = advantages.clamp(min=0.0) * legal
    total = positive.sum(dim=1, keepdim=True)
    among_legal = advantages.masked_fill(~legal, -torch.inf)
    largest = (among_legal == among_legal.amax(dim=1, keepdim=True)).to(advantages.dtype)
    # The smallest normal number keeps the branch that is not taken finite.
    matched = positive / total.clamp(min=torch.finfo(advantages.dtype).tiny)
    return torch.where(total > 0.0, matched, largest / largest.sum(dim=1, keepdim=True))


def legal_softmax(logits: Tensor, legal: Tensor) -> Tensor:
    """[n, A] softmax over the legal actions; 0 elsewhere."""
    return torch.softmax(logits.masked_fill(~legal, -torch.inf), dim=1)

"""The strength of five or seven cards in PyTorch: the lookup of `cards.strength_tables`, for a batch on a device."""

from __future__ import annotations

import torch

from regretless.cards.strength_tables import HIGH_BITS, LOW_BITS, SUIT_BITS, strength_tables

__all__ = ["Strengths"]

RANKS, SUITS = 13, 4
FLUSH = 5  # cards of one suit


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

    def of(self, cards: torch.Tensor) -> torch.Tensor:
        """int16 strength of each row of 5, 6 or 7 different cards: larger is better, equal for equal hands."""
        index = cards.to(torch.int64)
        key, bits = self.card_key[index].sum(dim=1), self.card_bit[index].sum(dim=1)
        high, low = key >> LOW_BITS & (1 << HIGH_BITS) - 1, key & (1 << LOW_BITS) - 1
        without_flush = self.rank_strength[self.high_offset[cards.shape[1] - FLUSH, high] + self.low_position[low]]
        counts = key[:, None] >> SUIT_BITS + 4 * self.suits & 15  # [n, 4] cards of each suit
        most, suit = counts.max(dim=1)
        with_flush = self.flush_strength[bits >> RANKS * suit & (1 << RANKS) - 1]
        return torch.where(most >= FLUSH, with_flush, without_flush)

"""What kind of flop it is: pairing, suits, connectedness and high cards.

pairing         unpaired, paired, trips
suits           rainbow (three suits), two-tone, monotone
connectedness   connected: three ranks in a row (9-8-7, 3-2-A); gapped: not in a row, but two hole cards can make a
                straight (9-7-5, 5-4-A); disconnected: they cannot, which includes all paired flops
high            the highest rank, an ace being high
broadways       cards from ten to ace
texture         suits of an unpaired flop, pairing and suits of a paired one: "two-tone", "paired rainbow", "trips"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regretless.cards.deck import RANKS

__all__ = ["CONNECTEDNESS", "PAIRINGS", "SUIT_KINDS", "Texture", "texture_of"]

PAIRINGS = ("unpaired", "paired", "trips")
SUIT_KINDS = ("rainbow", "two-tone", "monotone")
CONNECTEDNESS = ("connected", "gapped", "disconnected")

_ACE, _TEN = RANKS.index("A"), RANKS.index("T")
_STRAIGHT = 5  # ranks


@dataclass(frozen=True)
class Texture:
    """The texture columns of the tables."""

    ranks: str  # "QJ2", high card first
    high: str
    middle: str
    low: str
    pairing: str
    suits: str
    connectedness: str
    broadways: int
    texture: str

    def words(self) -> frozenset[str]:
        """The words by which a filter can ask for this flop."""
        return frozenset((self.pairing, self.suits, self.connectedness, f"{self.high}-high"))


def texture_of(flop: Sequence[int]) -> Texture:
    """The texture of three cards.

    >>> from regretless.cards.deck import parse_board
    >>> found = texture_of(parse_board("2h Qs Jh"))
    >>> found.ranks, found.texture, found.connectedness, found.broadways
    ('QJ2', 'two-tone', 'disconnected', 2)
    >>> texture_of(parse_board("Ts Th 4d")).texture, texture_of(parse_board("As 5h 3d")).connectedness
    ('paired rainbow', 'gapped')
    """
    ranks = sorted((card // 4 for card in flop), reverse=True)
    pairing = PAIRINGS[3 - len(set(ranks))]
    suits = SUIT_KINDS[3 - len({card % 4 for card in flop})]
    high, middle, low = (RANKS[rank] for rank in ranks)
    return Texture(
        ranks=high + middle + low,
        high=high,
        middle=middle,
        low=low,
        pairing=pairing,
        suits=suits,
        connectedness=_connectedness(ranks),
        broadways=sum(rank >= _TEN for rank in ranks),
        texture=suits if pairing == "unpaired" else pairing if pairing == "trips" else f"{pairing} {suits}",
    )


def _connectedness(ranks: Sequence[int]) -> str:
    if len(set(ranks)) < 3:
        return "disconnected"
    ace_low = [-1 if rank == _ACE else rank for rank in ranks]
    span = min(max(each) - min(each) for each in (ranks, ace_low))
    return "connected" if span == 2 else "gapped" if span < _STRAIGHT else "disconnected"

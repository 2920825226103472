"""All-in equities before the flop of the 169 classes of hands against each other, exact, as numbers of deals.

A deal of two classes is a hand of each, sharing no card, and one of the C(48, 5) = 1,712,304 boards of the other cards.
The table that comes with the package counts, for classes i ≤ j in the order of `CLASS_NAMES`, the deals that class i
wins and those that tie. The rest follows: `pairs_of_hands` counts the pairs of hands, so the number of deals is known,
and class j wins what is left.

`python -m regretless.cards.preflop_equities FILE` builds the table in about a minute: it compares all hands on each of
the 134,459 boards that differ in more than the names of the suits.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import DECK
from regretless.cards.hands import CLASS_NAMES, HAND_CARDS, HAND_CLASS
from regretless.cards.isomorphism import CanonicalBoards, canonical_boards
from regretless.cards.strength_tables import strength_tables

__all__ = ["BOARDS", "CLASS_SIZES", "ClassEquities", "class_equities", "count_deals", "pairs_of_hands", "top_hands"]

BOARDS: Final = 1_712_304  # of five cards out of the 48 that two hands leave
CLASSES: Final = len(CLASS_NAMES)
FILE: Final = "preflop_equities.npy"

# [169] hands of each class: 6, 4 or 12
CLASS_SIZES: Final[NDArray[np.int64]] = np.bincount(HAND_CLASS, minlength=CLASSES)
CLASS_SIZES.flags.writeable = False


@dataclass(frozen=True, eq=False)
class ClassEquities:
    """How each class of hands fares against each other one; read-only."""

    pairs: NDArray[np.int64]  # [169, 169] pairs of hands that share no card
    wins: NDArray[np.int64]  # [169, 169] deals that the first class wins
    ties: NDArray[np.int64]  # [169, 169] deals that tie

    @property
    def equity(self) -> NDArray[np.float64]:
        """[169, 169] the first class's share of the pot: wins and half the ties."""
        return (2 * self.wins + self.ties) / (2 * self.pairs * BOARDS)


@cache
def class_equities() -> ClassEquities:
    """The exact equities of all classes.

    >>> equity = class_equities().equity
    >>> aces, kings = CLASS_NAMES.index("AA"), CLASS_NAMES.index("KK")
    >>> round(float(equity[aces, kings]), 7), round(float(equity[kings, aces]), 7)
    (0.8194605, 0.1805395)
    """
    with (files("regretless.cards") / FILE).open("rb") as file:
        stored = np.load(file, allow_pickle=False)
    above = np.triu_indices(CLASSES)
    pairs = pairs_of_hands()
    wins, ties = np.zeros((2, CLASSES, CLASSES), dtype=np.int64)
    wins[above], ties[above] = stored
    ties.T[above] = stored[1]
    wins.T[above] = pairs[above] * BOARDS - stored[0] - stored[1]
    for array in (pairs, wins, ties):
        array.flags.writeable = False
    return ClassEquities(pairs, wins, ties)


def top_hands(percent: float) -> NDArray[np.float64]:
    """[1326] weights of the classes with the most equity against any hand, as near to this percentage of all hands as
    whole classes come.

    >>> CLASS_NAMES[int(HAND_CLASS[np.flatnonzero(top_hands(0.4))[0]])], round(float(top_hands(20).mean()), 2)
    ('AA', 0.2)
    """
    equities = class_equities()
    strength = np.average(equities.equity, axis=1, weights=equities.pairs)
    order = np.argsort(-strength, kind="stable")
    middle = np.cumsum(CLASS_SIZES[order]) - CLASS_SIZES[order] / 2  # a class whose middle is within the share is in it
    classes = np.zeros(CLASSES)
    classes[order[middle <= percent / 100 * len(HAND_CLASS)]] = 1.0
    return classes[HAND_CLASS]


def pairs_of_hands() -> NDArray[np.int64]:
    """[169, 169] how many hands of two classes can be dealt together: those that share no card.

    Of all pairs, those that share a card are left out, and a hand shares both its cards with itself.
    """
    holding = np.zeros((CLASSES, DECK), dtype=np.int64)  # hands of each class that hold each card
    for column in range(2):
        np.add.at(holding, (HAND_CLASS, HAND_CARDS[:, column]), 1)
    return np.asarray(np.outer(CLASS_SIZES, CLASS_SIZES) - holding @ holding.T + np.diag(CLASS_SIZES))


def count_deals(boards: CanonicalBoards) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Wins and ties [169, 169] over these boards, each counted as often as its multiplicity."""
    from regretless.cards._equity_kernels import count_class_pairs

    holding = np.array([np.flatnonzero(np.equal(HAND_CARDS, card).any(axis=1)) for card in range(DECK)])
    wins, ties = np.zeros((2, CLASSES, CLASSES), dtype=np.int64)
    count_class_pairs(boards.cards, boards.multiplicity, HAND_CARDS, holding, HAND_CLASS, strength_tables(), wins, ties)
    return wins, ties


def _write(path: str) -> None:
    """Build the table and write it."""
    wins, ties = count_deals(canonical_boards(5))
    above = np.triu_indices(CLASSES)
    np.save(path, np.stack([wins[above], ties[above]]).astype(np.uint32))


if __name__ == "__main__":
    _write(sys.argv[1])

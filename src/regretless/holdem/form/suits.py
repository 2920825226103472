"""Which deals of a spot are equivalent, so that one is solved for all, and how to map a dealt card to the solved one.

`runouts` explains the group of renamings and the copies of a deal. To read a deal, rename it: if π maps the solved card
to the dealt one, hand h plays what π⁻¹(h) plays, and the next card is looked up as π⁻¹ of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from regretless.cards.deck import DECK, SUITS, board_text
from regretless.cards.isomorphism import CARD_MAPS, SUIT_PERMUTATIONS, hand_maps, unchanged_by
from regretless.cards.ranges import Range
from regretless.errors import InvalidText
from regretless.forms.history import IntArray
from regretless.forms.public import PublicForm
from regretless.holdem.spots.locks import LockFrom
from regretless.holdem.spots.spot import Spot

__all__ = [
    "Deal", "count_deals", "count_runouts", "distinct_cards", "find_deal", "renaming_text", "spot_group", "suit_group",
]  # fmt: skip


def suit_group(
    board: Sequence[int], ip: Range, oop: Range, *, alike: Sequence[Range] = (), fixed: Sequence[int] = ()
) -> IntArray:
    """Rows of `SUIT_PERMUTATIONS` that preserve the board and the ranges, the identity first.

    They also preserve the hands in `alike` and every card in `fixed`.

    >>> from regretless.cards.deck import parse_board
    >>> pairs, one_suit = Range.parse("22+"), Range.parse("22+, AhKh")
    >>> flop = parse_board("Qs Jd 2d")
    >>> len(suit_group(flop, pairs, pairs)), len(suit_group(flop, pairs, one_suit))
    (2, 1)
    """
    rows = unchanged_by(board)
    if len(rows) > 1:
        for each in (ip, oop, *alike):
            changes_range = ~_preserved(each)[rows]
            if changes_range.any():  # perhaps only in hands that the board blocks
                live = each.remove(board).weights
                rows = rows[~changes_range | (live[hand_maps()[rows]] == live).all(axis=1)]
    for card in fixed:
        rows = rows[CARD_MAPS[rows, card] == card]
    return rows


@lru_cache(maxsize=256)
def _preserved(hand_range: Range) -> NDArray[np.bool_]:
    """[24] whether each renaming of suits preserves a whole range: then it does so on every board that it preserves."""
    weights = hand_range.weights
    preserved: NDArray[np.bool_] = (weights[hand_maps()] == weights).all(axis=1)
    preserved.flags.writeable = False
    return preserved


def spot_group(spot: Spot) -> IntArray:
    """The group of a spot, without the renamings that its locks rule out."""
    alike = [lock.range for lock in spot.locks if lock.hands]
    fixed = [card for lock in spot.locks for card in lock.cards]
    group = suit_group(spot.board, spot.ip, spot.oop, alike=alike, fixed=fixed)
    for lock in spot.locks:
        if isinstance(lock, LockFrom) and lock.suits:
            group = np.array([row for row in group if renaming_text(row) in lock.suits], dtype=np.int64)
    return group


def renaming_text(row: int) -> str:
    """The images of c, d, h and s under a renaming, a row of `SUIT_PERMUTATIONS`.

    >>> renaming_text(0), renaming_text(1)
    ('cdhs', 'cdsh')
    """
    return "".join(SUITS[suit] for suit in SUIT_PERMUTATIONS[row])


def count_runouts(spot: Spot, group: IntArray | None = None) -> tuple[int, ...]:
    """Number of deals to solve on each remaining street; equivalent deals count once.

    `group` is `spot_group(spot)`, if it is known already.

    >>> fields = {"pot": 1, "stack": 1, "oop": {"range": "KK"}, "ip": {"range": "AA"}, "bets": {"bet": "a"}}
    >>> count_runouts(Spot.from_mapping(fields | {"board": "Qs Jh 2h"}))
    (1, 36, 1429)
    """
    return (1, *count_deals([(spot.board, spot_group(spot) if group is None else group)], len(spot.streets) - 1))


def count_deals(boards: Sequence[tuple[tuple[int, ...], IntArray]], streets: int) -> Iterator[int]:
    """Deals to solve on each of the next `streets` streets after several boards, equivalent deals counted once.

    Each board comes with the renamings of suits that preserve it.
    """
    for street in range(streets):
        dealt = [(board, renamings, distinct_cards(board, renamings)) for board, renamings in boards]
        yield sum(len(cards) for _, _, cards in dealt)
        if street + 1 < streets:
            boards = [
                ((*board, card), renamings[CARD_MAPS[renamings, card] == card])
                for board, renamings, cards in dealt
                for card in cards.tolist()
            ]


def distinct_cards(dead: Sequence[int], group: IntArray) -> IntArray:
    """The highest card of each class of equivalent cards that can be dealt, in rising order; `dead` cannot."""
    highest = CARD_MAPS[group].max(axis=0) == np.arange(DECK)
    highest[list(dead)] = False
    return np.flatnonzero(highest)


@dataclass(frozen=True)
class Deal:
    """Where a form has the cards dealt so far: the runout that was solved, and how to rename hands to it."""

    street: int = 0
    runout: int = 0
    cards: tuple[int, ...] = ()  # as dealt
    renamed: tuple[int, ...] = tuple(range(DECK))  # [52] card of the solved runout that corresponds to each dealt card
    hands: tuple[IntArray, IntArray] | None = None  # [H] per player: the solved hand that each hand reads; None: itself


def find_deal(form: PublicForm, group: IntArray, deal: Deal, *cards: int) -> Deal:
    """The deal one street later. `group` is the form's, from `suit_group`."""
    street, following = form.streets[deal.street], form.streets[deal.street + 1]
    runouts = np.arange(street.first_child[deal.runout], street.first_child[deal.runout + 1])
    copies = following.copies[following.first_copy[runouts[0]] : following.first_copy[runouts[-1] + 1]]
    runout_of_copy = np.repeat(runouts, np.diff(following.first_copy)[runouts])
    dealt = np.take_along_axis(CARD_MAPS[group[copies]], following.cards[runout_of_copy].astype(np.int64), axis=1)
    solved_cards = sorted(deal.renamed[card] for card in cards)
    matches = np.flatnonzero((np.sort(dealt, axis=1) == solved_cards).all(axis=1))
    if not len(matches):
        reason = f"cannot be dealt after {board_text(deal.cards) or 'this board'}"
        raise InvalidText("card", board_text(cards), None, reason)
    runout, copy = int(runout_of_copy[matches[0]]), int(copies[matches[0]])
    inverse = np.argsort(CARD_MAPS[group[copy]])
    renamed = tuple(int(inverse[each]) for each in deal.renamed)
    first, second = (
        form.permutations[player][copy] if deal.hands is None else form.permutations[player][copy][deal.hands[player]]
        for player in range(2)
    )
    return Deal(deal.street + 1, runout, (*deal.cards, *cards), renamed, (first, second))

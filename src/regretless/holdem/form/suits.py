"""Which deals of a spot are equivalent, so that one is solved for all, and how to map a dealt card to the solved one.

`runouts` explains the group of renamings and the copies of a deal. To read a deal, rename it: if π maps the solved card
to the dealt one, hand h plays what π⁻¹(h) plays, and the next card is looked up as π⁻¹ of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regretless.cards.deck import DECK, SUITS, board_text
from regretless.cards.isomorphism import CARD_MAPS, SUIT_PERMUTATIONS, hand_maps, unchanged_by
from regretless.cards.ranges import Range
from regretless.errors import InvalidText
from regretless.forms.history import IntArray
from regretless.forms.public import PublicForm
from regretless.holdem.spots.locks import LockFrom
from regretless.holdem.spots.spot import Spot

__all__ = ["Deal", "count_runouts", "find_deal", "renaming_text", "spot_group", "suit_group"]


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
    live = [each.remove(board).weights for each in (ip, oop, *alike)]
    rows = [
        row
        for row in unchanged_by(board)
        if all(np.array_equal(weights[hand_maps()[row]], weights) for weights in live)
        and all(CARD_MAPS[row, card] == card for card in fixed)
    ]
    return np.array(rows, dtype=np.int64)


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


def count_runouts(spot: Spot) -> tuple[int, ...]:
    """Number of deals to solve on each remaining street; equivalent deals count once.

    >>> fields = {"pot": 1, "stack": 1, "oop": {"range": "KK"}, "ip": {"range": "AA"}, "bets": {"bet": "a"}}
    >>> count_runouts(Spot.from_mapping(fields | {"board": "Qs Jh 2h"}))
    (1, 36, 1429)
    """
    maps = CARD_MAPS[spot_group(spot)].astype(np.int64)
    tables = [(frozenset(spot.board), maps)]
    counts = [1]
    for _ in spot.streets[1:]:
        tables = [
            (table | {card}, group[group[:, card] == card])
            for table, group in tables
            for card in range(DECK)
            if card not in table and group[:, card].max() == card  # one of each class of equivalent cards
        ]
        counts.append(len(tables))
    return tuple(counts)


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
    wanted = sorted(deal.renamed[card] for card in cards)
    found = np.flatnonzero((np.sort(dealt, axis=1) == wanted).all(axis=1))
    if not len(found):
        reason = f"cannot be dealt after {board_text(deal.cards) or 'this board'}"
        raise InvalidText("card", board_text(cards), None, reason)
    runout, copy = int(runout_of_copy[found[0]]), int(copies[found[0]])
    inverse = np.argsort(CARD_MAPS[group[copy]])
    renamed = tuple(int(inverse[each]) for each in deal.renamed)
    first, second = (
        form.permutations[player][copy] if deal.hands is None else form.permutations[player][copy][deal.hands[player]]
        for player in range(2)
    )
    return Deal(deal.street + 1, runout, (*deal.cards, *cards), renamed, (first, second))

"""What a hand is on a board, in the words players use: top pair, a set, a flush draw.

The categories say what the two private cards add. A pair on the board alone is no pair of the player, and an ace that
pairs the board's ace makes top pair, even where the board has another pair. Straights, flushes, full houses and quads
count wherever their cards are.

Draws need a card to come and no straight or better so far:

    flush draw      four of a suit, at least one of them private
    straight draw   ranks that complete a straight which the board and that rank alone do not: two or more of them
                    make it open-ended (a double gutshot counts), one a gutshot
    backdoor        on the flop, three of a suit, at least one of them private

>>> from regretless.cards.deck import parse_board
>>> from regretless.cards.hands import hand_index
>>> kinds = hand_categories(parse_board("Ks 9h 4h"))
>>> hand = hand_index(*parse_board("Kh Qh"))
>>> MADE[kinds.made[hand]].label, DRAWS[kinds.draw[hand]].label
('Top pair', 'Flush draw')
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regretless.cards.hands import HAND_CARDS, HAND_COUNT

__all__ = ["DRAWS", "MADE", "Categories", "Category", "hand_categories"]


class Category(NamedTuple):
    """A category of hands."""

    key: str
    label: str


# best first
MADE: Final = (
    Category("straight-flush", "Straight flush"),
    Category("quads", "Quads"),
    Category("full-house", "Full house"),
    Category("flush", "Flush"),
    Category("straight", "Straight"),
    Category("set", "Set"),
    Category("trips", "Trips"),
    Category("two-pair", "Two pair"),
    Category("overpair", "Overpair"),
    Category("top-pair", "Top pair"),
    Category("second-pair", "Second pair"),
    Category("low-pair", "Low pair"),
    Category("pocket-pair", "Pocket pair below top"),
    Category("ace-high", "Ace high"),
    Category("king-high", "King high"),
    Category("nothing", "Nothing"),
)

# strongest first
DRAWS: Final = (
    Category("combo-draw", "Flush and straight draw"),
    Category("flush-draw", "Flush draw"),
    Category("open-ended", "Open-ended straight draw"),
    Category("gutshot", "Gutshot"),
    Category("backdoor-flush", "Backdoor flush draw"),
    Category("no-draw", "No draw"),
)

_MADE = {category.key: code for code, category in enumerate(MADE)}
_DRAW = {category.key: code for code, category in enumerate(DRAWS)}
_RANKS, _SUITS = HAND_CARDS // 4, HAND_CARDS % 4  # [1326, 2]
_WINDOWS = [[12, 0, 1, 2, 3], *([low + step for step in range(5)] for low in range(9))]  # ranks of each straight


class Categories(NamedTuple):
    """[1326] indices into `MADE` and `DRAWS`; hands that the board blocks have those of no hand."""

    made: NDArray[np.int8]
    draw: NDArray[np.int8]


@lru_cache(maxsize=256)
def hand_categories(board: tuple[int, ...]) -> Categories:
    """The categories of all 1,326 hands on a board of three to five cards."""
    cards = np.array(board)
    on_board = np.bincount(cards // 4, minlength=13)
    ranks = np.tile(on_board, (HAND_COUNT, 1))  # [1326, 13] how often each rank appears
    presence = np.zeros((HAND_COUNT, 4, 13), dtype=np.bool_)
    presence[:, cards % 4, cards // 4] = True
    every = np.arange(HAND_COUNT)
    for card in range(2):
        ranks[every, _RANKS[:, card]] += 1
        presence[every, _SUITS[:, card], _RANKS[:, card]] = True
    made = _made(ranks, presence, on_board)
    draw = _draws(ranks > 0, presence, cards, made) if len(board) < 5 else np.full(HAND_COUNT, _DRAW["no-draw"])
    blocked = np.isin(HAND_CARDS, cards).any(axis=1)
    made[blocked], draw[blocked] = _MADE["nothing"], _DRAW["no-draw"]
    categories = Categories(made.astype(np.int8), draw.astype(np.int8))
    for array in categories:
        array.flags.writeable = False
    return categories


def _has_straight(ranks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """[…] whether ranks [..., 13] contain five in a row."""
    straight: NDArray[np.bool_] = np.any([ranks[..., window].all(axis=-1) for window in _WINDOWS], axis=0)
    return straight


def _made(ranks: NDArray[np.int64], presence: NDArray[np.bool_], on_board: NDArray[np.int64]) -> NDArray[np.int64]:
    every = np.arange(HAND_COUNT)
    first, second = _RANKS[:, 1].astype(np.int64), _RANKS[:, 0].astype(np.int64)  # higher, lower
    pocket = first == second
    board_ranks = np.flatnonzero(on_board)[::-1]  # highest first
    order = np.full(13, len(board_ranks))  # of each rank among those of the board
    order[board_ranks] = np.arange(len(board_ranks))
    higher_pairs, lower_pairs = on_board[first] > 0, on_board[second] > 0
    paired = np.minimum(np.where(higher_pairs, order[first], 99), np.where(lower_pairs, order[second], 99))
    threes, pairs = (ranks >= 3).sum(axis=1), (ranks >= 2).sum(axis=1)
    own_three = (ranks[every, first] == 3) | (ranks[every, second] == 3)
    conditions = [
        ("straight-flush", _has_straight(presence).any(axis=1)),
        ("quads", (ranks == 4).any(axis=1)),
        ("full-house", (threes >= 1) & (pairs >= 2)),
        ("flush", (presence.sum(axis=2) >= 5).any(axis=1)),
        ("straight", _has_straight(ranks > 0)),
        ("set", own_three & pocket),
        ("trips", own_three),
        ("two-pair", ~pocket & higher_pairs & lower_pairs),
        ("overpair", pocket & (first > board_ranks[0])),
        ("top-pair", ~pocket & (paired == 0)),
        ("second-pair", ~pocket & (paired == 1)),
        ("low-pair", ~pocket & (paired < 99)),
        ("pocket-pair", pocket),
        ("ace-high", first == 12),
        ("king-high", first == 11),
    ]
    codes = [_MADE[key] for key, _ in conditions]
    return np.select([holds for _, holds in conditions], codes, default=_MADE["nothing"])


def _draws(
    ranks: NDArray[np.bool_], presence: NDArray[np.bool_], cards: NDArray[np.int64], made: NDArray[np.int64]
) -> NDArray[np.int64]:
    suits = presence.sum(axis=2)  # [1326, 4]
    private = np.zeros((HAND_COUNT, 4), dtype=np.bool_)
    private[np.arange(HAND_COUNT)[:, None], _SUITS] = True
    flush = ((suits == 4) & private).any(axis=1)
    backdoor = ((suits == 3) & private).any(axis=1) & (len(cards) == 3)
    board = np.zeros(13, dtype=np.bool_)
    board[cards // 4] = True
    outs = np.zeros(HAND_COUNT, dtype=np.int64)
    for rank in range(13):
        added, alone = ranks.copy(), board.copy()
        added[:, rank] = alone[rank] = True
        if not _has_straight(alone):
            outs += _has_straight(added)
    unmade = made > _MADE["straight"]
    conditions = [
        ("combo-draw", unmade & flush & (outs > 0)),
        ("flush-draw", unmade & flush),
        ("open-ended", unmade & (outs >= 2)),
        ("gutshot", unmade & (outs == 1)),
        ("backdoor-flush", unmade & backdoor),
    ]
    codes = [_DRAW[key] for key, _ in conditions]
    return np.select([holds for _, holds in conditions], codes, default=_DRAW["no-draw"])

"""A batch of runouts as the kernels read it: on each street and runout, the live hands in their own order.

On the last street hands are in order of strength, so that a showdown goes through them from the weakest to the
strongest; elsewhere they keep their order. Dead hands are left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from regretless.compiling import kernel
from regretless.engines.layout import padded
from regretless.forms.bucketed import BucketedForm, Runouts
from regretless.forms.history import AnyArray
from regretless.forms.public import Hands

__all__ = ["Boards", "arrange", "board_bytes", "row_width"]

Int8 = NDArray[np.int8]
Int16 = NDArray[np.int16]
Int32 = NDArray[np.int32]
Float32 = NDArray[np.float32]


class Boards(NamedTuple):
    """One street of a batch: R runouts, two players, rows of W positions, of which the first `live` are used."""

    weight: Float32  # [R]         multiplies reach where the street begins
    live: Int32  # [2, R]
    hand: Int16  # [2, R, W]       at each position
    bucket: Int32  # [2, R, W]
    cards: Int8  # [2, R, W, 2]    `deck` where there is none
    same: Int16  # [2, R, W]       position of the opponent's hand with the same cards; W − 1 if there is none
    range_weight: Float32  # [2, R, W]  of each hand
    groups: Int32  # [2, R]        groups of equally strong own hands; 0 before the last street, as are the following
    group_end: Int16  # [2, R, W]  where a group ends among the own hands
    weaker: Int16  # [2, R, W]     number of the opponent's hands that are weaker than the group
    equal: Int16  # [2, R, W]      number of those that are weaker or equal


class _Players(NamedTuple):
    cards: tuple[Int8, Int8]  # [H, 2]
    same: tuple[Int16, Int16]  # [H]
    weight: tuple[Float32, Float32]  # [H]


def row_width(form: BucketedForm) -> int:
    """Positions in a row, in whole lanes: the hands of the player with more, and a last one that is always 0."""
    return padded(max(len(hands.weight) for hands in form.hands) + 1)


def board_bytes(form: BucketedForm) -> int:
    """Bytes of the boards of a batch."""
    streets = len(form.buckets[0])
    per_hand = 2 + 4 + 2 + 2 + 4 + 3 * 2
    return (1 + (streets - 1) * form.runouts.count) * 2 * row_width(form) * per_hand


def arrange(form: BucketedForm, batch: Runouts) -> list[Boards]:
    """The boards of every street."""
    width, streets = row_width(form), len(batch.bucket[0])
    first, second = (_player(hands, form.deck) for hands in form.hands)
    players = _Players((first[0], second[0]), (first[1], second[1]), (first[2], second[2]))
    arranged = []
    for street in range(streets):
        count = len(batch.bucket[0][street])
        boards = _empty(count, width, form.deck)
        boards.weight[:] = batch.weight[street, :count]
        buckets = batch.bucket[0][street].astype(np.int32), batch.bucket[1][street].astype(np.int32)
        strength = batch.strength[0].astype(np.int32), batch.strength[1].astype(np.int32)
        _fill(boards, players, buckets, strength, street == streets - 1)
        arranged.append(boards)
    return arranged


def _player(hands: Hands, deck: int) -> tuple[Int8, Int16, Float32]:
    cards = np.where(hands.cards < 0, deck, hands.cards).astype(np.int8)
    return cards, hands.same.astype(np.int16), hands.weight.astype(np.float32)


def _empty(count: int, width: int, deck: int) -> Boards:
    def rows(dtype: DTypeLike) -> AnyArray:
        return np.zeros((2, count, width), dtype=dtype)

    return Boards(
        weight=np.ones(count, dtype=np.float32),
        live=np.zeros((2, count), dtype=np.int32),
        hand=rows(np.int16),
        bucket=rows(np.int32),
        cards=np.full((2, count, width, 2), deck, dtype=np.int8),
        same=rows(np.int16),
        range_weight=rows(np.float32),
        groups=np.zeros((2, count), dtype=np.int32),
        group_end=rows(np.int16),
        weaker=rows(np.int16),
        equal=rows(np.int16),
    )


@kernel
def _fill(
    boards: Boards,
    players: _Players,
    buckets: tuple[Int32, Int32],
    strengths: tuple[Int32, Int32],
    last: bool,
) -> None:
    count, width = boards.hand.shape[1:]
    position = np.empty((2, width), dtype=np.int16)
    for runout in range(count):
        for player in range(2):
            bucket, strength = buckets[player][runout], strengths[player][runout if last else 0]
            keys = np.empty(len(bucket), dtype=np.int64)  # strength, then hand: no two are equal
            live = 0
            for hand in range(len(bucket)):
                if bucket[hand] >= 0:
                    keys[live] = (np.int64(strength[hand]) << 16) * last + hand
                    live += 1
            order = np.sort(keys[:live]) if last else keys[:live]
            position[player, :] = width - 1
            boards.live[player, runout] = live
            for index in range(live):
                hand = order[index] & 0xFFFF
                position[player, hand] = index
                boards.hand[player, runout, index] = hand
                boards.bucket[player, runout, index] = bucket[hand]
                boards.range_weight[player, runout, index] = players.weight[player][hand]
                for side in range(2):
                    boards.cards[player, runout, index, side] = players.cards[player][hand, side]
        for player in range(2):
            for index in range(boards.live[player, runout]):
                same = players.same[player][boards.hand[player, runout, index]]
                boards.same[player, runout, index] = position[1 - player, same] if same >= 0 else width - 1
            if last:
                _group(boards, strengths[player][runout], strengths[1 - player][runout], player, runout)


@kernel
def _group(boards: Boards, own: Int32, other: Int32, player: int, runout: int) -> None:
    """Own hands of equal strength, and how many of the opponent's they beat or tie."""
    own_live, other_live = boards.live[player, runout], boards.live[1 - player, runout]
    own_hands, other_hands = boards.hand[player, runout], boards.hand[1 - player, runout]
    group, start, below = 0, 0, 0
    while start < own_live:
        strength, end = own[own_hands[start]], start
        while end < own_live and own[own_hands[end]] == strength:
            end += 1
        while below < other_live and other[other_hands[below]] < strength:
            below += 1
        boards.weaker[player, runout, group] = below
        while below < other_live and other[other_hands[below]] == strength:
            below += 1
        boards.equal[player, runout, group] = below
        boards.group_end[player, runout, group] = end
        group += 1
        start = end
    boards.groups[player, runout] = group

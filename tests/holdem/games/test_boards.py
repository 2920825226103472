"""Boards drawn for a game from the deal: every pair of hands meets each with the right weight, evenly spread."""

from __future__ import annotations

import numpy as np

from regretless.cards.deck import parse_board
from regretless.cards.hands import hand_index
from regretless.forms.public import DEAD
from regretless.holdem.games.boards import DrawnBoards, GameBuckets, flops_in_order

NOBODY = dict.fromkeys(("flop", "turn", "river"), False)


def test_every_pair_of_hands_meets_boards_with_the_right_weight() -> None:
    """The mean weight over draws is 1 on every street, whatever the two hands block."""
    source = DrawnBoards(GameBuckets(None, NOBODY), count=32, seed=5)
    hands = [hand_index(*parse_board(text)) for text in ("As Ah", "Kd Kc", "7h 2c", "Th 9h", "5s 5d", "Ac Kh")]
    draws = 150
    seen = np.zeros((3, len(hands), len(hands)))
    for iteration in range(1, draws + 1):
        runouts = source.draw(iteration)
        weight = np.cumprod(runouts.weight[1:], axis=0)
        for street in range(3):
            live = runouts.bucket[0][street + 1][:, hands] != DEAD  # [B, hands]
            seen[street] += np.einsum("b,bh,bk->hk", weight[street], live, live) / draws
    together = [(0, 1), (0, 2), (2, 3), (1, 4), (3, 4), (0, 3), (2, 5)]
    for street in range(3):
        weights = np.array([seen[street][pair] for pair in together])
        assert np.abs(weights - 1).max() < 0.04, (street, weights)


def test_the_boards_of_a_batch_are_spread_over_the_deck() -> None:
    source = DrawnBoards(GameBuckets(None, NOBODY), count=50, seed=1)
    flops = flops_in_order()
    assert flops.shape == (22_100, 3)
    number = {tuple(sorted(flop.tolist())): position for position, flop in enumerate(flops)}
    for iteration in (1, 2):
        boards = source.boards(iteration)
        assert all(len(set(board)) == 5 for board in boards.tolist())
        assert [number[tuple(sorted(board[:3]))] // 442 for board in boards.tolist()] == list(range(50))
        turns = [sorted(set(range(52)) - set(board[:3])).index(board[3]) for board in boards.tolist()]
        for part, turn in enumerate(sorted(turns)):  # one from each fiftieth of the 49 left
            assert 49 * part // 50 <= turn <= 49 * (part + 1) // 50
    assert not np.array_equal(source.boards(1), source.boards(2))
    assert np.array_equal(source.boards(7), DrawnBoards(GameBuckets(None, NOBODY), count=50, seed=1).boards(7))

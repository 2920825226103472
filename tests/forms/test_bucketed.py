"""Runouts drawn from a public form: each equally often, with the right weights, a function of the iteration."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.engines.random_public import random_form

from regretless.cards.deck import parse_board
from regretless.cards.evaluator import hand_strengths
from regretless.cards.hands import HAND_CARDS, blocked_by
from regretless.errors import InvalidOption
from regretless.forms.bucketed import bucketed_form, lossless
from regretless.forms.public import DEAD
from regretless.holdem.form.runouts import compile_spot, spot_hands
from regretless.holdem.spots.spot import Spot


def test_a_cycle_draws_every_runout_once() -> None:
    form = random_form(13, deck=7, streets=3)
    drawn = bucketed_form(form, lossless(form), count=6, seed=5).runouts
    seen: Counter[bytes] = Counter()
    for iteration in range(1, 7 * 6 // 6 + 1):
        for row in drawn.draw(iteration).bucket[0][2]:
            seen[row.tobytes()] += 1
    assert len(seen) == 42
    assert set(seen.values()) == {1}


def test_a_batch_depends_on_the_iteration_and_the_seed_only() -> None:
    form = random_form(4, deck=6, streets=3)

    def strengths(iteration: int, seed: int) -> np.ndarray:
        return bucketed_form(form, lossless(form), count=5, seed=seed).runouts.draw(iteration).strength[0]

    source = bucketed_form(form, lossless(form), count=5, seed=1).runouts
    later = [source.draw(iteration).strength[0] for iteration in range(1, 12)][-1]
    assert np.array_equal(later, strengths(11, 1))
    assert not np.array_equal(later, strengths(10, 1))
    assert not np.array_equal(later, strengths(11, 2))


def test_drawn_runouts_of_a_spot_are_real_deals() -> None:
    """Equivalent deals are stored once in the form; drawn ones must have the strengths of the cards they stand for."""
    spot = Spot.from_mapping(
        {"board": "Qs Jh 2h", "pot": 10, "stack": 20, "bets": {"bet": "a"}}
        | {"oop": {"range": "AA, KQs, 87s"}, "ip": {"range": "JJ-99, AKs, 54o"}}
    )
    form = compile_spot(spot)
    drawn = bucketed_form(form, lossless(form), count=48 * 49).runouts.draw(1)
    assert drawn.weight[:, 0] == pytest.approx([1, 49 / 45 / (48 * 49), 48 / 44])
    flop = parse_board("Qs Jh 2h")
    left = [card for card in range(52) if card not in flop]
    boards = [(*flop, turn, river) for turn in left for river in left if turn != river]
    strengths = hand_strengths(np.array(boards, dtype=np.uint8))
    for player, held in enumerate(spot_hands(spot)):
        wanted = Counter()
        for board, row in zip(boards, strengths, strict=True):
            wanted[np.where(blocked_by(board)[held], DEAD, row[held]).astype(np.int16).tobytes()] += 1
        assert Counter(row.astype(np.int16).tobytes() for row in drawn.strength[player]) == wanted
        assert len(HAND_CARDS[held]) == drawn.bucket[player][0].shape[1]
        dead_on_river = drawn.bucket[player][2] == DEAD
        assert np.array_equal(dead_on_river, drawn.strength[player] == DEAD)
        assert not (drawn.bucket[player][1] == DEAD)[~dead_on_river].any()


@pytest.mark.parametrize(("count", "seed"), [(0, 0), (1, -1), (1, 2**32)])
def test_impossible_draws_are_refused(count: int, seed: int) -> None:
    form = random_form(3)
    with pytest.raises(InvalidOption, match="seed" if count else "sample_runouts"):
        bucketed_form(form, lossless(form), count=count, seed=seed)

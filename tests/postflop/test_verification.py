"""The independent evaluation of solved spots: against the engine, against other code, against games of a few hands."""

from __future__ import annotations

import numpy as np
import pytest

from regretless.cards.evaluator import evaluate
from regretless.errors import InvalidOption, WouldNotFit
from regretless.postflop.plain_strength import showdown_strengths
from regretless.postflop.solution import SpotSolution


def test_strengths_order_hands_as_the_other_evaluator_does() -> None:
    random = np.random.default_rng(0)
    seen = set()
    for _ in range(150):
        cards = random.permutation(52)
        board, hands = cards[:5], cards[5:51].reshape(-1, 2)
        mine = showdown_strengths(board.tolist(), hands)
        shared = np.broadcast_to(board, (len(hands), 5))
        theirs = evaluate(np.hstack([shared, hands]).astype(np.uint8)).astype(np.int64)
        np.testing.assert_array_equal(
            np.sign(mine[:, None] - mine), np.sign(theirs[:, None] - theirs), err_msg=str(board)
        )
        seen |= set((mine >> 26).tolist())
    assert seen >= set(range(8))


def test_a_solve_reports_what_is_true(river: SpotSolution, turn: SpotSolution) -> None:
    for solution in (river, turn):
        found = solution.verify()
        assert found.exact
        assert found.exploitability == pytest.approx(found.reported, abs=1e-5 * found.pot)
        for player in ("oop", "ip"):
            assert found.ev[player] == pytest.approx(solution.ev[player], abs=1e-5 * found.pot)
        assert sum(found.ev.values()) == pytest.approx(found.pot, abs=1e-9)


def test_options_that_a_spot_cannot_use_are_refused(river: SpotSolution, flop: SpotSolution) -> None:
    for options, solution in (
        ({"turns": 4}, river),
        ({"seed": 4}, river),
        ({"full": True, "turns": 4}, flop),
        ({"full": True, "seed": 4}, flop),
        ({"turns": 1}, flop),
        ({"turns": 50}, flop),
        ({"seed": -1}, flop),
        ({"game": None}, flop),
    ):
        with pytest.raises(InvalidOption, match=next(reversed(options))):
            solution.verify(**options)


def test_memory_is_checked_first(flop: SpotSolution) -> None:
    with pytest.raises(WouldNotFit, match="verifying"):
        flop.verify(available=100_000)

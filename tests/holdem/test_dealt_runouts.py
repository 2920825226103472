"""A whole game with boards dealt from 52 cards: the weights are right, and push or fold is found again."""

from __future__ import annotations

import numpy as np
import pytest

from regretless import engines
from regretless.cards.deck import parse_board
from regretless.cards.hands import HAND_CLASS, blocked_by, hand_index
from regretless.forms.public import DEAD, Kind
from regretless.holdem.bucketed.dealt_runouts import DealtRunouts, compile_game
from regretless.holdem.buckets.table import NO_BUCKET
from regretless.holdem.games.game import HoldemGame
from regretless.variants import PRESETS, schedule

PUSH_OR_FOLD = """
stack = 10
small_blind = 0.5
big_blind = 1
[preflop]
limp = false
open = "a"
"""


class FewBuckets:
    """A stand-in for a table: three buckets on every street, by hand."""

    def count(self, street: object) -> int:
        return 3

    def lookup(self, boards: np.ndarray) -> np.ndarray:
        live = np.array([~blocked_by(board) for board in boards.tolist()])
        return np.where(live, np.arange(1326) % 3, NO_BUCKET).astype(np.uint16)


def test_boards_are_different_and_the_same_for_the_same_iteration() -> None:
    source = DealtRunouts(FewBuckets(), count=100, seed=4)
    boards = np.concatenate([source.boards(iteration) for iteration in range(1, 6)])
    assert len({tuple(row[:3]) for row in boards.tolist()}) == 500  # no flop comes up twice in a cycle
    assert all(len(set(row)) == 5 for row in boards.tolist())
    assert np.array_equal(DealtRunouts(FewBuckets(), count=100, seed=4).boards(5), boards[400:])
    assert not np.array_equal(DealtRunouts(FewBuckets(), count=100, seed=5).boards(5), boards[400:])


def test_every_pair_of_hands_meets_every_board_with_the_right_weight() -> None:
    """Averaged over boards, the weights of those that block neither hand sum to 1, and the equity is the known one."""
    source = DealtRunouts(FewBuckets(), count=2000, seed=1)
    drawn = source.draw(1)
    aces, kings = (hand_index(*parse_board(text)) for text in ("AsAh", "KsKh"))
    mine, theirs = drawn.strength[0][:, aces], drawn.strength[1][:, kings]
    live = (mine != DEAD) & (theirs != DEAD)
    weight = drawn.weight.prod(axis=0) * live
    share = np.where(mine > theirs, 1.0, np.where(mine == theirs, 0.5, 0.0))
    assert weight.sum() == pytest.approx(1.0, abs=0.03)
    assert (weight * share).sum() / weight.sum() == pytest.approx(0.8195, abs=0.03)
    for street in (1, 2, 3):
        assert np.array_equal(drawn.bucket[0][street] == DEAD, drawn.bucket[1][street] == DEAD)
    assert np.array_equal(drawn.bucket[0][3] == DEAD, drawn.strength[0] == DEAD)


def test_push_or_fold_is_found_again() -> None:
    """At ten big blinds the small blind pushes 58.28 % of hands and the big blind calls 37.38 %."""
    game = HoldemGame.parse(PUSH_OR_FOLD)
    form = compile_game(game, FewBuckets(), count=32, seed=2)
    engine = engines.create("numba", form, threads=1)
    engine.advance(schedule(PRESETS["linear"], first=1, count=400))
    combos = np.bincount(HAND_CLASS, minlength=169) / 1326
    pushing, calling = np.flatnonzero(form.tree.kind == Kind.DECISION).tolist()
    pushed, called = (float(engine.strategy(node)[1] @ combos) for node in (pushing, calling))  # action 0 is to fold
    assert pushed == pytest.approx(0.5828, abs=0.04)
    assert called == pytest.approx(0.3738, abs=0.04)

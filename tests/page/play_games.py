"""Whole games for the tests of play on the page: one on a flop, one with buckets, and one that ends before the flop."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.holdem.games.test_head_to_head import FLOP, GAME, on_flops
from tests.holdem.quick_tables import SPEC, fake_tables

import regretless as rl
from regretless.holdem.games import whole_game
from regretless.holdem.games.game import HoldemGame

__all__ = ["QUICK", "save_games"]

QUICK = {"target": 100, "threads": 1, "device": "cpu"}  # how flops are solved
ALL_IN = HoldemGame.from_mapping(
    {
        "stack": 20,
        "small_blind": 1,
        "big_blind": 2,
        "preflop": {"limp": False, "open": "2x, a", "3bet": "a"},
        "rules": {"add_allin": 0},
        "name": "small",
    }
)


def save_games(folder: Path) -> None:
    """Save flops.rgl, solved with real cards, buckets.rgl and all-in.rgl, with bets before the flop only."""
    on_flops(FLOP, 2).save(folder / "flops.rgl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole_game, "build_buckets", fake_tables)
        for name, game in (("buckets", GAME), ("all-in", ALL_IN)):
            solution = rl.solve(game, buckets=SPEC, iterations=10, sample_runouts=4, threads=1, device="cpu")
            solution.save(folder / f"{name}.rgl")

"""Flop hold'em: solved from the deal, saved, resumed and refused, and values that can be worked out."""

from __future__ import annotations

from itertools import pairwise
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regretless as rl
from regretless.cards.ranges import Range
from regretless.engines.numba.public.engine import NumbaPublicEngine
from regretless.errors import InvalidOption, WouldNotFit
from regretless.forms.betting import flatten, limit_branches
from regretless.games import FlopHoldem
from regretless.holdem.flops import all_flops
from regretless.holdem.form.runouts import compile_holdem
from regretless.holdem.games import dealt_form
from regretless.holdem.games.flop_holdem import FlopHoldemSolution, compile_flop_holdem
from regretless.variants import PRESETS, schedule


@pytest.mark.slow
def test_a_solve_from_the_deal(tmp_path: Path) -> None:
    """Takes 3 GB and a few minutes: values in big blinds, any node read, the file read back and resumed."""
    solution = rl.solve("flop-holdem", storage=16, iterations=6, measure_every=2)
    assert isinstance(solution, FlopHoldemSolution)
    assert solution.values[0] == pytest.approx(-solution.values[1], abs=1e-4)
    assert abs(solution.values[0]) < 0.5  # of a big blind
    assert len(solution.history) == 3
    for before, after in pairwise(solution.history):
        assert after.exploitability < before.exploitability
    answer = solution.as_json()
    assert answer["exploitability_mbb"] == pytest.approx(1000 * answer["exploitability"])
    assert (answer["big_blind"], answer["information_sets"]) == (100, 1_455_417_600 + 8 * 1326)
    assert sum(solution.strategy["AsAh:"].values()) == pytest.approx(1)
    line = "call, check, Qs Jh 2h, check"
    played, frequencies = solution.node(line).strategy, solution.node().frequencies
    solution.save(tmp_path / "flop.rgl")
    del solution
    loaded = rl.load(tmp_path / "flop.rgl")
    assert isinstance(loaded, FlopHoldemSolution)
    np.testing.assert_array_equal(loaded.node(line).strategy, played)
    assert loaded.node().frequencies == frequencies
    assert rl.solve(resume=loaded, iterations=8).exploitability < loaded.exploitability


def test_a_solve_that_does_not_fit_is_refused_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dealt_form, "available_bytes", lambda: 10**9)
    with pytest.raises(WouldNotFit, match="flop-holdem in 32 bits") as plain:
        rl.solve("flop-holdem", iterations=1)
    with pytest.raises(WouldNotFit, match="flop-holdem in 32 bits") as predicting:
        rl.solve("flop-holdem", iterations=1, variant="predictive-plus")
    assert predicting.value.needed > 1.3 * plain.value.needed  # a third number beside a regret and an average


@pytest.mark.parametrize("options", [{"form": "history"}, {"seed": 1}, {"sampling": "external"}, {"engine": "matrix"}])
def test_options_that_do_not_apply_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption, match=r"^form: .* too large|^(seed|sampling|engine): .*public form"):
        rl.solve("flop-holdem", iterations=1, **options)


def narrow(ip: str, oop: str) -> NumbaPublicEngine:
    """Every flop, but few hands: the small blind holds `ip`, the big blind `oop`."""
    game = FlopHoldem()
    tree = flatten(limit_branches(game.betting, game.move_name))
    form = compile_holdem((), Range.parse(ip), Range.parse(oop), tree, deals=(3,), name=game.name)
    return NumbaPublicEngine(form, threads=1)


def test_aces_against_the_worst_hand_win_the_big_blind() -> None:
    """72o loses more by calling a raise than by folding to it, and aces gain nothing by waiting."""
    engine = narrow("AA", "72o")
    engine.advance(schedule(PRESETS["discounted"], 1, 40))
    evaluation = engine.evaluate()
    assert evaluation.values == pytest.approx((100, -100), abs=0.02)  # chips: one big blind
    assert 0 <= evaluation.exploitability < 0.05


def test_neither_player_does_worse_than_by_folding() -> None:
    engine = narrow("AA, T9s, 72o", "KK, AQs, 54o")
    before = engine.evaluate().exploitability
    engine.advance(schedule(PRESETS["discounted"], 1, 20))
    evaluation = engine.evaluate()
    small, big = evaluation.values
    assert small + big == pytest.approx(0, abs=1e-4)
    assert evaluation.exploitability < 10 < before / 10
    gain = 2 * evaluation.exploitability
    assert -50 - gain <= small <= 100 + gain
    assert small == pytest.approx(18.03, abs=0.05)


def test_some_flops_stand_for_all() -> None:
    """All flops with their numbers give the same form; a few weigh together as much as all of them."""
    flops = {flop.cards: flop.weight for flop in all_flops()}
    every, same = (compile_flop_holdem(FlopHoldem(), some).streets[1] for some in (None, flops))
    np.testing.assert_array_equal(same.copies, every.copies)
    np.testing.assert_allclose(same.probability, every.probability, rtol=1e-12)
    some = dict(list(flops.items())[::100]) | {(51, 50, 49): 30.0}
    fewer = compile_flop_holdem(FlopHoldem(), some).streets[1]
    copies = np.diff(fewer.first_copy)
    weight = [some[tuple(cards)] for cards in fewer.cards.tolist()]
    np.testing.assert_allclose(fewer.probability * copies, np.divide(weight, sum(some.values())) * 22100 / comb(48, 3))

"""Charts that ship: they say what was solved, cover every decision before the flop, and lead to spots."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from regretless.cards.hands import CLASS_NAMES
from regretless.cards.ranges import Range
from regretless.errors import InvalidOption, InvalidText
from regretless.holdem import Spot
from regretless.holdem.games.charts import PreflopChart, chart, chart_formations, charts

RESULTS = Path(__file__).parents[3] / "benchmarks" / "results"
ROUNDED = 0.0051  # weights are whole percentages


@pytest.mark.parametrize("shown", charts().values(), ids=list(charts()))
def test_a_chart_is_what_was_solved_to_a_percent(shown: PreflopChart) -> None:
    results = json.loads((RESULTS / f"h200_whole_game_{shown.key}.json").read_text(encoding="utf-8"))
    assert shown.exploitability_mbb == pytest.approx(results["solve"]["exploitability_mbb"], abs=0.01)
    price = results["prices"][-1]
    assert (shown.priced_flops, shown.price_mbb) == (price["flops_priced"], round(price["exploitability_mbb"], 1))
    decisions = {", ".join(node.steps): node for node in shown.reader.before_cards()}
    assert set(decisions) == set(shown.decisions)
    for line, node in decisions.items():
        actions = shown.reader.actions(node.index)
        solved = np.array([list(results["preflop"][f"{name}:{line}"].values()) for name in CLASS_NAMES])
        assert list(results["preflop"][f"AA:{line}"]) == list(actions)
        strategy = shown.reader.strategy(node)
        first_hands = list(shown.reader.preflop_hands(int(shown.reader.tree.player[node.index])).values())
        assert np.abs(strategy.T[first_hands] - solved).max() <= len(actions) * ROUNDED
        assert strategy.sum(axis=0) == pytest.approx(1.0, abs=1e-12)


def test_deeper_stacks_come_later() -> None:
    stacks = [each.game.big_blinds for each in charts().values()]
    assert all(first < second for first, second in pairwise(stacks))
    assert [f"{stack:g}bb" for stack in stacks] == list(charts())


def test_ranges_after_a_line_add_up_to_the_range_that_arrives() -> None:
    shown = chart("20bb")
    replies = shown.ranges("raise 2")
    assert list(replies) == ["BB: fold", "BB: call", "BB: all-in 20"]
    assert sum(hands.combos for hands in replies.values()) == pytest.approx(1326, abs=1)
    arriving = shown.ranges("raise 2, call")
    assert arriving["BB"] == replies["BB: call"]
    assert arriving["SB"] == shown.ranges("")["SB: raise 2"]


def test_a_formation_has_the_ranges_pot_and_stack_of_its_line() -> None:
    (called,) = (each for each in chart_formations() if each.key == "hu-20bb-raise-2-call")
    spot = Spot.from_mapping(called.fields() | {"board": "Ks 7d 2c"})
    assert (spot.pot, spot.stack, spot.raiser, spot.position_of("ip")) == (4.0, 18.0, "ip", "SB")
    ranges = chart("20bb").ranges("raise 2, call")
    assert (Range.parse(called.ip.range), Range.parse(called.oop.range)) == (ranges["SB"], ranges["BB"])
    assert len({each.key for each in chart_formations()}) == len(chart_formations()) > 2 * len(charts())


def test_unknown_charts_and_lines_are_named() -> None:
    with pytest.raises(InvalidOption, match="chart: '7bb' is not one of 10bb, 15bb"):
        chart("7bb")
    with pytest.raises(InvalidText, match="raise 99"):
        chart("20bb").node("raise 99")
    with pytest.raises(InvalidText, match="nobody acts there before the flop"):
        chart("20bb").node("raise 2, call")
    with pytest.raises(InvalidText, match="a chart ends where the flop is dealt"):
        chart("20bb").node("raise 2, call, Ks 7d 2c")

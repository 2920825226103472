"""The exact price of strategies of games from the deal."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np
import pytest

import regretless as rl
from regretless.cards.deck import parse_board
from regretless.cards.hands import CLASS_NAMES, HAND_CLASS
from regretless.cards.preflop_equities import CLASS_SIZES
from regretless.cards.ranges import Range
from regretless.engines import Evaluation
from regretless.engines.formats import met_weights
from regretless.engines.numba.public.engine import StrategyEvaluator
from regretless.errors import InvalidOption
from regretless.forms.betting import flatten
from regretless.forms.public import BettingTree, NodeKind
from regretless.holdem.flops import ALL_FLOPS, read_flops
from regretless.holdem.form.betting import betting_of
from regretless.holdem.form.runouts import compile_holdem, holdem_hands
from regretless.holdem.games.boards import GameBuckets
from regretless.holdem.games.flop_pricer import (
    CLASSES,
    FlopPricer,
    FlopTree,
    PreflopValues,
    evaluate_game,
    flop_tree,
)
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.price_folder import PriceMemory, StoredFlop
from regretless.holdem.games.pricing import _over_all_flops

BLINDS = {"small_blind": 0.5, "big_blind": 1}


def test_push_or_fold_solved_exactly_costs_nothing() -> None:
    """The strategy of the exact solution, priced in the tree of the game from the deal."""
    game = HoldemGame.from_mapping(BLINDS | {"stack": 10, "preflop": {"limp": False, "open": "a"}})
    exact = rl.solve("push-fold(stack=10)")
    betting = betting_of(game)
    push = np.array([list(exact.strategy[f"{name}:"].values()) for name in CLASS_NAMES]).T
    call = np.array([list(exact.strategy[f"{name}:push"].values()) for name in CLASS_NAMES]).T
    evaluation = evaluate_game(betting.tree, betting.payoffs, lambda node: push if node == 0 else call, {}, 1.0)
    assert evaluation.values[0] == pytest.approx(-0.0453708, abs=1e-6)
    assert evaluation.values[0] == pytest.approx(exact.values[0], abs=1e-9)
    assert 0 <= evaluation.exploitability < 1e-7
    worse = evaluate_game(betting.tree, betting.payoffs, lambda node: np.full((2, 169), 0.5), {}, 1.0)
    assert worse.exploitability > 0.4


def test_the_values_of_a_flop_are_those_of_the_game_on_it() -> None:
    """Going up from where the flop's betting begins, hand by hand, gives what the evaluator says of the whole tree."""
    game = HoldemGame.from_mapping(BLINDS | {"stack": 3, "preflop": {"limp": True, "open": "a"}, "bets": {"bet": "a"}})
    betting = betting_of(game)
    tree, flop = betting.tree, parse_board("Qs Jh 2h")
    after_flop = flop_tree(tree)
    assert len(after_flop.begins) == 1  # limped; the others are all-in
    buckets = GameBuckets(None, dict.fromkeys(("flop", "turn", "river"), False))  # one bucket for all hands
    random = np.random.default_rng(3)
    tables = {
        int(node): random.dirichlet(
            np.ones(int(np.diff(tree.first_child)[node])), 169 if tree.street[node] == 0 else 1
        ).T
        for node in np.flatnonzero(tree.kind == NodeKind.DECISION)
    }
    values = FlopPricer(after_flop, betting.payoffs, buckets, tables.__getitem__).values(flop)

    # The spot that the limp leads to, with the ranges that reach it, evaluated as any other spot.
    hands = holdem_hands(flop, Range.parse("100%"))
    limp, check = tables[0], tables[int(tree.parent[after_flop.chance[0]])]
    reach = limp[_child(tree, "call")], check[_child(tree, "check")]
    ip, oop = (Range(each[HAND_CLASS]) for each in reach)
    spot_tree = flatten(betting.root.children["call"].children["check"].children[""])
    form = compile_holdem(flop, ip, oop, spot_tree)
    names = {
        int(node): tables[int(twin)]
        for node, twin in zip(range(len(spot_tree.kind)), _twins(tree, after_flop), strict=True)
        if int(twin) in tables
    }
    engine = StrategyEvaluator(form)
    exact = engine.evaluate(lambda node, runout: np.repeat(names[node], len(hands), axis=1))
    pairs = form.hands[0].weight @ met_weights(form.hands, form.deck)[0]
    for own in range(2):
        shares = reach[own] * values[own, :, 0] * CLASS_SIZES * comb(48, 3)  # [2, 169]
        assert shares[0].sum() / pairs == pytest.approx(exact.values[own], abs=1e-4)
        assert shares[1].sum() / pairs == pytest.approx(exact.best_response_values[own], abs=1e-4)
    assert exact.exploitability > 0.1


def _child(tree: BettingTree, label: str) -> int:
    """Which of its siblings the first action with a label is."""
    node = tree.labels.index(label)
    return node - int(tree.first_child[tree.parent[node]])


def _twins(tree: BettingTree, after_flop: FlopTree) -> list[int]:
    """The nodes of the whole tree below the limp, breadth first, as those of the spot."""
    nodes = [int(tree.first_child[after_flop.chance[0]])]
    for node in nodes:  # grows during the loop
        nodes += range(int(tree.first_child[node]), int(tree.first_child[node + 1]))
    return nodes


def test_the_price_of_a_solution_is_that_of_its_strategy() -> None:
    game = HoldemGame.from_mapping(BLINDS | {"stack": 10, "preflop": {"limp": False, "open": "a"}})
    solution = rl.solve(game, iterations=60, sample_runouts=32, threads=1)
    price = solution.price()
    assert price is not None
    assert price.count == 0
    evaluation = price.evaluation
    assert evaluation.values[0] + evaluation.values[1] == pytest.approx(0, abs=1e-12)
    assert evaluation.values[0] == pytest.approx(-0.04639, abs=1e-4)
    assert evaluation.exploitability == pytest.approx(0.00339, abs=1e-4)
    with pytest.raises(InvalidOption, match="flops: 25 does not apply to hold'em, which has no flops"):
        solution.price(flops=25)


def test_the_price_over_all_flops_is_extrapolated_from_halves() -> None:
    """Every hand may fold for 0 or play for what the flops bring, so knowing them gains where that is nearly 0."""
    random = np.random.default_rng(1)
    every = read_flops("all")
    margins = random.normal(0, 1, CLASSES) + random.normal(0, 4, (len(every), CLASSES))
    weight = np.array([flop.weight for flop in every]) / ALL_FLOPS

    def evaluation(total: PreflopValues) -> Evaluation:
        best = float(np.maximum(total / ALL_FLOPS, 0).mean())
        return Evaluation((0.0, 0.0), (best, best))

    exact = evaluation(ALL_FLOPS * (weight @ margins)).exploitability
    too_high, extrapolated = [], []
    for _ in range(20):
        rows = random.choice(len(every), 40, replace=False, p=weight)
        flops = [replace(every[row], weight=ALL_FLOPS / 40) for row in rows]
        store = PriceMemory()
        for flop, row in zip(flops, rows, strict=True):
            store.write(flop.text, StoredFlop(margins[row], 0.0))
        whole = evaluation(ALL_FLOPS * margins[rows].mean(axis=0))
        too_high.append(whole.exploitability - exact)
        extrapolated.append(_over_all_flops(whole, flops, store, evaluation) - exact)
    assert np.mean(too_high) > 0.05
    assert abs(np.mean(extrapolated)) < np.mean(too_high) / 3

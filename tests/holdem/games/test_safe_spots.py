"""Spots of games from the deal, solved safely: what each hand may leave with, and that no hand gains more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.holdem.quick_tables import SPEC, fake_tables

import regretless as rl
from regretless.cards.ranges import Range
from regretless.engines import StrategyEvaluator, create
from regretless.engines.contract import PublicStrategy
from regretless.errors import InvalidOption
from regretless.forms.blockers import met
from regretless.forms.history import FloatArray
from regretless.forms.public import PublicForm
from regretless.holdem.form.runouts import compile_spot, spot_hands
from regretless.holdem.games import whole_game
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.pricing import PricedSolution, Resolving
from regretless.holdem.games.real_cards import RealCardsSolution, compile_game
from regretless.holdem.games.safe_spots import Blueprint
from regretless.holdem.games.whole_game import NoLimitSolution
from regretless.holdem.spots.spot import Spot

FLOP = "7c 7d 7h"  # of all flops, the one with the fewest turns and rivers
TURN = f"call, check, {FLOP}, check, check, 2c"
RIVER = f"{TURN}, check, check, 2d"
GAME = HoldemGame.parse(
    """
    stack = 4
    small_blind = 0.5
    big_blind = 1
    preflop.open = "2x"
    preflop.raise_limp = ""
    preflop.3bet = ""
    bets.turn.bet = "a"
    bets.river.bet = "a"
    rules.add_allin = 0
    """
)


@pytest.fixture(scope="module")
def solution() -> RealCardsSolution:
    """After so few iterations that re-solving gains much."""
    solution = rl.solve(GAME, flops=FLOP, iterations=6, threads=1, device="cpu")
    assert isinstance(solution, RealCardsSolution)
    return solution


@pytest.fixture(scope="module")
def bucketed() -> NoLimitSolution:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole_game, "build_buckets", fake_tables)
        solution = rl.solve(GAME, buckets=SPEC, iterations=20, threads=1)
        assert isinstance(solution, NoLimitSolution)
        solution.reader.buckets.of(np.array([[0, 1, 2]], dtype=np.uint8))  # looks up the tables while they are quick
    return solution


def every_hand(spot: Spot, player: int) -> Spot:
    hands = Range.parse("100%").remove(spot.board)
    return replace(spot, ip=hands) if player == 0 else replace(spot, oop=hands)


def best_values(spot: Spot, player: int, strategy: PublicStrategy, form: PublicForm) -> FloatArray:
    """[H] what each hand of a player gains by best-responding; NaN where it can face none."""
    first, second = form.hands[player], form.hands[1 - player]
    possible = met(first, second, second.weight[None], form.deck)[0] > 1e-9
    return np.where(possible, StrategyEvaluator(form).root_values(player, strategy, best=True), np.nan) / spot.pot


def gains(solution: PricedSolution, line: str, strategy: PublicStrategy, player: int) -> FloatArray:
    """[1326] shares of the pot that each hand gains from a new strategy of the other player, whoever brings it."""
    spot = solution.spot_at(line)
    wide = every_hand(spot, player)
    form, hands = compile_spot(wide), spot_hands(wide)
    assert [len(street.parent) for street in form.streets] == [len(s.parent) for s in compile_spot(spot).streets]
    blueprint = Blueprint(solution.reader, solution.reader.find(line)).read(form, hands)

    def renewed(node: int, runout: int) -> FloatArray:
        own = form.tree.player[node] != player
        return strategy(node, runout) if own else blueprint(node, runout)

    new, old = (best_values(spot, player, each, form) for each in (renewed, blueprint))
    return new - old


@pytest.mark.parametrize("line", [TURN, RIVER])
def test_no_hand_gains_from_a_safe_solution(solution: RealCardsSolution, line: str) -> None:
    largest = []
    for safe in (True, False):
        resolved = solution.resolve(line, safe=safe, target=0.02, threads=1)
        assert resolved.reason == "target"
        found = [gains(solution, line, resolved.reader.results.strategy, player) for player in range(2)]
        if safe:
            assert max(np.nanmax(each) for each in found) < 0.01
            assert all(np.nanmean(np.maximum(each, 0.0)) < 0.0004 for each in found)  # twice the target
            assert resolved.exploitability_pct_pot > 0.02  # against the ranges that arrive
            assert resolved.verify().exploitability == pytest.approx(resolved.exploitability, abs=1e-4)
        largest.append(max(float(np.nanmax(each)) for each in found))
    assert largest[1] > 0.02 > largest[0]


def test_hands_may_leave_with_what_they_have_in_the_whole_game(solution: RealCardsSolution) -> None:
    """By another route: a best response in the form of the whole game, from the deal on."""
    form = compile_game(GAME, solution.flops)
    engine = create("numba", form, threads=1)
    assert solution.snapshot is not None
    engine.restore(solution.snapshot)
    line = "call, check, 7s 7h 7d"  # in other suits than those that were solved
    node, spot = solution.reader.find(line), solution.spot_at(line)
    street_nodes = np.flatnonzero(form.tree.street == 1).tolist()
    for player in range(2):
        best = engine.values_before_last(player, best=True)[1][node.deal.runout, street_nodes.index(node.index)]
        wide = every_hand(spot, player)
        spot_form, hands = compile_spot(wide), spot_hands(wide)
        played = Blueprint(solution.reader, node).read(spot_form, hands)
        offered = StrategyEvaluator(spot_form).root_values(player, played, best=True)
        own, other = spot_form.hands[player], spot_form.hands[1 - player]
        faced = met(own, other, other.weight[None], spot_form.deck)[0]
        paid = form.tree.paid[node.index, player]  # payoffs of a spot count from here
        read = best[solution.reader.read_by(node.deal, player)[hands[player]]]
        np.testing.assert_allclose((offered - paid) * faced, read, atol=2e-3 * float(faced.max()))
        assert np.abs(read).max() > 0.1 * float(faced.max())


def test_a_board_without_values_is_refused(solution: RealCardsSolution) -> None:
    with pytest.raises(InvalidOption, match="safe: True needs the values of hands on Ks 7d 2c, which was not solved"):
        solution.resolve("call, check, Ks 7d 2c", safe=True)
    with pytest.raises(InvalidOption, match="safe: True needs the values of hands on every flop"):
        solution.price(FLOP, resolve=Resolving(safe=True))
    with pytest.raises(InvalidOption, match=r"checkpoint: 'a\.rgl' cannot be combined with safe re-solving"):
        solution.resolve(RIVER, safe=True, checkpoint="a.rgl")


def test_safe_and_plain_solutions_are_saved_side_by_side(solution: RealCardsSolution, tmp_path: Path) -> None:
    folder = tmp_path / "game.flops"
    plain, safe = (solution.resolve(RIVER, safe=each, folder=folder, target=1.0) for each in (False, True))
    assert sorted(path.name for path in folder.iterdir()) == [
        "call-check-7c-7d-7h-check-check-2c-check-check-2d-safe.rgl",
        "call-check-7c-7d-7h-check-check-2c-check-check-2d.rgl",
    ]
    again = solution.resolve(RIVER, safe=True, folder=folder, target=1.0)
    assert again.path == folder / "call-check-7c-7d-7h-check-check-2c-check-check-2d-safe.rgl"
    assert again.spot.name == f"{plain.spot.name}, safe"
    assert again.root.frequencies == pytest.approx(safe.root.frequencies, abs=1e-6)
    closer = solution.resolve(RIVER, safe=True, folder=folder, target=0.1)
    assert closer.iterations > again.iterations
    assert not closer.is_resumable


def test_a_bucketed_game_covers_every_board(bucketed: NoLimitSolution) -> None:
    line = "call, check, Ks 7d 2c, check, check, 5h, check, check, 9s"
    resolved = bucketed.resolve(line, safe=True, target=0.02, threads=1)
    for player in range(2):
        gained = gains(bucketed, line, resolved.reader.results.strategy, player)
        assert np.nanmax(gained) < 0.005
        assert np.nanmin(gained) < -0.05  # but re-solving is worth something


def test_the_price_of_safe_re_solving_is_not_above_that_of_the_strategy(bucketed: NoLimitSolution) -> None:
    """On the flop that is priced, a best response gains at most twice the target more, once per player."""
    prices = [bucketed.price(FLOP, resolve=each, threads=1) for each in (False, Resolving(target=2, safe=True))]
    blueprint, safe = (price for price in prices if price is not None)
    assert (safe.resolved, safe.safe, safe.as_json()["safe"]) == (True, True, True)
    assert "every flop solved again, safely" in safe.meaning
    for own in range(2):
        before, after = (each.evaluation.best_response_values[own] for each in (blueprint, safe))
        assert after < before + 0.008
    assert safe.exploitability_mbb < blueprint.exploitability_mbb + 8

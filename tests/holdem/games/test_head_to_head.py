"""Two whole games against each other, compared with a form of the whole game in which both are evaluated at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from tests.holdem.quick_tables import SPEC, fake_tables

import regretless as rl
from regretless import engines
from regretless.engines import PublicStrategy
from regretless.errors import InvalidFile, InvalidOption, WouldNotFit
from regretless.forms.history import FloatArray
from regretless.forms.public import PublicForm
from regretless.holdem.form.runouts import runout_boards
from regretless.holdem.form.suits import Deal
from regretless.holdem.games import whole_game
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.pricing import PricedSolution, Resolving
from regretless.holdem.games.real_cards import RealCardsSolution
from regretless.holdem.games.whole_game import NoLimitSolution
from regretless.holdem.reading.line_reader import LineNode

GAME = HoldemGame.parse(
    """
    name = "no all-in before the flop"
    stack = 8
    small_blind = 0.5
    big_blind = 1
    preflop.open = "2x"
    preflop.raise_limp = ""
    preflop.3bet = ""
    bets.river.bet = "50%"
    rules.add_allin = 0
    rules.force_allin = 0
    """
)
FLOP, OTHER = "7c 7d 7h", "2c 2d 2h"  # of all flops, those with the fewest turns and rivers


def on_flops(flops: str, iterations: int) -> RealCardsSolution:
    solution = rl.solve(GAME, flops=flops, iterations=iterations, storage=16, threads=1, device="cpu")
    return cast("RealCardsSolution", solution)


@pytest.fixture(scope="module")
def better() -> RealCardsSolution:
    return on_flops(f"{FLOP}, {OTHER}", 12)


@pytest.fixture(scope="module")
def worse() -> RealCardsSolution:
    return on_flops(FLOP, 2)


@pytest.fixture(scope="module")
def buckets() -> NoLimitSolution:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole_game, "build_buckets", fake_tables)
        return cast("NoLimitSolution", rl.solve(GAME, buckets=SPEC, iterations=20, threads=1, device="cpu"))


def strategy_on(form: PublicForm, solution: PricedSolution) -> PublicStrategy:
    """What a solution plays on a form of the whole game that it was solved on, read one board at a time."""
    if isinstance(solution, RealCardsSolution):
        return solution.reader.strategies.strategy
    boards = runout_boards(form, ())

    def played(node: int, runout: int) -> FloatArray:
        street = int(form.tree.street[node])
        deal = Deal(street, 0, tuple(boards[street][runout].tolist()))
        rows = solution.reader.strategy(LineNode(node, deal, (np.empty(0), np.empty(0))))
        return np.where(rows.sum(axis=0) > 0, rows, 1 / len(rows))  # hands that the board blocks

    return played


def evaluated(form: PublicForm, first: PublicStrategy, second: PublicStrategy) -> tuple[float, ...]:
    players = first, second
    evaluator = engines.create("numba", form, threads=1)
    return evaluator.evaluate(lambda node, runout: players[form.tree.player[node]](node, runout)).values


def check(first: PricedSolution, second: PricedSolution, form: PublicForm) -> None:
    result = first.against(second, FLOP, threads=1)
    strategies = [strategy_on(form, each) for each in (first, second)]
    assert result.seats[0] == pytest.approx(evaluated(form, *strategies), abs=1e-5)
    assert result.seats[1][::-1] == pytest.approx(evaluated(form, *strategies[::-1]), abs=1e-5)


def test_values_are_those_of_the_whole_game(worse: RealCardsSolution, buckets: NoLimitSolution) -> None:
    many = on_flops(FLOP, 12)
    form = worse.reader.form
    check(many, worse, form)
    check(many, buckets, form)
    check(buckets, worse, form)
    result = many.against(worse)
    assert result.as_json()["edge_mbb"] == 1000 * result.edge > 10
    assert result.as_json()["flops"] == 1
    assert worse.against(many).edge == pytest.approx(-result.edge, abs=1e-12)


def test_a_solution_wins_nothing_from_itself(better: RealCardsSolution, buckets: NoLimitSolution) -> None:
    result = better.against(better)
    assert (result.edge, result.flops) == (0, 2)
    assert result.seats[0] == pytest.approx(better.values, abs=1e-4)  # 16 bits are evaluated in other steps
    assert buckets.against(buckets, FLOP, threads=1).edge == 0


def test_buckets_against_themselves_are_worth_what_they_are_priced_at(buckets: NoLimitSolution) -> None:
    price = buckets.price(FLOP, threads=1)
    assert price is not None
    assert buckets.against(buckets, FLOP, threads=1).seats[0] == pytest.approx(price.evaluation.values, abs=1e-6)


def test_flops_that_both_were_solved_on_are_the_default(better: RealCardsSolution, worse: RealCardsSolution) -> None:
    assert better.against(worse).seats == better.against(worse, FLOP).seats
    with pytest.raises(InvalidOption, match=r"resolve: .* cannot be safe against another solution"):
        better.against(worse, OTHER, resolve=Resolving(safe=True))
    with pytest.raises(InvalidOption, match=r"flops: '2s2h2d' was not solved by the solve of .*: resolve=True solves"):
        better.against(worse, OTHER)


def test_a_flop_that_was_not_solved_is_solved_again(better: RealCardsSolution, worse: RealCardsSolution) -> None:
    """By the one that lacks it, with its own ranges, as a price solves it."""
    again = Resolving(target=5, iterations=300)
    alone, price = worse.against(worse, OTHER, resolve=again), worse.price(OTHER, resolve=again, threads=1)
    assert price is not None
    assert alone.edge == 0
    assert alone.seats[0] == pytest.approx(price.evaluation.values, abs=1e-5)
    result = better.against(worse, OTHER, resolve=again)
    assert result.flops == 1
    assert sum(result.seats[0]) == pytest.approx(0, abs=1e-5)
    assert result.edge > better.against(worse).edge / 10  # solving the flop again saves some of its losses, not all


def test_a_file_plays_what_was_saved(better: RealCardsSolution, worse: RealCardsSolution, tmp_path: Path) -> None:
    better.save(tmp_path / "better.rgl")
    loaded = rl.load(tmp_path / "better.rgl")
    assert loaded.against(worse).seats == better.against(worse).seats


def test_a_game_without_flops_needs_none() -> None:
    push_fold = HoldemGame.from_mapping(
        {"stack": 10, "small_blind": 0.5, "big_blind": 1, "preflop": {"limp": False, "open": "a"}}
    )
    first, second = (rl.solve(push_fold, iterations=count, threads=1, device="cpu") for count in (200, 1))
    result = first.against(second)
    assert result.edge > 0
    assert result.seats[0][0] == pytest.approx(-result.seats[0][1], abs=1e-9)
    with pytest.raises(InvalidOption, match="flops: 25 does not apply"):
        first.against(second, 25)
    with pytest.raises(InvalidOption, match="device: 'cpu' does not apply"):
        first.against(second, device="cpu")


def test_what_cannot_be_played_is_refused(
    better: RealCardsSolution, worse: RealCardsSolution, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(worse, rules=replace(worse.rules, stack=9.0))
    with pytest.raises(InvalidFile, match="is a solve of a different game from the solve of no all-in"):
        better.against(other)
    with pytest.raises(InvalidFile, match="the solve of kuhn: is a solve of a different game"):
        better.against(rl.solve("kuhn", iterations=1))
    with pytest.raises(InvalidOption, match="turns: 3 is not for games from the deal"):
        better.against(worse, turns=3)
    with pytest.raises(InvalidOption, match="device: 'cuda' evaluates strategies per bucket"):
        better.against(worse, FLOP, device="cuda")
    monkeypatch.setattr("regretless.engines.numba.public.bucket_evaluator.available_bytes", lambda: 10**6)
    with pytest.raises(WouldNotFit, match="the values of a flop"):
        better.against(worse, FLOP)


def test_the_default_flops_do_not_depend_on_whose_turn_it_is(better: RealCardsSolution) -> None:
    other = on_flops(f"{FLOP}, 3c 3d 3h, 2c 2d 2h", 2)
    result = better.against(other)
    assert result.flops == 2
    assert other.against(better).edge == pytest.approx(-result.edge, abs=1e-12)
    with pytest.raises(InvalidOption, match=r"flops: None must be chosen: .* have none in common"):
        better.against(on_flops("3c 3d 3h", 2))

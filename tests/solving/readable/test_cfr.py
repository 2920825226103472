"""Kuhn poker has a solution on paper: the recursion must find it."""

import pytest

from regretless.engines.contract import Sampling, Updates
from regretless.games import Kuhn
from regretless.solving import CFR, evaluate, expected_values, uniform_strategy
from regretless.variants import PRESETS, schedule


def solved(variant: str, iterations: int, **options) -> CFR:
    cfr = CFR(Kuhn(), **options)
    cfr.advance(schedule(PRESETS[variant], 1, iterations))
    return cfr


def equilibrium(alpha: float) -> dict[str, dict[str, float]]:
    bets = {
        "0:": alpha, "1:": 0, "2:": 3 * alpha, "0:pb": 0, "1:pb": alpha + 1 / 3, "2:pb": 1,
        "0:p": 1 / 3, "1:p": 0, "2:p": 1, "0:b": 0, "1:b": 1 / 3, "2:b": 1,
    }  # fmt: skip
    return {key: {"p": 1 - bet, "b": bet} for key, bet in bets.items()}


@pytest.fixture(scope="module")
def vanilla() -> CFR:
    return solved("vanilla", 10_000)


def test_vanilla_matches_the_published_exploitability(vanilla: CFR) -> None:
    """OpenSpiel's CFR, also alternating, gives 0.000113324 after 10,000 iterations."""
    assert vanilla.evaluate().exploitability == pytest.approx(0.000113324, abs=1e-6)


def test_value(vanilla: CFR) -> None:
    assert vanilla.evaluate().values[0] == pytest.approx(-1 / 18, abs=5e-5)


def test_the_average_strategy_is_in_the_equilibrium_family(vanilla: CFR) -> None:
    strategy = vanilla.average_strategy()
    bets = {key: probabilities["b"] for key, probabilities in strategy.items()}
    alpha = bets["0:"]
    assert 0 <= alpha <= 1 / 3 + 0.003
    for key, probabilities in equilibrium(alpha).items():
        assert bets[key] == pytest.approx(probabilities["b"], abs=0.003), key


def test_plus_reaches_a_ten_thousandth_in_a_thousand_iterations() -> None:
    evaluation = solved("plus", 1_000).evaluate()
    assert evaluation.exploitability <= 1e-4
    assert evaluation.values[0] == pytest.approx(-1 / 18, abs=1e-5)


@pytest.mark.parametrize("variant", PRESETS)
def test_every_variant_converges(variant: str) -> None:
    assert solved(variant, 500).evaluate().exploitability < 5e-3


@pytest.mark.parametrize("variant", ["vanilla", "linear", "discounted"])
def test_simultaneous_updates_converge(variant: str) -> None:
    assert solved(variant, 1_000, updates=Updates.SIMULTANEOUS).evaluate().exploitability < 1e-2


@pytest.mark.parametrize("alpha", [0.0, 0.1, 1 / 3])
def test_the_paper_solution_is_unexploitable(alpha: float) -> None:
    evaluation = evaluate(Kuhn(), equilibrium(alpha))
    assert evaluation.exploitability == pytest.approx(0, abs=1e-12)
    assert evaluation.values == pytest.approx((-1 / 18, 1 / 18), abs=1e-12)


def test_a_king_that_does_not_bet_after_a_check_is_exploitable() -> None:
    """One well-known table has the second player's king bet 1/3 after a check; it always bets."""
    strategy = equilibrium(0.2)
    strategy["2:p"] = {"p": 2 / 3, "b": 1 / 3}
    assert evaluate(Kuhn(), strategy).exploitability > 0.01


def test_uniform_play() -> None:
    strategy = uniform_strategy(Kuhn())
    assert len(strategy) == 12
    assert evaluate(Kuhn(), strategy).exploitability == pytest.approx(0.4583333333, abs=1e-9)
    assert sum(expected_values(Kuhn(), strategy)) == pytest.approx(0, abs=1e-12)


def test_chance_sampling_is_seeded() -> None:
    first, again, other = (
        solved("vanilla", 500, sampling=Sampling.CHANCE, seed=seed).average_strategy() for seed in (7, 7, 8)
    )
    assert first == again != other


def test_chance_sampling_converges() -> None:
    cfr = solved("vanilla", 20_000, sampling=Sampling.CHANCE, seed=7)
    assert cfr.evaluate().exploitability < 0.02
    assert cfr.evaluate().values[0] == pytest.approx(-1 / 18, abs=5e-4)


def test_three_players_report_nash_conv() -> None:
    cfr = CFR(Kuhn(players=3))
    cfr.advance(schedule(PRESETS["plus"], 1, 30))
    evaluation = cfr.evaluate()
    assert len(evaluation.values) == 3
    assert sum(evaluation.values) == pytest.approx(0, abs=1e-12)
    assert 0 <= evaluation.nash_conv < evaluate(Kuhn(players=3), uniform_strategy(Kuhn(players=3))).nash_conv

"""The plain CFR that students read first is the published algorithm, and prints what it learned."""

from __future__ import annotations

from typing import Any

import pytest

import regretless as rl
from regretless.errors import InvalidOption, InvalidText
from regretless.games import Kuhn, Leduc
from regretless.solving import CFR, BestResponse, VanillaCFR, evaluate, expected_values, uniform_strategy
from regretless.solving.readable.training import KuhnTrainer


@pytest.mark.parametrize("text", ["kuhn", "kuhn(players=3)", "leduc(ranks=2)"])
def test_it_equals_cfr_with_simultaneous_updates(text: str) -> None:
    cfr = VanillaCFR(rl.game(text))
    cfr.train(20)
    cfr.train(10)  # continues
    strategies = cfr.get_all_average_strategies()
    expected = rl.solve(text, variant="vanilla", updates="simultaneous", iterations=30, engine="reference").strategy
    assert strategies.keys() == expected.keys()
    for key, actions in expected.items():
        assert strategies[key] == pytest.approx(actions, abs=1e-12), key
        assert cfr.get_average_strategy(key) == strategies[key]


def test_it_finds_the_equilibrium_of_kuhn() -> None:
    cfr = rl.VanillaCFR(Kuhn())
    cfr.train(1_000)
    assert evaluate(Kuhn(), cfr.get_all_average_strategies()).exploitability < 0.01


def test_games_go_by_their_names_too() -> None:
    cfr = rl.VanillaCFR[Any]("kuhn")
    cfr.train(10)
    assert evaluate("kuhn", cfr.get_all_average_strategies()) == evaluate(Kuhn(), cfr.get_all_average_strategies())
    assert evaluate("kuhn", uniform_strategy("kuhn")).values == expected_values("kuhn", uniform_strategy("kuhn"))
    with pytest.raises(InvalidText, match="game: 'kunh': not a game of this package; did you mean kuhn"):
        rl.VanillaCFR("kunh")
    with pytest.raises(InvalidOption, match=r"game: 'Kuhn' is a class, not a game: pass an object, Kuhn\(…\)"):
        rl.VanillaCFR(Kuhn)  # type: ignore[arg-type]


def test_a_best_response_is_one_of_the_players() -> None:
    for player in (-1, 2):
        with pytest.raises(InvalidOption, match=f"player: {player} must be a whole number from 0 to 1"):
            BestResponse("kuhn", uniform_strategy("kuhn"), player)


def test_wrong_requests_are_one_sentence() -> None:
    cfr = VanillaCFR(Kuhn())
    with pytest.raises(InvalidOption, match=r"info_set: '0:' is not an information set that was visited \(none yet"):
        cfr.get_average_strategy("0:")
    cfr.train(1)
    with pytest.raises(InvalidOption, match=r"info_set: 'J' .* \(0:, "):
        cfr.get_average_strategy("J")
    for wrong in (0, -1, 2.5, "10"):
        with pytest.raises(InvalidOption, match=r"iterations: .* must be a whole number, at least 1"):
            cfr.train(wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match=r"^schedule: 100 is not a schedule, .* VanillaCFR\(game\).train\(100\)"):
        CFR(Leduc(ranks=2)).advance(100)  # type: ignore[arg-type]


def test_a_node_of_the_kuhn_trainer_prints_itself() -> None:
    trainer = KuhnTrainer(seed=1)
    for _ in range(2_000):
        trainer.play_hand()
    assert [*trainer.nodes][:4] == ["J", "Q", "K", "Jb"]
    node = trainer.nodes["Qpb"]
    average = node.get_average_strategy()
    assert str(node).startswith(f"Qpb  average p {100 * average['p']:.1f}%, b {100 * average['b']:.1f}%; regrets p ")
    assert sum(node.get_strategy().values()) == pytest.approx(1)

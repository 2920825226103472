"""Games of the library as worlds: play follows the rules, chance its probabilities, features what a player knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.deep.small_games import RandomTree

from regretless.deep.worlds import MAXIMUM_NAMES, TERMINAL, HistoryWorld
from regretless.forms.compile import compile_history
from regretless.games import CHANCE, Game, Kuhn, Leduc, LiarsDice, load

CPU = torch.device("cpu")
GAMES = [Kuhn(), Leduc(merge_suits=True), Leduc(ranks=4), LiarsDice(), Kuhn(players=3), RandomTree(3, chance=True)]


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_random_play_follows_the_rules(game: Game[Any]) -> None:
    form = compile_history(game)
    world = HistoryWorld(game, form)
    drawing = torch.Generator().manual_seed(1)
    states = world.deal(50, drawing)
    ended = 0
    while len(states):
        player = world.player(states)
        assert not (player == CHANCE).any()
        assert player.tolist() == form.player[states.numpy()].tolist()
        over = states[player == TERMINAL]
        ended += len(over)
        for seat in range(world.players):
            expected = form.payoff[np.searchsorted(form.terminal, over.numpy()), seat]
            assert np.allclose(world.utility(over, seat).numpy(), expected)
        states = world.select(states, (player != TERMINAL).nonzero()[:, 0])
        if not len(states):
            break
        legal = world.legal(states)
        children = np.diff(form.first_child)[states.numpy()]
        assert legal.sum(dim=1).tolist() == children.tolist()
        action = torch.multinomial(legal.float(), 1, generator=drawing)[:, 0]
        following = world.act(states, action, drawing)
        for before, column, after in zip(states.tolist(), action.tolist(), following.tolist(), strict=True):
            while form.player[form.parent[after]] == CHANCE:
                after = form.parent[after]
            assert form.parent[after] == before
            assert world.column[form.pair[after]] == column
        states = following
    assert ended == 50


def test_chance_has_its_own_probabilities() -> None:
    """100,000 deals of Leduc with ranks: two cards in a row, unequal chances."""
    game = Leduc(merge_suits=True)
    world = HistoryWorld(game)
    form = world.form
    dealt = np.bincount(world.deal(100_000, torch.Generator().manual_seed(7)).numpy(), minlength=len(form.parent))
    nodes = np.flatnonzero(dealt)
    expected = 100_000 * form.chance[nodes] * form.chance[form.parent[nodes]]
    assert len(nodes) == len(game.deals()) == 9
    statistic = ((dealt[nodes] - expected) ** 2 / expected).sum()
    assert 0.5 < statistic < 8 + 4.0 * 16**0.5


def test_outcomes_without_probability_never_happen() -> None:
    class Loaded(RandomTree):
        def chance_outcomes(self, state: Any) -> list[tuple[str, float]]:
            outcomes = super().chance_outcomes(state)
            return [(outcome, float(number == len(outcomes) // 2)) for number, (outcome, _) in enumerate(outcomes)]

        def player(self, state: Any) -> int:
            return CHANCE if not state.line else super().player(state)

    world = HistoryWorld(Loaded(5, chance=True))
    possible = {node for node in range(len(world.form.parent)) if world.form.chance[node] > 0.0}
    drawn = world.deal(2_000, torch.Generator().manual_seed(2))
    assert set(drawn.tolist()) <= possible


def test_suits_that_decide_nothing_share_an_observation() -> None:
    world = HistoryWorld(Leduc())
    assert len(world.form.keys) == 936
    assert world.distinct_observations == 288 == len(compile_history(Leduc(merge_suits=True)).keys)
    number = dict(zip(world.form.keys, world.observation_of.tolist(), strict=True))
    assert number["Ks:cr"] == number["Kh:cr"] != number["Qs:cr"]
    assert number["Ks:cc/Qh:c"] == number["Kh:cc/Qs:c"] != number["Ks:cc/Qh:"]


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_different_knowledge_gives_different_features(game: Game[Any]) -> None:
    world = HistoryWorld(game)
    encoder = world.encoder(4)
    rows = encoder.card_row if encoder.bet_branch is None else torch.stack((encoder.card_row, encoder.bet_row), dim=1)
    assert len(torch.unique(rows, dim=0)) == world.distinct_observations
    if not isinstance(game, Leduc):
        assert world.distinct_observations == len(world.form.keys)


def test_bets_of_kuhn_and_leduc() -> None:
    world = HistoryWorld(Leduc())
    number = dict(zip(world.form.keys, world.observation_of.tolist(), strict=True))
    encoder = world.encoder(4)
    bets = encoder.bets[encoder.bet_row[number["Ks:crc/Qh:r"]]].reshape(2, 4, 2)
    # Check; bet 2 into a pot of 2; call 2 of a pot of 4; then bet 4 into 6.
    assert bets[0].tolist() == [[1.0, 0.0], [1.0, 1.0], [1.0, 0.5], [0.0, 0.0]]
    assert bets[1, 0].tolist() == pytest.approx([1.0, 4 / 6])
    assert not bets[1, 1:].any()


def test_an_action_keeps_its_column() -> None:
    world = HistoryWorld(Leduc())
    form = world.form
    names: dict[int, set[str]] = {}
    for actions, first in zip(form.actions, form.first_pair, strict=False):
        for offset, name in enumerate(actions):
            names.setdefault(int(world.column[first + offset]), set()).add(name)
    assert sorted(map(sorted, names.values())) == [["c"], ["f"], ["r"]]


def test_many_names_of_actions_share_columns() -> None:
    game = load("goofspiel(cards=3)")
    assert HistoryWorld(game).actions == 3

    class Named(RandomTree):
        def actions(self, state: Any) -> list[str]:
            return [f"{action} after {state.line}" for action in super().actions(state)]

        def next_state(self, state: Any, action: str) -> Any:
            return super().next_state(state, action[0])

    world = HistoryWorld(Named(4, chance=False))
    names = {name for actions in world.form.actions for name in actions}
    assert len(names) > MAXIMUM_NAMES
    assert world.actions == 3

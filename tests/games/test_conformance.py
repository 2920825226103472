"""What every game promises: one test for every game in the catalogue and both adapters."""

import importlib.util
import math

import pytest

from regretless import games
from regretless.games import CHANCE

SMALL = [
    "kuhn",
    "kuhn(players=3)",
    "kuhn(players=4)",
    "leduc",
    "leduc(merge_suits=True)",
    "leduc(ranks=2,suits=3,bets=(1,3),raises=1)",
    "liars_dice(sides=3)",
    "liars_dice(dice=2,sides=2)",
    "goofspiel(cards=2)",
    "goofspiel",
    "goofspiel(cards=4,order='ascending',payoff='points')",
    "battleship(width=2,shots=2)",
    "battleship(height=1,ships=(1,2),shots=2,values=(1,2.5),loss_multiplier=2.0)",
    "battleship(width=2,ships=(1,),shots=3,repeat_shots=False)",
    "push-fold(stack=7.5,ante=0.1)",
    "openspiel:kuhn_poker(players=3)",
    "openspiel:leduc_poker",
    "openspiel:matrix_pd",
    "openspiel:goofspiel(imp_info=True,num_cards=3,points_order=random)",
    "openspiel:tiny_hanabi",
]

GAMES = [
    pytest.param(
        text,
        marks=pytest.mark.skipif(
            text.startswith("openspiel:") and importlib.util.find_spec("pyspiel") is None, reason="OpenSpiel is missing"
        ),
    )
    for text in SMALL
]


def test_every_game_of_the_catalogue_is_here():
    small = {entry.name for entry in games.catalogue() if not entry.rules.public_only}
    assert {text.split("(")[0] for text in SMALL if ":" not in text} == small


@pytest.mark.parametrize("text", GAMES)
def test_conformance(text, walk):
    game = games.load(text)
    players = game.num_players()
    sets = {}
    terminals_reach = {}
    for node in walk(game):
        state = node.state
        assert node.depth < 100, "a small game ends"
        assert hash(state) == hash(state)
        if game.is_terminal(state):
            utilities = game.utilities(state)
            assert len(utilities) == players
            assert all(map(math.isfinite, utilities))
            assert utilities == tuple(game.utility(state, player) for player in range(players))
            if game.zero_sum:
                assert sum(utilities) == pytest.approx(0)
            terminals_reach.setdefault(node.recall, []).append(node.reach)
            continue
        actions = list(game.actions(state))
        assert actions, "somebody can move until the game is over"
        assert len(set(actions)) == len(actions)
        assert all(type(action) is str for action in actions)
        if node.player == CHANCE:
            outcomes = game.chance_outcomes(state)
            assert [outcome for outcome, _ in outcomes] == actions
            assert all(probability > 0 for _, probability in outcomes)
            assert sum(probability for _, probability in outcomes) == pytest.approx(1)
        else:
            assert 0 <= node.player < players
            # A key implies one player, one list of actions and one memory of what the player saw and did.
            known = (node.player, actions, node.recall[node.player])
            assert sets.setdefault(game.info_set_key(state), known) == known
        assert game.next_state(state, actions[0]) == game.next_state(state, actions[0])
    # However the players play, the chance probabilities of the terminals sum to at most 1.
    assert all(sum(reaches) <= 1 + 1e-9 for reaches in terminals_reach.values())
    assert len(sets) >= players


@pytest.mark.parametrize("text", GAMES)
def test_deals(text):
    game = games.load(text)
    deals = game.deals()
    assert sum(probability for _, probability in deals) == pytest.approx(1)
    assert [state for state, _ in deals] == game.initial_states()
    assert all(game.is_terminal(state) or game.player(state) != CHANCE for state, _ in deals)


@pytest.mark.parametrize("text", GAMES)
def test_the_name_is_read_back(text, walk):
    game = games.load(text)
    again = games.load(game.name)
    assert again.name == game.name == str(game)
    assert sum(1 for _ in walk(again)) == sum(1 for _ in walk(game))

import pytest

from regretless import games
from regretless.errors import InvalidGame, InvalidText

pyspiel = pytest.importorskip("pyspiel")


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("kuhn_pokr", InvalidText, "did you mean kuhn_poker?"),
        ("", InvalidText, "no game ''"),
        ("(((", InvalidText, "no game ''"),
        ("kuhn_poker(players=many)", InvalidText, "players"),
        ("kuhn_poker(players=2", InvalidText, "OpenSpiel says"),
        ("mfg_crowd_modelling", InvalidGame, "mean-field"),
        ("2048", InvalidGame, "information state string"),
    ],
)
def test_mistakes_are_named(text, error, says):
    with pytest.raises(error) as raised:
        games.load(f"openspiel:{text}")
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_game_object_is_taken_as_well(walk):
    named, given = games.from_openspiel("leduc_poker"), games.from_openspiel(pyspiel.load_game("leduc_poker"))
    assert given.name == "openspiel:leduc_poker()"
    assert sum(1 for _ in walk(named)) == sum(1 for _ in walk(given)) == 9457


def test_simultaneous_moves_become_turns():
    game = games.from_openspiel("matrix_pd")
    state = game.initial_state()
    assert game.player(state) == 0
    assert not game.zero_sum
    state = game.next_state(state, game.actions(state)[0])
    assert game.player(state) == 1
    assert game.is_terminal(game.next_state(state, game.actions(state)[0]))


def test_states_are_equal_by_their_moves():
    game = games.from_openspiel("kuhn_poker")
    first, second = game.initial_states()[0], game.initial_states()[0]
    assert first == second
    assert hash(first) == hash(second)
    assert first != game.initial_states()[1]
    assert first != "anything else"
    assert game.next_state(first, "Bet") == game.next_state(second, "Bet")


def test_information_sets_with_the_same_actions_share_their_texts():
    """A game with millions of sets would otherwise hold thousands of bytes for each."""
    game = games.from_openspiel("kuhn_poker")
    states = game.initial_states()
    assert len({game.info_set_key(state) for state in states}) > 1
    assert len({id(game.actions(state)) for state in states}) == 1
    assert len({id(game.actions(game.next_state(state, "Bet"))) for state in states}) == 1


def test_strategies_there_and_back():
    from open_spiel.python.algorithms.exploitability import nash_conv

    game = games.from_openspiel("kuhn_poker")
    always = {"0:0": {"Pass": 1.0}, "1:1b": {"Pass": 2 / 3, "Bet": 1 / 3}}
    policy = games.to_tabular_policy(game, always)
    back = games.from_tabular_policy(game, policy)
    assert len(back) == 12
    assert back["0:0"] == {"Pass": 1.0, "Bet": 0.0}
    assert back["1:1b"] == pytest.approx({"Pass": 2 / 3, "Bet": 1 / 3})
    assert back["0:2pb"] == {"Pass": 0.5, "Bet": 0.5}
    again = games.to_tabular_policy(game, back)
    assert nash_conv(game.raw, again) == pytest.approx(nash_conv(game.raw, policy))


def test_a_strategy_of_another_game_is_refused():
    game = games.from_openspiel("kuhn_poker")
    with pytest.raises(InvalidGame, match="'Raise' is not an action"):
        games.to_tabular_policy(game, {"0:0": {"Raise": 1.0}})


def test_strategies_of_a_simultaneous_game():
    game = games.from_openspiel("matrix_rps")
    strategy = games.from_tabular_policy(game, pyspiel.UniformRandomPolicy(game.raw))
    assert [sum(actions.values()) for actions in strategy.values()] == pytest.approx([1.0, 1.0])
    games.to_tabular_policy(game, strategy)


@pytest.mark.parametrize(
    "name",
    [
        "efg_game(filename=/etc/passwd)",
        "nfg_game(filename=/etc/passwd)",
        "bargaining(instances_file=/etc/passwd)",
        "colored_trails(boards_file = /etc/passwd)",
        "crossword(puzzles_root=/)",
        "turn_based_simultaneous_game(game=efg_game(filename=/etc/hostname))",
    ],
)
def test_the_name_of_a_game_reads_no_file(name: str) -> None:
    with pytest.raises(InvalidText, match="is not allowed: it could read any file"):
        games.load(f"openspiel:{name}")


@pytest.mark.parametrize(
    "name",
    ["kuhn_poker(" * 500, "kuhn_poker(" * 50, "universal_poker(stack=x)", "kuhn_poker(players=99999999999999999999)"],
)
def test_games_openspiel_cannot_load_are_refused(name: str) -> None:
    with pytest.raises(InvalidText, match="game: "):
        games.load(f"openspiel:{name}")

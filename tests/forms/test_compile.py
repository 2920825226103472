from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from regretless import games
from regretless.errors import InvalidGame, InvalidOption, WouldNotFit
from regretless.forms import TERMINAL, compile_history, invert, last_pairs, memory_bytes, strategy_array, uniform_array
from regretless.games.game import CHANCE, Game

# name, nodes (chance, decision, terminal), information sets: OpenSpiel's counts
COUNTS = [
    ("kuhn", (4, 24, 30), 12),
    ("kuhn(players=3)", (17, 288, 312), 48),
    ("leduc", (157, 3_780, 5_520), 936),
    ("leduc(merge_suits=True)", (49, 774, 1_116), 288),
    ("liars_dice(sides=4)", (5, 4_096, 4_080), 1_024),
    ("goofspiel(cards=4)", (0, 501, 576), 162),
    ("goofspiel(cards=5)", (0, 12_531, 14_400), 2_124),
    ("leduc(ranks=6)", (673, 40_392, 59_928), 4_032),
]


@pytest.mark.parametrize(("name", "nodes", "information_sets"), COUNTS)
def test_known_sizes(name: str, nodes: tuple[int, int, int], information_sets: int) -> None:
    form = compile_history(games.load(name))
    chance, terminal = (form.player == CHANCE).sum(), (form.player == TERMINAL).sum()
    assert (chance, len(form.parent) - chance - terminal, terminal) == nodes
    assert len(form.keys) == information_sets
    assert form.zero_sum
    assert memory_bytes(form) > form.chance.nbytes


@pytest.mark.parametrize("name", ["kuhn", "kuhn(players=3)", "leduc", "liars_dice(sides=4)", "goofspiel(cards=4)"])
def test_breadth_first_with_adjacent_children(name: str) -> None:
    form = compile_history(games.load(name))
    nodes = np.arange(len(form.parent))
    depth = np.repeat(np.arange(len(form.level) - 1), np.diff(form.level))
    np.testing.assert_array_equal(depth[1:], depth[form.parent[1:]] + 1)
    assert (np.diff(form.parent) >= 0).all()
    assert (form.first_child[form.parent[1:]] <= nodes[1:]).all()
    assert (nodes[1:] < form.first_child[form.parent[1:] + 1]).all()

    moves = form.player >= 0
    children = np.diff(form.first_child)
    np.testing.assert_array_equal(children[moves], np.diff(form.first_pair)[form.information_set[moves]])
    assert (children[form.terminal] == 0).all()
    np.testing.assert_array_equal(form.information_set_player[form.information_set[moves]], form.player[moves])
    entered = np.flatnonzero(form.pair >= 0)
    first = form.first_pair[form.information_set[form.parent[entered]]]
    np.testing.assert_array_equal(form.pair[entered], first + entered - form.first_child[form.parent[entered]])

    sets = form.information_set[moves]
    first_seen = np.sort(np.unique(sets, return_index=True)[1])
    np.testing.assert_array_equal(sets[first_seen], np.arange(len(form.keys)))
    for node in np.flatnonzero(form.player == CHANCE):
        assert form.chance[form.first_child[node] : form.first_child[node + 1]].sum() == pytest.approx(1.0)
    assert (form.chance[entered] == 1.0).all()


def test_the_arrays_retell_the_game() -> None:
    """Follow every node of Leduc back to the rules."""
    game = games.load("leduc")
    form = compile_history(game)
    states: list[Any] = [game.initial_state()]
    payoffs = iter(form.payoff)
    for node in range(len(form.parent)):
        state = states[node]
        if game.is_terminal(state):
            assert form.player[node] == TERMINAL
            assert tuple(next(payoffs)) == game.utilities(state)
            continue
        assert form.player[node] == game.player(state)
        actions = game.actions(state)
        if form.player[node] != CHANCE:
            assert form.keys[form.information_set[node]] == game.info_set_key(state)
            assert form.actions[form.information_set[node]] == tuple(actions)
        else:
            here = slice(form.first_child[node], form.first_child[node + 1])
            assert form.chance[here].tolist() == [chance for _, chance in game.chance_outcomes(state)]
        states.extend(game.next_state(state, action) for action in actions)


def test_last_pairs_of_kuhn() -> None:
    form = compile_history(games.load("kuhn"))
    named = [(key, action) for key, actions in zip(form.keys, form.actions) for action in actions]
    deepest = form.level[-2]
    assert named[last_pairs(form, 0)[deepest]] == ("0:pb", "p")
    assert named[last_pairs(form, 1)[deepest]] == ("1:p", "b")
    assert last_pairs(form, 0)[0] == -1


def test_strategies_there_and_back() -> None:
    form = compile_history(games.load("leduc"))
    given = np.random.default_rng(0).random(form.first_pair[-1])
    given /= np.repeat(np.add.reduceat(given, form.first_pair[:-1]), np.diff(form.first_pair))
    np.testing.assert_array_equal(strategy_array(form, invert(form, given)), given)
    np.testing.assert_array_equal(strategy_array(form, {}), uniform_array(form))


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        ({"9:": {"p": 1.0}}, "'9:' is not an information set of kuhn"),
        ({"0:": {"fold": 1.0}}, "'fold' is not an action of '0:': p, b"),
        ({"0:": {"p": 0.5, "b": 0.6}}, "sum to 1"),
        ({"0:": {"p": 1.5, "b": -0.5}}, "at least 0"),
        ({"0:": {"p": float("nan"), "b": 1.0}}, "at least 0"),
        ({"0:": 0.5}, "0.5 at '0:' must be a table of probabilities by action"),
    ],
)
def test_wrong_strategies_are_named(strategy: dict[str, dict[str, float]], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        strategy_array(compile_history(games.load("kuhn")), strategy)


class Script(Game[str]):
    """A game given as a table: state -> (player, key or chance probabilities, {action: state}), or payoffs."""

    name = "script"

    def __init__(self, table: dict[str, Any], players: int = 2, zero_sum: bool = True) -> None:
        self.table, self.players, self.zero_sum = table, players, zero_sum

    def num_players(self) -> int:
        return self.players

    def initial_state(self) -> str:
        return "root"

    def is_terminal(self, state: str) -> bool:
        return isinstance(self.table[state][0], float)

    def player(self, state: str) -> int:
        return int(self.table[state][0])

    def actions(self, state: str) -> Sequence[str]:
        return list(self.table[state][2])

    def next_state(self, state: str, action: str) -> str:
        return str(self.table[state][2][action])

    def chance_outcomes(self, state: str) -> Sequence[tuple[str, float]]:
        return [(action, float(self.table[state][1][place])) for place, action in enumerate(self.table[state][2])]

    def info_set_key(self, state: str) -> str:
        return str(self.table[state][1])

    def utility(self, state: str, player: int) -> float:
        return float(self.table[state][player])


WIN, LOSE = (1.0, -1.0), (-1.0, 1.0)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"root": (-1, (0.5, 0.4), {"a": "w", "b": "w"}), "w": WIN}, r"sum to 0.9; they must be at least 0"),
        ({"root": (-1, (1.5, -0.5), {"a": "w", "b": "w"}), "w": WIN}, "they must be at least 0"),
        (
            {
                "root": (-1, (0.5, 0.5), {"a": "x", "b": "y"}),
                "x": (0, "k", {"l": "w", "r": "w"}),
                "y": (0, "k", {"l": "w", "m": "w"}),
                "w": WIN,
            },
            r"'k' has the actions \('l', 'r'\) in one history and \('l', 'm'\) in another",
        ),
        (
            {"root": (0, "k", {"l": "x", "r": "w"}), "x": (1, "k", {"l": "w", "r": "w"}), "w": WIN},
            "'k' names an information set of player 0 and one of player 1",
        ),
        (
            {
                "root": (0, "first", {"l": "x", "r": "y"}),
                "x": (0, "second", {"l": "w", "r": "w"}),
                "y": (0, "second", {"l": "w", "r": "w"}),
                "w": WIN,
            },
            "recall is not perfect: histories of the information set 'second'",
        ),
        ({"root": (0, "k", {"l": "again", "r": "w"}), "again": (0, "k", {"l": "w", "r": "w"}), "w": WIN}, "perfect"),
        ({"root": (2, "k", {"l": "w"}), "w": WIN}, "player 2 moves at 'k', but there are only 2 players"),
        ({"root": (0, "k", {}), "w": WIN}, "there must be at least one"),
        ({"root": (0, "k", {"l": "w", "r": "v"}), "w": WIN, "v": (1.0, 1.0)}, "set zero_sum = False"),
        ({"root": (0, "k", {"l": "w"}), "w": (float("inf"), -1.0)}, "payoffs must be finite"),
        ({"root": (0, "k", {"l": "w"}), "w": (float("nan"), -1.0)}, "payoffs must be finite"),
    ],
)
def test_rules_that_contradict_themselves(table: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidGame, match=message) as caught:
        compile_history(Script(table))
    assert "\n" not in str(caught.value)


def test_general_sum_is_seen() -> None:
    table = {"root": (0, "k", {"l": "w", "r": "v"}), "w": WIN, "v": (1.0, 1.0)}
    assert not compile_history(Script(table, zero_sum=False)).zero_sum
    assert compile_history(Script({"root": (0, "k", {"l": "w"}), "w": LOSE}, zero_sum=False)).zero_sum


def test_games_without_a_decision() -> None:
    form = compile_history(Script({"root": (-1, (0.25, 0.75), {"a": "w", "b": "l"}), "w": WIN, "l": LOSE}))
    assert (len(form.parent), len(form.keys), form.first_pair.tolist()) == (3, 0, [0])
    over_at_once = compile_history(Script({"root": WIN}))
    assert (over_at_once.payoff.tolist(), over_at_once.level.tolist()) == ([[1.0, -1.0]], [0, 1])


class Countdown(Game[int]):
    """One player counts down; from a negative number the game never ends."""

    def __init__(self, start: int) -> None:
        self.name, self.start = f"countdown({start})", start

    def num_players(self) -> int:
        return 2

    def initial_state(self) -> int:
        return self.start

    def is_terminal(self, state: int) -> bool:
        return state == 0

    def player(self, state: int) -> int:
        return 0

    def actions(self, state: int) -> Sequence[str]:
        return ("on", "stop")

    def next_state(self, state: int, action: str) -> int:
        return state - 1 if action == "on" else 0

    def info_set_key(self, state: int) -> str:
        return str(state)

    def utility(self, state: int, player: int) -> float:
        return 0.0


def test_deeper_than_python_recurses() -> None:
    assert len(compile_history(Countdown(5_000)).level) == 5_002


def test_games_without_end_or_bound() -> None:
    with pytest.raises(InvalidGame, match="has not ended after 100,000 moves"):
        compile_history(Countdown(-1))
    with pytest.raises(InvalidGame, match="leduc has more nodes than the limit of 5,000"):
        compile_history(games.load("leduc"), limit=5_000)
    assert len(compile_history(games.load("leduc"), limit=9_457).parent) == 9_457
    with pytest.raises(InvalidOption, match="limit: 0"):
        compile_history(games.load("kuhn"), limit=0)


def test_a_game_that_would_not_fit_is_refused_in_advance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regretless.forms.compile.available_bytes", lambda: 2**20)
    monkeypatch.setattr("regretless.forms.compile.CHECK_SECONDS", 0.0)
    sentence = r"\(more than [\d,]+ nodes, \d+ moves deep\) needs at least .* of memory"
    with pytest.raises(WouldNotFit, match=sentence) as caught:
        compile_history(games.load("liars_dice(sides=5)"))
    assert caught.value.needed > caught.value.available


def test_a_walk_that_eats_memory_by_other_means_than_nodes_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """States and keys may be far larger than the arrays; free memory shows it."""
    free = iter(range(100 * 2**30, 0, -(2**30)))
    monkeypatch.setattr("regretless.forms.compile.available_bytes", lambda: next(free))
    monkeypatch.setattr("regretless.forms.compile.CHECK_SECONDS", 0.0)
    sentence = r"leduc \(more than [\d,]+ nodes, \d+ moves deep\) needs at least .* of memory"
    with pytest.raises(WouldNotFit, match=sentence) as caught:
        compile_history(games.load("leduc"))
    assert caught.value.needed > caught.value.available

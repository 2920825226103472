"""Two routes, one answer: Kuhn and Leduc by their rules and by the public form."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from regretless.engines.numpy.public import PublicReference
from regretless.errors import InvalidOption
from regretless.forms import compile_history, invert, strategy_array
from regretless.forms.public import NodeKind
from regretless.forms.public_poker import compile_public, invert_public
from regretless.games import Kuhn, Leduc, load
from regretless.games.game import CHANCE, Game
from regretless.solving import CFR
from regretless.solving.readable.best_response import evaluate
from regretless.variants import schedule
from regretless.variants.presets import PRESETS

GAMES = [Kuhn(), Leduc(), Leduc(ranks=2, suits=3, bets=(1, 3), raises=1, ante=0.5), Leduc(ranks=13, suits=1, raises=3)]


@pytest.mark.parametrize("variant", PRESETS)
@pytest.mark.parametrize(("game", "iterations"), [(Kuhn(), 100), (Leduc(), 4)], ids=str)
def test_the_public_form_gives_the_answer_of_the_rules(game: Game[Any], iterations: int, variant: str) -> None:
    by_rules, by_form = CFR(game), PublicReference(compile_public(game))
    for solver in (by_rules, by_form):
        solver.advance(schedule(PRESETS[variant], 1, iterations))
    expected, found = by_rules.evaluate(), by_form.evaluate()
    assert found.exploitability == pytest.approx(expected.exploitability, abs=1e-6)
    assert found.values == pytest.approx(expected.values, abs=1e-6)


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_every_terminal_pays_what_the_rules_say(game: Game[Any]) -> None:
    """The betting, payoffs and strengths of the form against the utilities of every deal and line."""
    form = compile_public(game)
    tree, cards = form.tree, list(game.actions(game.initial_state()))
    checked = 0

    def follow(state: Any, node: int, runout: int, held: tuple[int, int]) -> None:
        nonlocal checked
        children = range(tree.first_child[node], tree.first_child[node + 1])
        if game.is_terminal(state):
            assert tree.kind[node] in (NodeKind.FOLD, NodeKind.SHOWDOWN)
            first, second = (int(form.strength[player][runout, held[player]]) for player in range(2))
            outcome = (
                np.sign(first - second) if tree.kind[node] == NodeKind.SHOWDOWN else 2 * int(tree.player[node]) - 1
            )
            payoffs = {1: form.payoffs.win, 0: form.payoffs.tie, -1: form.payoffs.lose}
            assert game.utilities(state) == (payoffs[outcome][node, 0], payoffs[-outcome][node, 1])
            checked += 1
        elif game.player(state) == CHANCE:
            assert tree.kind[node] == NodeKind.CHANCE
            for card, probability in game.chance_outcomes(state):
                assert probability == pytest.approx(form.streets[1].probability[0])
                follow(game.next_state(state, card), children[0], cards.index(card), held)
        else:
            assert tree.kind[node] == NodeKind.DECISION
            assert tree.player[node] == game.player(state)
            assert [tree.labels[child] for child in children] == list(game.actions(state))
            for child in children:
                follow(game.next_state(state, tree.labels[child]), child, runout, held)

    for held in list(permutations(range(form.deck), 2))[:: max(1, form.deck - 5)]:
        state = game.initial_state()
        for card in held:
            state = game.next_state(state, cards[card])
        follow(state, 0, 0, held)
    assert checked >= 30


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_strategies_are_read_back_under_the_keys_of_the_rules(game: Game[Any]) -> None:
    form, history = compile_public(game), compile_history(game)

    def drawn(node: int, runout: int) -> np.ndarray:
        actions = int(form.tree.first_child[node + 1] - form.tree.first_child[node])
        strategy = np.random.default_rng((node, runout)).uniform(0.1, 1.0, (actions, form.deck))
        return strategy / strategy.sum(axis=0)

    found = invert_public(game, form, drawn)
    array = strategy_array(history, found)  # refuses a missing information set, and one that is not there
    assert invert(history, array) == {key: found[key] for key in history.keys}


def test_a_strategy_read_back_is_worth_the_same() -> None:
    game = Leduc()
    engine = PublicReference(compile_public(game))
    engine.advance(schedule(PRESETS["discounted"], 1, 20))
    strategy = invert_public(game, engine.form, engine.strategy)
    found = evaluate(game, strategy)
    assert found.exploitability == pytest.approx(engine.evaluate().exploitability, abs=1e-12)
    assert found.values == pytest.approx(engine.evaluate().values, abs=1e-12)
    assert len(strategy) == 936


@pytest.mark.parametrize("text", ["kuhn(players=3)", "leduc(merge_suits=True)", "liars_dice", "goofspiel"])
def test_other_games_are_refused(text: str) -> None:
    with pytest.raises(InvalidOption, match=r"^form: 'public' is for kuhn, leduc and flop-holdem: .*; ") as raised:
        compile_public(load(text))
    assert text in str(raised.value)
